//! Which folders a campaign may take, and which lines are its own.

use super::*;
use crate::record::{test_campaign, test_sample};

fn campaign(id: Option<&str>) -> Campaign {
    Campaign { id: id.map(Into::into), ..test_campaign() }
}

#[test]
fn repeated_folder_names_get_a_number() {
    let root = tempfile::tempdir().unwrap();
    let name = root.path().join("results/now");
    let stores = [1, 2, 3].map(|_| Store::claim_new(&name).unwrap());
    let names = stores.map(|store| store.folder().strip_prefix(root.path()).unwrap().to_owned());
    assert_eq!(names, ["results/now", "results/now-2", "results/now-3"].map(PathBuf::from));
}

#[test]
fn folders_are_claimed_once_and_only_without_samples() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("out");
    let store = Store::claim(&folder).unwrap();
    assert!(matches!(Store::claim(&folder), Err(StoreError::InUse(_))), "two hold it");
    store.write_campaign(&campaign(None)).unwrap();
    drop(store);
    // Another taskscale started and ended here meanwhile.
    assert!(matches!(Store::claim(&folder), Err(StoreError::Begun(_))));
    fs::remove_file(folder.join(CAMPAIGN_FILE)).unwrap();
    drop(Store::claim(&folder).unwrap());
    fs::write(folder.join(SAMPLES_FILE), "{}\n").unwrap();
    assert!(matches!(Store::claim(&folder), Err(StoreError::Orphans(_))));
}

#[test]
fn samples_of_other_results_are_rejected() {
    let of = |id: Option<&str>| {
        let mut sample = test_sample("x/a", 1);
        sample.campaign = id.map(Into::into);
        sample
    };
    let samples = [of(None), of(Some("one")), of(Some("other"))];
    for (id, own) in [(None, 0), (Some("one"), 1), (Some("other"), 2)] {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::claim(root.path()).unwrap();
        store.write_campaign(&campaign(id)).unwrap();
        samples.iter().for_each(|sample| store.append(sample).unwrap());
        let loaded = load(root.path()).unwrap();
        assert_eq!(loaded.samples, [samples[own].clone()], "{id:?}");
        let numbers: Vec<usize> = loaded.rejected.iter().map(|line| line.number).collect();
        assert_eq!(numbers, (1..=3).filter(|number| *number != own + 1).collect::<Vec<_>>());
    }
}
