//! Begins each stage of the clients by a line on their standard input. Clients exit at its end, even if
//! taskscale is killed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{MeasureError, at};
use taskscale_load::Begin;

pub(super) struct ControlPipe {
    pub path: PathBuf,
    pipe: File,
}

impl ControlPipe {
    /// Creates a named pipe in this folder.
    pub fn new(folder: &Path) -> Result<ControlPipe, MeasureError> {
        let path = folder.join("orders");
        let made = mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0);
        at("make", &path, made.map_err(Into::into))?;
        // For reading and writing, so that neither side waits for the other to open it.
        let pipe = at("open", &path, OpenOptions::new().read(true).write(true).open(&path))?;
        Ok(ControlPipe { path, pipe })
    }

    pub fn send(&mut self, begin: Begin) -> Result<(), MeasureError> {
        at("write to", &self.path, writeln!(self.pipe, "{}", serde_json::json!(begin)))
    }
}
