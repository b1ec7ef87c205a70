//! Bounds on results of unknown origin: regular files only, of bounded size. Larger files were not written by
//! taskscale.

use std::io::{self, Read};
use std::path::Path;

use taskscale_measure::open_regular;

use super::{Campaign, StoreError};

/// Maximum size of `campaign.json`, in bytes. The largest one in results/ has 0.5 MB.
const CAMPAIGN_BYTES: u64 = 64 << 20;
/// Maximum size of `samples.jsonl`, in bytes: 4 KiB per sample, which usually has 1 to 2.
pub(super) const SAMPLES_BYTES: u64 = 4 << 30;
/// Maximum size of a line of `samples.jsonl`, in bytes.
pub(super) const LINE_BYTES: u64 = 1 << 20;
/// Maximum samples of a campaign, and maximum runs of its plan.
pub(super) const RUNS: u64 = 1_000_000;
/// Maximum cases of a campaign. Every entry of the catalog with every workload at four N makes 12,000.
pub(super) const CASES: u64 = 50_000;
/// Maximum invalid lines. An interrupted campaign leaves one.
pub(super) const REJECTED_LINES: usize = 1_000;
/// Maximum plans of a campaign, and maximum programs of its entries.
const PARTS: usize = 1_000;
const PROGRAMS: usize = 10_000;

/// The bytes of a document of a results folder (`campaign.json`, `limit.json`).
pub fn read_document(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // Reads one byte more than allowed: a file may grow while it is read.
    open_regular(path)?.take(CAMPAIGN_BYTES + 1).read_to_end(&mut text)?;
    match text.len() as u64 <= CAMPAIGN_BYTES {
        true => Ok(text),
        false => Err(too_large(format!("more than {CAMPAIGN_BYTES} bytes"))),
    }
}

pub(super) fn too_large(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

/// Refuses an impossibly large plan, whose runs would take hours to count.
pub(super) fn check_size(campaign: &Campaign, path: &Path) -> Result<(), StoreError> {
    let (mut cases, mut runs) = (0u64, 0u64);
    for plan in campaign.plans() {
        let of_plan = (plan.entries.len() as u64).saturating_mul(plan.tasks.len() as u64).max(1);
        cases = cases.saturating_add(of_plan);
        runs = runs.saturating_add(of_plan.saturating_mul(plan.runs_a_cell()));
    }
    let sizes = [
        ("cases planned", cases, CASES),
        ("runs planned", runs, RUNS),
        ("plans", campaign.plans().count() as u64, PARTS as u64),
        ("programs", campaign.entries.len() as u64, PROGRAMS as u64),
    ];
    match sizes.into_iter().find(|(_, found, most)| found > most) {
        None => Ok(()),
        Some((what, found, most)) => Err(StoreError::TooLarge {
            path: path.to_owned(),
            what: format!("{what}: {found}, at most {most}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{self, Store, test_campaign, test_sample};
    use std::fs;
    use std::process::Command;

    #[test]
    fn pipe_device_or_folder_instead_of_file_is_refused() {
        for name in ["campaign.json", "samples.jsonl"] {
            for replace in ["mkfifo \"$0\"", "ln -s /dev/zero \"$0\"", "mkdir \"$0\""] {
                let root = tempfile::tempdir().unwrap();
                let mut store = Store::claim(root.path()).unwrap();
                store.write_campaign(&test_campaign()).unwrap();
                store.append(&test_sample("x/a", 1)).unwrap();
                let path = root.path().join(name);
                fs::remove_file(&path).unwrap();
                assert!(Command::new("sh").args(["-c", replace]).arg(&path).status().unwrap().success());
                let said = record::load(root.path()).unwrap_err().to_string();
                assert!(said.contains(name) && said.contains("not a regular file"), "{said}");
            }
        }
    }

    #[test]
    fn oversized_results_are_refused_with_the_limit() {
        let root = tempfile::tempdir().unwrap();
        let mut campaign = test_campaign();
        campaign.plan.repetitions = u32::MAX;
        let store = Store::claim(root.path()).unwrap();
        store.write_campaign(&campaign).unwrap();
        let said = record::load(root.path()).unwrap_err().to_string();
        assert!(said.contains("runs planned: 4294967295, at most 1000000"), "{said}");
        campaign.plan.repetitions = 1;
        campaign.further_plans = vec![campaign.plan.clone(); PARTS];
        store.write_campaign(&campaign).unwrap();
        assert!(record::load(root.path()).unwrap_err().to_string().contains("plans: 1001"));

        store.write_campaign(&test_campaign()).unwrap();
        let sample = serde_json::to_string(&test_sample("x/a", 1)).unwrap();
        let of_tasks = |tasks: u64| sample.replace("\"tasks\":1,", &format!("\"tasks\":{tasks},")) + "\n";
        let samples = root.path().join("samples.jsonl");
        for (text, expected) in [
            ("x\n".repeat(REJECTED_LINES + 1), "more than 1000 invalid lines"),
            ((1..=CASES + 1).map(of_tasks).collect(), "more than 50000 cases"),
            ("\n".repeat(2 * RUNS as usize + 1), "more than 2000000 lines"),
            ("x".repeat(LINE_BYTES as usize + 1), "line 1 has more than 1048576 bytes"),
        ] {
            fs::write(&samples, text).unwrap();
            let said = record::load(root.path()).unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
        // Sparse: it takes no room.
        fs::File::create(&samples).unwrap().set_len(SAMPLES_BYTES + 1).unwrap();
        let said = record::load(root.path()).unwrap_err().to_string();
        assert!(said.contains("more than 4294967296 bytes"), "{said}");
        fs::File::create(root.path().join("campaign.json")).unwrap().set_len(CAMPAIGN_BYTES + 1).unwrap();
        let said = record::load(root.path()).unwrap_err().to_string();
        assert!(said.contains("more than 67108864 bytes"), "{said}");
    }
}
