//! One build at a time in a folder of builds: entries of one runtime share what they compile.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::Attend;
use super::error::{BuildError, at};

/// How often is looked whether the other one is done.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until no other taskscale builds here, having said for whom; `None` where the user would not wait. Held for as
/// long as the file lives, and let go by the kernel however the process ends.
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
    // A courtesy to those who wait, on a disk that may be full.
    let text = format!("taskscale {} is building {entry}", std::process::id());
    let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
    Ok(Some(file))
}

/// Who holds the lock, as it says itself.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(1000).read_to_string(&mut text));
    match read {
        Ok(_) if !text.trim().is_empty() => format!("{} in the same folder", text.trim()),
        _ => "another taskscale is building in the same folder".to_owned(),
    }
}
