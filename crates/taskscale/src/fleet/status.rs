//! The progress of each machine, from the queue and from its results folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use super::folder::{Claim, Submission};
use super::{Fleet, FleetResult, Job, PublishedTarget, Target, slurm};
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell};
use crate::record::{self, Campaign, SCHEMA_VERSION, Sample, Status, Timestamp};
use crate::units;

/// The most machines that are shown. Of more machines, complete ones are hidden.
const SHOWN: usize = 60;

/// The state of one target.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub target: Target,
    /// The last job that was submitted for it.
    pub job: Option<String>,
    /// That job, if it is in the queue.
    pub queued: Option<Job>,
    pub claim: Option<Claim>,
    pub published: Option<PublishedTarget>,
    pub progress: Option<TargetProgress>,
}

/// The progress of a target's results.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetProgress {
    pub done: u64,
    pub planned: u64,
    pub fell_short: u64,
    /// When this start of its job began.
    pub since: Timestamp,
    /// Runs that were done before.
    pub before: u64,
    pub last: Option<String>,
}

/// The length of a file, and when it changed.
type ChangeMark = (u64, Option<SystemTime>);

/// Observes a fleet repeatedly, and reads only results that have changed.
#[derive(Debug, Default)]
pub struct Watch {
    seen: BTreeMap<PathBuf, (ChangeMark, TargetProgress)>,
}

impl Watch {
    /// Queries Slurm once, and reads each folder that may have changed.
    pub fn look(&mut self, fleet: &Fleet) -> FleetResult<Vec<Snapshot>> {
        let submissions = fleet.submissions()?;
        let jobs = submissions.iter().flat_map(|one| &one.targets);
        let jobs: BTreeMap<&String, &String> = jobs.map(|(job, target)| (target, job)).collect();
        let published: Vec<Option<PublishedTarget>> =
            fleet.targets.iter().map(|target| fleet.published(target)).collect::<FleetResult<_, _>>()?;
        let open = published.iter().any(Option::is_none);
        let queue = if open { slurm::queue(&numbers(&submissions))? } else { BTreeMap::new() };
        let snapshot = |(target, published): (&Target, Option<PublishedTarget>)| {
            let job = jobs.get(&target.name).map(|job| (*job).clone());
            let queued = job.as_ref().and_then(|job| in_queue(&queue, job));
            let claim = if published.is_some() { None } else { fleet.last_claim(target)? };
            let progress = claim.as_ref().and_then(|claim| self.progress(fleet, target, claim));
            Ok(Snapshot { target: target.clone(), job, queued, claim, published, progress })
        };
        fleet.targets.iter().zip(published).map(snapshot).collect()
    }

    fn progress(&mut self, fleet: &Fleet, target: &Target, claim: &Claim) -> Option<TargetProgress> {
        let folder = fleet.target_folder(target).join(&claim.node);
        let facts = fs::metadata(folder.join("samples.jsonl")).ok()?;
        let now = (facts.len(), facts.modified().ok());
        if let Some((_, progress)) = self.seen.get(&folder).filter(|(seen, _)| *seen == now) {
            return Some(progress.clone());
        }
        let loaded = record::load(&folder).ok()?;
        let progress = progress(&loaded.campaign, &loaded.samples, claim);
        self.seen.insert(folder, (now, progress.clone()));
        Some(progress)
    }
}

/// The numbers of all jobs that were submitted.
pub fn numbers(submissions: &[Submission]) -> Vec<String> {
    submissions.iter().map(|one| one.job.clone()).collect()
}

/// A job in the queue. One that waits for a held job is held as well.
fn in_queue(queue: &BTreeMap<String, Job>, job: &str) -> Option<Job> {
    let job = queue.get(job)?;
    let waits = job.reason.as_deref() == Some("Dependency");
    let held = queue.values().find(|other| waits && other.is_held());
    Some(held.unwrap_or(job).clone())
}

fn progress(campaign: &Campaign, samples: &[Sample], claim: &Claim) -> TargetProgress {
    let last = record::last_attempts(samples);
    let before = last.iter().filter(|sample| sample.started_at < claim.at).count() as u64;
    let fell_short = last.iter().filter(|sample| sample.status.is_failure()).count() as u64;
    let (done, planned, since) = (last.len() as u64, campaign.runs(), claim.at);
    let last = samples.last().map(|sample| {
        let last = format!("{} {} {}", sample.entry, sample.workload, units::count(sample.tasks));
        match sample.status {
            Status::Ok => last,
            status => format!("{last} {}", status.name()),
        }
    });
    TargetProgress { done, planned, fell_short, since, before, last }
}

impl TargetProgress {
    /// Estimated seconds until it is complete.
    fn eta_s(&self, now: Timestamp) -> Option<f64> {
        let own = self.done.checked_sub(self.before).filter(|own| *own > 0)?;
        let left = self.planned.saturating_sub(self.done);
        Some(now.unix_s().saturating_sub(self.since.unix_s()) as f64 / own as f64 * left as f64)
    }
}

impl Snapshot {
    /// Whether its job is queued or running.
    pub fn is_active(&self) -> bool {
        self.published.is_none() && self.queued.as_ref().is_some_and(Job::is_active)
    }

    fn state(&self) -> (String, Emphasis) {
        if self.published.is_some() {
            return ("complete".to_owned(), Emphasis::Good);
        }
        match (&self.job, &self.queued) {
            (None, _) => ("not submitted".to_owned(), Emphasis::Bad),
            (_, None) => ("job not found".to_owned(), Emphasis::Bad),
            (_, Some(job)) => {
                let mut state = job.state.to_lowercase().replace('_', " ");
                if let Some(reason) = job.reason.as_ref().filter(|_| job.state != "RUNNING") {
                    state += &format!(" ({reason})");
                }
                (state, if job.is_active() { Emphasis::Plain } else { Emphasis::Bad })
            }
        }
    }

    /// The node where it was, is or will be measured.
    fn node(&self) -> Option<String> {
        let published = self.published.as_ref().map(|published| &published.node);
        let of_queue = self.queued.as_ref().map(|job| &job.node).filter(|node| !node.is_empty());
        let of_claim = self.claim.as_ref().map(|claim| &claim.node);
        published.or(of_queue).or(of_claim).or(self.target.node.as_ref()).cloned()
    }

    fn row(&self, now: Timestamp) -> DocumentRow {
        let (state, emphasis) = self.state();
        let runs = match (&self.published, &self.progress) {
            (Some(published), _) => {
                Some(format!("{} ok of {}", published.good_cells, units::counted(published.cells, "case")))
            }
            (None, Some(progress)) => Some(format!("{} of {}", progress.done, progress.planned)),
            (None, None) => None,
        };
        let eta = self.progress.as_ref().filter(|_| self.is_active()).and_then(|own| own.eta_s(now));
        let last = self.progress.as_ref().and_then(|progress| progress.last.clone());
        DocumentRow::of(vec![
            TableCell::name(&self.target.name),
            TableCell::figure(self.job.clone(), Emphasis::Quiet),
            TableCell::figure(self.node(), Emphasis::Plain),
            TableCell::Text(state, emphasis),
            TableCell::figure(runs, Emphasis::Plain),
            TableCell::figure(eta.map(units::seconds), Emphasis::Plain),
            TableCell::figure(last, Emphasis::Quiet),
        ])
    }
}

/// The output of `fleet status --json`.
pub fn json(fleet: &Fleet, snapshots: &[Snapshot], now: Timestamp) -> serde_json::Value {
    let machine = |snapshot: &Snapshot| {
        let state = match (&snapshot.published, snapshot.is_active()) {
            (Some(_), _) => "complete",
            (None, true) => "active",
            (None, false) => "stopped",
        };
        let queued = snapshot.queued.as_ref();
        let job = snapshot.job.as_ref().map(|number| {
            serde_json::json!({
                "number": number,
                "state": queued.map(|job| &job.state),
                "reason": queued.and_then(|job| job.reason.as_ref()),
            })
        });
        let progress = snapshot.progress.as_ref();
        let published = snapshot.published.as_ref();
        serde_json::json!({
            "name": snapshot.target.name,
            "machines": snapshot.target.machines,
            "node": snapshot.node(),
            "state": state,
            "job": job,
            "runs_done": published.map(|own| own.runs).or(progress.map(|own| own.done)),
            "runs_planned": progress.map(|own| own.planned),
            "runs_fell_short": progress.map(|own| own.fell_short),
            "left_s": progress.filter(|_| snapshot.is_active()).and_then(|own| own.eta_s(now)),
            "last_result": progress.and_then(|own| own.last.as_ref()),
            "cells_ok": published.map(|own| own.good_cells),
            "cells": published.map(|own| own.cells),
            "campaign": published.map(|own| fleet.target_folder(&snapshot.target).join(&own.folder)),
        })
    };
    serde_json::json!({
        "schema": SCHEMA_VERSION,
        "id": fleet.id,
        "folder": fleet.folder,
        "submitted_at": fleet.submitted_at,
        "at": now,
        "machines": snapshots.iter().map(machine).collect::<Vec<_>>(),
    })
}

/// A table of all machines, or of the incomplete ones if there are many.
pub fn document(fleet: &Fleet, snapshots: &[Snapshot], now: Timestamp) -> Document {
    let complete = snapshots.iter().filter(|snapshot| snapshot.published.is_some()).count();
    let active = snapshots.iter().filter(|snapshot| snapshot.is_active()).count();
    let mut document = Document::new(format!("Fleet in {}", fleet.folder.display()));
    let stuck = snapshots.len() - complete - active;
    let machines = snapshots.len();
    let text = format!("{complete} of {machines} machines complete, {active} queued or running");
    document.text(text, Emphasis::Plain);
    if stuck > 0 {
        let resume = format!("taskscale fleet resume {}", fleet.folder.display());
        let text = format!("{stuck} stopped; restart: `{resume}` (output of their jobs: log/)");
        document.text(text, Emphasis::Bad);
    }
    let columns = vec![
        Column::words("machine"),
        Column::words("job").drop_priority(1),
        Column::words("node"),
        Column::words("state"),
        Column::words("runs"),
        Column::figures("left").drop_priority(2),
        Column::words("last result").drop_priority(0),
    ];
    let all = snapshots.len() <= SHOWN;
    let mut shown: Vec<&Snapshot> =
        snapshots.iter().filter(|snapshot| all || snapshot.published.is_none()).collect();
    // Stopped machines first.
    shown.sort_by_key(|snapshot| (!all).then(|| (snapshot.is_active(), snapshot.progress.is_none())));
    let hidden = shown.len().saturating_sub(SHOWN);
    shown.truncate(SHOWN);
    document.table(Table::of(columns, "machine", shown.into_iter().map(|snapshot| snapshot.row(now))));
    if hidden > 0 {
        document.text(format!("and {hidden} more"), Emphasis::Quiet);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::RenderOptions;

    fn claim(node: &str) -> Claim {
        Claim {
            epoch: 1,
            at: Timestamp::UNIX_EPOCH,
            job: "7_1".to_owned(),
            node: node.to_owned(),
            hostname: String::new(),
            pid: 1,
        }
    }

    fn job(state: &str, node: &str, reason: Option<&str>) -> Option<Job> {
        Some(Job { state: state.into(), node: node.into(), reason: reason.map(str::to_owned) })
    }

    fn snapshots() -> Vec<Snapshot> {
        let target = |nth: u32| Target { name: format!("x86-{nth}"), machines: "x86".to_owned(), node: None };
        let bare = |nth: u32| Snapshot {
            target: target(nth),
            job: Some("7_1".to_owned()),
            queued: None,
            claim: None,
            published: None,
            progress: None,
        };
        let progress = TargetProgress {
            done: 30,
            planned: 40,
            fell_short: 1,
            since: Timestamp::UNIX_EPOCH,
            before: 10,
            last: Some("go/goroutine sleep 1M".to_owned()),
        };
        let published = PublishedTarget {
            at: Timestamp::UNIX_EPOCH,
            epoch: 1,
            job: "7_2".to_owned(),
            node: "n2".to_owned(),
            folder: "n2".to_owned(),
            runs: 40,
            good_cells: 9,
            cells: 10,
            digests: Vec::new(),
        };
        vec![
            Snapshot {
                queued: job("RUNNING", "n1", None),
                claim: Some(claim("n1")),
                progress: Some(progress.clone()),
                ..bare(1)
            },
            Snapshot { job: None, published: Some(published), ..bare(2) },
            Snapshot { queued: job("PENDING", "", Some("Resources")), ..bare(3) },
            Snapshot {
                queued: job("NODE_FAIL", "n4", None),
                claim: Some(claim("n4")),
                progress: Some(progress),
                ..bare(4)
            },
            Snapshot { job: Some("7_5".to_owned()), ..bare(5) },
            Snapshot { job: None, ..bare(6) },
        ]
    }

    #[test]
    fn job_that_depends_on_a_held_job_is_held() {
        let of = |state: &str, reason: Option<&str>| job(state, "", reason).unwrap();
        let mut queue = BTreeMap::from([
            ("1".to_owned(), of("PENDING", Some("launch failed requeued held"))),
            ("2_1".to_owned(), of("PENDING", Some("Dependency"))),
            ("2_2".to_owned(), of("RUNNING", None)),
        ]);
        let held = |queue: &_, id: &str| in_queue(queue, id).unwrap().is_held();
        assert!(held(&queue, "2_1") && !held(&queue, "2_2"));
        queue.remove("1");
        assert!(!held(&queue, "2_1"));
    }

    #[test]
    fn each_machine_has_one_status_line() {
        let targets = snapshots().into_iter().map(|snapshot| snapshot.target).collect();
        let fleet = Fleet::new("/shared/fleet".as_ref(), "", Vec::new(), targets);
        // Twenty runs in a hundred seconds, and ten to go.
        let now = "1970-01-01T00:01:40Z".parse().unwrap();
        let document = document(&fleet, &snapshots(), now);
        insta::assert_snapshot!(document.terminal(RenderOptions::default()));
    }

    #[test]
    fn json_has_the_state_of_each_machine() {
        let targets = snapshots().into_iter().map(|snapshot| snapshot.target).collect();
        let fleet = Fleet::new("/shared/fleet".as_ref(), "", Vec::new(), targets);
        let json = json(&fleet, &snapshots(), "1970-01-01T00:01:40Z".parse().unwrap());
        let machines = json["machines"].as_array().unwrap();
        let states: Vec<&str> = machines.iter().filter_map(|machine| machine["state"].as_str()).collect();
        assert_eq!(states, ["active", "complete", "active", "stopped", "stopped", "stopped"]);
        let of = |nth: usize, name: &str| machines[nth][name].clone();
        assert_eq!(
            (of(0, "runs_done"), of(0, "runs_planned"), of(0, "left_s")),
            (30.into(), 40.into(), 50.0.into())
        );
        assert_eq!((of(1, "cells_ok"), of(1, "campaign")), (9.into(), "/shared/fleet/slots/x86-2/n2".into()));
        assert_eq!((of(3, "job")["state"].clone(), of(3, "node")), ("NODE_FAIL".into(), "n4".into()));
    }

    #[test]
    fn large_fleets_show_only_machines_needing_attention() {
        let (done, lost) = (snapshots()[1].clone(), snapshots()[3].clone());
        let mut many = vec![done; 500];
        many.push(lost);
        let targets = many.iter().map(|snapshot| snapshot.target.clone()).collect();
        let fleet = Fleet::new("/shared/fleet".as_ref(), "", Vec::new(), targets);
        let text = document(&fleet, &many, Timestamp::UNIX_EPOCH).terminal(RenderOptions::default());
        assert!(text.contains("500 of 501 machines complete") && text.contains("node fail"), "{text}");
        assert!(text.lines().count() < 20, "{text}");
    }
}
