//! Runs that wait for the test.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::Command;

use super::{World, write_script};

/// A program that runs the scripted one with its arguments. A run that begins once a results folder has a number of
/// samples waits until the gate is opened. So no campaign ends before the test has acted.
pub struct Gate {
    pub program: String,
    fifo: PathBuf,
}

/// The gate is open for as long as this lives.
pub struct OpenGate(#[expect(dead_code, reason = "held open")] File);

impl World {
    pub fn gate(&self, folder: &str, samples: usize) -> Gate {
        let (program, fifo) = (self.path("bin/gated"), self.path("gate"));
        let made = Command::new("mkfifo").arg(&fifo).status();
        assert!(made.is_ok_and(|status| status.success()), "{} cannot be made", fifo.display());
        // Opening a FIFO for reading blocks until it is open for writing.
        let text = format!(
            "#!/bin/sh\n[ \"0$(grep -cs '' {})\" -lt {samples} ] || : <{}\nexec {} \"$@\"\n",
            self.path(folder).join("samples.jsonl").display(),
            fifo.display(),
            self.fake().display()
        );
        write_script(&program, &text);
        Gate { program: program.display().to_string(), fifo }
    }
}

impl Gate {
    #[must_use]
    pub fn open(&self) -> OpenGate {
        // For reading as well, as this must not wait for a reader.
        OpenGate(OpenOptions::new().read(true).write(true).open(&self.fifo).expect("the gate"))
    }
}
