//! A page in the user's browser.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::failure::{Failure, advised};

/// Opens a file in the user's default program (freedesktop.org, xdg-utils).
const OPENER: &str = "xdg-open";

/// Opens a page. A failure names its path.
pub(super) fn browse(page: &Path) -> Result<(), Failure> {
    let nothing = Stdio::null;
    let ended = Command::new(OPENER).arg(page).stdin(nothing()).stdout(nothing()).stderr(nothing()).status();
    let why = match ended {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("cannot open the page: {OPENER} failed ({status})"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("cannot open the page: {OPENER} not found (Debian: apt install xdg-utils)")
        }
        Err(error) => format!("cannot open the page: {OPENER} ({error})"),
    };
    Err(Failure::Broken(advised(why, format!("the page is {}", page.display()))))
}
