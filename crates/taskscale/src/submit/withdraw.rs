//! Withdrawal of results: removes their files and records why.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::read_record;
use super::verify::VERIFICATION;
use crate::files::if_there;
use crate::record::{StoreError, Timestamp, at, write_json};

/// The record that replaces the files of withdrawn results.
pub const WITHDRAWN: &str = "withdrawn.json";

/// The record of a withdrawal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    pub schema: u32,
    pub withdrawn_at: Timestamp,
    /// The id of the results, as published.
    pub campaign: Option<String>,
    pub reason: String,
}

impl Withdrawal {
    /// The record in a folder, if results were withdrawn there.
    pub fn read(folder: &Path) -> io::Result<Option<Withdrawal>> {
        read_record(&folder.join(WITHDRAWN))
    }

    /// Writes the record, then removes the files of the results. Can be repeated after an interruption.
    pub fn write(&self, folder: &Path) -> Result<(), StoreError> {
        write_json(&folder.join(WITHDRAWN), self)?;
        for name in ["samples.jsonl", "report.html", VERIFICATION, "campaign.json"] {
            let path = folder.join(name);
            at("remove", &path, if_there(fs::remove_file(&path)))?;
        }
        Ok(())
    }
}
