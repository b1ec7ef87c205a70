//! What a campaign found that a reader may not expect, in a sentence each: looked for in its figures, never told beforehand.
//!
//! Each is of entries of one kind, or of one entry alone.

use crate::figures::{self, Figure};
use crate::report::{Group, Report, Row};
use crate::units::{self, bytes, decimal, tasks};

/// How many are told.
const TOLD: usize = 3;
/// A factor below this surprises nobody.
const LEAST: f64 = 1.5;

/// One finding. Texts are not yet safe to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Surprise {
    /// The figure that stands out: `×3.8`.
    pub figure: String,
    /// What it is of, with the entries that it names where `{0}` and `{1}` stand.
    pub text: String,
    pub entries: Vec<String>,
}

/// The first that were found, the most general first.
pub fn surprises(report: &Report, at: u64) -> Vec<Surprise> {
    let of = |group: &Group| group.tasks == at;
    let found = [
        stops(report),
        hidden_kernel(report),
        overtaken(report, at),
        report.groups.iter().find(|group| of(group)).and_then(dearest_of_kind),
        report.groups.iter().find(|group| of(group)).and_then(memory_for_time),
    ];
    found.into_iter().flatten().take(TOLD).collect()
}

fn median(row: &Row, figure: &'static Figure) -> Option<f64> {
    row.spreads.median(figure).filter(|value| *value > 0.0)
}

fn times(factor: f64) -> String {
    format!("×{}", decimal(factor, usize::from(factor < 9.95)))
}

/// Who did not come to the most tasks, which others held, and where it stopped: the one that came least far.
fn stops(report: &Report) -> Option<Surprise> {
    let most = report.groups.iter().rfind(|group| group.rows.iter().any(|row| row.ranked))?;
    let others = most.rows.iter().filter(|row| row.ranked).count();
    let held = |row: &Row| {
        let ok = |group: &&Group| {
            group.rows.iter().any(|other| other.ok_runs > 0 && other.entry.name == row.entry.name)
        };
        report.groups.iter().filter(ok).map(|group| group.tasks).max()
    };
    let short = most.rows.iter().filter(|row| row.ok_runs == 0 && !row.entry.reference);
    // What stopped it at the first number that it did not hold: at larger ones it may be another thing.
    let limit = |row: &Row, held: u64| {
        let next = report.groups.iter().find(|group| group.tasks > held)?;
        let there = next.rows.iter().find(|other| other.entry.name == row.entry.name)?;
        there.shortfalls.iter().find_map(|short| short.limit.clone())
    };
    let found = short.filter_map(|row| {
        let held = held(row)?;
        Some((held, limit(row, held)?, row))
    });
    let (held, limit, row) = found.min_by_key(|(held, ..)| *held)?;
    Some(Surprise {
        figure: units::count(held),
        text: format!(
            "{} as many as {{0}} held, of the numbers tried here; {others} others held {}. It met {} = {}.",
            if held == 1 { "task is" } else { "tasks are" },
            units::count(most.tasks),
            limit.name,
            units::grouped(limit.value)
        ),
        entries: vec![row.entry.name.clone()],
    })
}

/// The kernel holds so much of what resident memory leaves out, at least. Of processes that is of the largest alone.
const EXPLAINED: f64 = 0.9;

/// Where resident memory, which others measure, leaves out the most because the kernel holds it.
fn hidden_kernel(report: &Report) -> Option<Surprise> {
    let rows = report.groups.iter().flat_map(|group| &group.rows).filter(|row| row.ranked);
    let hidden = rows.filter_map(|row| {
        let (footprint, rss) = (median(row, &figures::FOOTPRINT)?, median(row, &figures::RSS_PEAK)?);
        let kernel = median(row, &figures::KERNEL)?;
        (kernel >= EXPLAINED * (footprint - rss)).then_some((footprint / rss, footprint, rss, kernel, row))
    });
    let (factor, footprint, rss, kernel, row) = hidden.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (factor >= LEAST).then(|| Surprise {
        figure: times(factor),
        text: format!(
            "as much memory as RSS shows: {{0}} takes {} for {}, of which {} are resident. The kernel holds {}.",
            bytes(footprint as u64),
            tasks(row.tasks),
            bytes(rss as u64),
            bytes(kernel as u64)
        ),
        entries: vec![row.entry.name.clone()],
    })
}

/// The kind whose dearest entry is the farthest from its cheapest.
fn dearest_of_kind(group: &Group) -> Option<Surprise> {
    let ranked = group.rows.iter().filter(|row| row.ranked);
    let dearest =
        ranked.max_by(|a, b| a.times_best.unwrap_or(0.0).total_cmp(&b.times_best.unwrap_or(0.0)))?;
    let factor = dearest.times_best.filter(|factor| *factor >= LEAST)?;
    let best = of_kind(group, dearest).find(|row| row.times_best == Some(1.0))?;
    Some(Surprise {
        figure: times(factor),
        text: format!(
            "as much memory for {{0}} as for {{1}} at {}, though both are {}.",
            tasks(group.tasks),
            dearest.entry.kind.name()
        ),
        entries: vec![dearest.entry.name.clone(), best.entry.name.clone()],
    })
}

fn of_kind<'a>(group: &'a Group, like: &'a Row) -> impl Iterator<Item = &'a Row> {
    group.rows.iter().filter(|row| row.ranked && row.entry.kind == like.entry.kind)
}

/// Two of a kind that change places between the fewest tasks and many: whose turn is the largest.
fn overtaken(report: &Report, at: u64) -> Option<Surprise> {
    let first = report.groups.first().filter(|group| group.tasks < at)?;
    let many = report.groups.iter().find(|group| group.tasks == at)?;
    let few = |row: &Row| {
        let before = first.rows.iter().find(|other| other.ranked && other.entry.name == row.entry.name)?;
        before.headline.map(|spread| spread.median)
    };
    let ranked = many.rows.iter().filter(|row| row.ranked);
    let turns = ranked.flat_map(|a| {
        of_kind(many, a).filter_map(move |b| {
            let before = few(b)? / few(a)?;
            let after = a.headline?.median / b.headline?.median;
            (before >= LEAST && after >= LEAST).then_some((before.min(after), before, after, a, b))
        })
    });
    let (_, before, after, a, b) = turns.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Surprise {
        figure: times(after),
        text: format!(
            "as much memory for {{0}} as for {{1}} at {}. At {} the second takes {} as much.",
            tasks(at),
            tasks(first.tasks),
            times(before)
        ),
        entries: vec![a.entry.name.clone(), b.entry.name.clone()],
    })
}

/// The one that takes the least memory of its kind, where another takes far less CPU time.
fn memory_for_time(group: &Group) -> Option<Surprise> {
    let best = group.rows.iter().filter(|row| row.ranked && row.times_best == Some(1.0));
    let pairs = best.flat_map(|best| {
        of_kind(group, best).filter_map(move |other| {
            Some((median(best, &figures::CPU)? / median(other, &figures::CPU)?, best, other))
        })
    });
    let (factor, best, other) = pairs.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (factor >= LEAST).then(|| Surprise {
        figure: times(factor),
        text: format!(
            "as much CPU time for {{0}} as for {{1}} at {}, though it takes the least memory of its kind.",
            tasks(group.tasks)
        ),
        entries: vec![best.entry.name.clone(), other.entry.name.clone()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Kind;
    use crate::record::{LimitHit, Sample, Status};
    use crate::report::fixture::{campaign, facts, fell, sample};

    fn found(samples: &[Sample]) -> Vec<Surprise> {
        let entries = [("x/lean", Kind::Stackless), ("x/fat", Kind::Stackless), ("x/thread", Kind::Thread)];
        let campaign = campaign(entries.map(|(name, kind)| facts(name, kind)).to_vec());
        surprises(&Report::build(&campaign, samples), 1_000_000)
    }

    /// Bases and bytes per task, of the first two.
    fn both(lean: (u64, u64), fat: (u64, u64)) -> Vec<Sample> {
        let of =
            |tasks| [sample("x/lean", tasks, 1, lean.0, lean.1), sample("x/fat", tasks, 1, fat.0, fat.1)];
        [1, 1_000_000].into_iter().flat_map(of).collect()
    }

    #[test]
    fn nothing_is_told_where_nothing_surprises() {
        assert_eq!(found(&both((1_000_000, 400), (1_000_000, 420))), []);
        assert_eq!(found(&[]), []);
    }

    #[test]
    fn a_factor_within_a_kind_and_a_change_of_places_are_found() {
        let told = found(&both((8_000_000, 400), (2_000_000, 1_600)));
        let figures: Vec<&str> = told.iter().map(|told| told.figure.as_str()).collect();
        assert_eq!(figures, ["×3.9", "×3.9"], "{told:?}");
        assert_eq!(told[0].entries, ["x/fat", "x/lean"]);
        assert!(told[0].text.contains("the second takes ×4.0"), "{}", told[0].text);
    }

    #[test]
    fn who_stopped_is_told_first_and_why() {
        let mut samples = both((1_000_000, 400), (1_000_000, 420));
        let mut hit = fell(sample("x/thread", 1_000_000, 1, 0, 0), Status::Limit, "no more");
        samples.extend([1, 10_000].map(|tasks| sample("x/thread", tasks, 1, 1_000_000, 36_000)));
        hit.limit = Some(Box::new(LimitHit { name: "kernel.threads-max".into(), value: 62_000, lift: None }));
        samples.push(hit);
        let told = found(&samples);
        assert_eq!(told[0].figure, "10k");
        assert!(told[0].text.contains("kernel.threads-max = 62,000"), "{}", told[0].text);
        assert_eq!(told[0].entries, ["x/thread"]);
    }

    #[test]
    fn memory_that_is_not_resident_is_found() {
        let told = |kernel_share: f64| {
            let mut samples = both((1_000_000, 400), (1_000_000, 420));
            for sample in &mut samples {
                let plateau = sample.memory.plateau.as_mut().unwrap();
                plateau.kernel_bytes = (plateau.footprint_bytes as f64 * kernel_share) as u64;
                sample.memory.rss_peak_bytes = Some(plateau.footprint_bytes / 5);
            }
            found(&samples)
        };
        assert!(told(0.8)[0].text.contains("are resident. The kernel holds"), "{:?}", told(0.8));
        // What the largest of many processes has resident says nothing of the kernel.
        assert_eq!(told(0.5), []);
    }

    #[test]
    fn a_limit_met_later_is_not_what_stopped_it() {
        let mut samples = both((1_000_000, 400), (1_000_000, 420));
        let mut hit = fell(sample("x/thread", 1_000_000, 1, 0, 0), Status::Limit, "no more");
        hit.limit = Some(Box::new(LimitHit { name: "kernel.pid_max".into(), value: 32_768, lift: None }));
        samples.push(sample("x/thread", 1, 1, 1_000_000, 36_000));
        samples.push(fell(sample("x/thread", 10_000, 1, 0, 0), Status::TimedOut, "too slow"));
        samples.push(hit);
        assert_eq!(found(&samples), []);
    }
}
