//! A page in the user's browser.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::anyhow;

use super::Failure;
use super::hint::Advice;

/// What opens a file in the program that the user has chosen for its kind (freedesktop.org, xdg-utils).
const OPENER: &str = "xdg-open";

/// Opens a page that was written.
pub(super) fn browse(page: &Path) -> Result<(), Failure> {
    let nothing = Stdio::null;
    let ended = Command::new(OPENER).arg(page).stdin(nothing()).stdout(nothing()).stderr(nothing()).status();
    let why = match ended {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => anyhow!("{OPENER} could not open the page: {status}"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            anyhow!("there is no {OPENER} here (Debian: apt install xdg-utils)")
        }
        Err(error) => anyhow!("cannot start {OPENER}: {error}"),
    };
    Err(Failure::Broken(why.context(Advice(format!("open {} in a browser", page.display())))))
}
