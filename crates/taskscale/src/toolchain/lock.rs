//! One build at a time in a folder of builds, as entries of one runtime share compiled files.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::Attend;
use super::error::{BuildError, at};

/// Pause between attempts to lock.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until no other taskscale builds here, and reports once for which one it waits. `None` if the user
/// stopped the wait. The kernel releases the lock when the file is closed, however the process ends.
pub(super) fn acquire(path: &Path, entry: &str, attend: &Attend) -> Result<Option<File>, BuildError> {
    let open = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = at("create", path, open)?;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return at("lock", path, Err(error)),
        }
        if (attend.stop)() {
            return Ok(None);
        }
        if !std::mem::replace(&mut told, true) {
            (attend.waiting)(&format!("waiting to build {entry}: {}", holder(&mut file)));
        }
        thread::sleep(PAUSE);
    }
    // Information for taskscales that wait. It may fail on a full disk.
    let text = format!("taskscale {} is building {entry}", std::process::id());
    let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
    Ok(Some(file))
}

/// The owner of the lock, as written in the file.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(1000).read_to_string(&mut text));
    match read {
        Ok(_) if !text.trim().is_empty() => format!("{} in the same folder", text.trim()),
        _ => "another taskscale is building in the same folder".to_owned(),
    }
}
