//! Files that may be missing.

use std::io;

/// The result of an operation on a file; `None` if the file does not exist.
pub fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}
