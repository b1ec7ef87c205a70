//! Invented values: campaigns of results/, forged as those of another machine, are refused with the reason.

use super::tests::{examined, reports, repository};
use super::*;
use crate::record::{self, Loaded, Plateau, Sample};

/// A large campaign of the project, submitted as that of another machine.
fn another_machine() -> Loaded {
    let mut loaded = record::load(&repository("results/epyc-2cpu/2026-11-24-2")).unwrap();
    loaded.campaign.machine.cpu = "AMD Ryzen 9 9950X 16-Core Processor".to_owned();
    loaded.campaign.id = Some("20261201T000000Z-0000000000000001".to_owned());
    loaded
        .samples
        .iter_mut()
        .for_each(|sample| sample.campaign = loaded.campaign.id.as_deref().map(Into::into));
    loaded
}

/// The rules that a forgery breaks, with reasons.
fn refused(forge: impl Fn(&mut Sample)) -> Vec<(SubmissionRule, String)> {
    let mut loaded = another_machine();
    assert_eq!(examined(&loaded, true), [], "good before");
    loaded.samples.iter_mut().for_each(forge);
    examined(&loaded, true).into_iter().map(|finding| (finding.rule, finding.what)).collect()
}

#[track_caller]
fn assert_refused(found: &[(SubmissionRule, String)], rule: SubmissionRule, reason: &str) {
    assert!(found.iter().any(|(of, what)| *of == rule && what.contains(reason)), "{reason}: {found:?}");
}

/// Scales each part of a reading, and updates their sum.
fn scale(plateau: &mut Plateau, factor: f64) {
    let scaled = |bytes: u64| (bytes as f64 * factor) as u64;
    for bytes in [
        &mut plateau.anon_bytes,
        &mut plateau.shmem_bytes,
        &mut plateau.file_bytes,
        &mut plateau.kernel_bytes,
    ] {
        *bytes = scaled(*bytes);
    }
    for bytes in [&mut plateau.hugetlb_bytes, &mut plateau.swap_bytes] {
        *bytes = bytes.map(scaled);
    }
    let parts = [plateau.anon_bytes, plateau.shmem_bytes, plateau.file_bytes, plateau.kernel_bytes];
    plateau.footprint_bytes = parts.iter().sum::<u64>() + plateau.hugetlb_bytes.unwrap_or(0);
}

fn readings(sample: &mut Sample) -> impl Iterator<Item = &mut Plateau> {
    let memory = &mut sample.memory;
    memory.plateau.iter_mut().chain(memory.connected.as_deref_mut()).chain(memory.loaded.as_deref_mut())
}

#[test]
fn zero_readings_are_refused() {
    let found = refused(|sample| readings(sample).for_each(|plateau| scale(plateau, 0.0)));
    assert_refused(&found, SubmissionRule::Figures, "its footprint is too small");
    let found = refused(|sample| {
        sample.memory.connected = sample.memory.plateau.clone().map(Box::new);
        sample.memory.connected.iter_mut().for_each(|plateau| scale(plateau, 0.0));
    });
    assert_refused(&found, SubmissionRule::Figures, "its footprint is too small");
}

#[test]
fn deleted_values_are_refused() {
    for forge in [
        |sample: &mut Sample| {
            sample.memory.plateau = None;
            sample.work = None;
        },
        |sample: &mut Sample| sample.time.launch_s = None,
        |sample: &mut Sample| sample.cpu.user_s = None,
    ] {
        assert_refused(&refused(forge), SubmissionRule::Figures, "memory or times are missing");
    }
}

#[test]
fn zero_durations_are_refused() {
    let found = refused(|sample| {
        let launch_s = sample.time.launch_s.replace(0.0).unwrap_or(0.0);
        sample.time.plateau_s = sample.time.plateau_s.map(|plateau_s| plateau_s + launch_s);
        let cpu = &mut sample.cpu;
        for seconds in
            [&mut cpu.user_s, &mut cpu.system_s, &mut cpu.launch_s, &mut cpu.plateau_s, &mut cpu.drain_s]
        {
            *seconds = seconds.map(|_| 0.0);
        }
    });
    assert_refused(&found, SubmissionRule::Figures, "it took no time to start or to run");
    assert_refused(&found, SubmissionRule::Plausible, "took no CPU time at all");
}

#[test]
fn implausibly_small_memory_is_refused() {
    let there =
        Footprints::of(&reports(&record::load(&repository("results/epyc-2cpu/2026-11-24-2")).unwrap()));
    for runtime in ["go/", "java/", "rust/", "node/", "python/", "dotnet/"] {
        let forge = |sample: &mut Sample| {
            if sample.entry.starts_with(runtime) {
                readings(sample).for_each(|plateau| scale(plateau, 0.01));
            }
        };
        let found = refused(forge);
        let by_itself =
            found.iter().any(|(rule, what)| *rule == SubmissionRule::Plausible && what.contains(runtime));
        let as_any_process = found.iter().any(|(_, what)| what.contains("its footprint is too small"));
        assert!(by_itself || as_any_process, "{runtime}: {found:?}");
        let mut loaded = another_machine();
        loaded.samples.iter_mut().for_each(forge);
        let beside = compare(&Footprints::of(&reports(&loaded)), &[&there]).refused.expect("a finding");
        assert!(beside.rule == SubmissionRule::Plausible && beside.what.contains(runtime), "{beside:?}");
    }
}

#[test]
fn copied_repetitions_are_refused() {
    let mut loaded = another_machine();
    let first: Vec<Sample> = loaded.samples.iter().filter(|sample| sample.repetition == 1).cloned().collect();
    for sample in loaded.samples.iter_mut().filter(|sample| sample.repetition > 1) {
        let case = |of: &Sample| (of.entry.clone(), of.series(), of.tasks, of.is_double());
        if let Some(first) = first.iter().find(|first| case(first) == case(sample)) {
            (sample.memory, sample.time, sample.cpu) =
                (first.memory.clone(), first.time.clone(), first.cpu.clone());
        }
    }
    let found: Vec<(SubmissionRule, String)> =
        examined(&loaded, true).into_iter().map(|finding| (finding.rule, finding.what)).collect();
    for figure in ["footprint", "launch", "cpu"] {
        let reason = format!("{figure}: all repetitions are the same in ");
        assert_refused(&found, SubmissionRule::Plausible, &reason);
    }
}

#[test]
fn published_results_are_plausible_and_outliers_named() {
    let folders = campaigns_below(&repository("results")).unwrap();
    let all: Vec<Footprints> =
        folders.iter().map(|folder| Footprints::of(&reports(&record::load(folder).unwrap()))).collect();
    let mut outliers = Vec::new();
    for (position, own) in all.iter().enumerate() {
        let others: Vec<&Footprints> =
            all.iter().enumerate().filter_map(|(at, other)| (at != position).then_some(other)).collect();
        let compared = compare(own, &others);
        assert_eq!(compared.refused, None, "{}", folders[position].display());
        outliers.extend(compared.outliers);
    }
    assert!(outliers.iter().all(|what| what.contains(", elsewhere ")), "{outliers:?}");
    let grown = |mut loaded: Loaded, factor: f64| {
        loaded.samples.iter_mut().flat_map(readings).for_each(|plateau| scale(plateau, factor));
        compare(&Footprints::of(&reports(&loaded)), &[&all[folders.len() - 1]])
    };
    let rooms = || record::load(folders.last().unwrap()).unwrap();
    assert!(grown(rooms(), 1.0).outliers.is_empty());
    let larger = grown(rooms(), 1.5);
    assert!(!larger.outliers.is_empty() && larger.refused.is_none());
    assert!(grown(rooms(), 11.0).refused.is_some(), "a rival may be slandered as well");
}
