//! Highlights: findings that a reader may not expect, in plain sentences, searched for in the results.
//!
//! Each is about entries of one kind, or about one entry.

use crate::catalog::Shape;
use crate::metrics::{self, MetricDef};
use crate::report::{Report, Row, RowGroup};
use crate::units::{self, bytes, decimal, tasks};

/// Number of highlights that are shown.
const TOLD: usize = 3;
/// Smaller factors are not shown.
const LEAST: f64 = 1.5;

/// A highlight. Texts are not sanitized yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Highlight {
    /// With `{0}` and `{1}` in place of the entries' names.
    pub text: String,
    pub entries: Vec<String>,
}

impl Highlight {
    fn of<const N: usize>(text: String, rows: [&Row; N]) -> Option<Highlight> {
        Some(Highlight { text, entries: rows.map(|row| row.entry.name.clone()).to_vec() })
    }
}

/// The first highlights found, the most general first. They are about the memory of tasks that wait.
pub fn highlights(report: &Report, at: u64) -> Vec<Highlight> {
    if report.shape != Shape::Hold {
        return Vec::new();
    }
    let group = report.groups.iter().find(|group| group.tasks == at);
    let found = [
        stops(report),
        hidden_kernel(report),
        overtaken(report, at),
        group.and_then(most_expensive_kind),
        group.and_then(memory_for_time),
    ];
    found.into_iter().flatten().take(TOLD).collect()
}

fn median(row: &Row, figure: &'static MetricDef) -> Option<f64> {
    row.spreads.median(figure).filter(|value| *value > 0.0)
}

/// The item with the largest factor, if that is at least `LEAST`.
fn largest<T>(found: impl Iterator<Item = (f64, T)>) -> Option<(f64, T)> {
    found.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(factor, _)| *factor >= LEAST)
}

fn times(factor: f64) -> String {
    format!("{}x", decimal(factor, usize::from(factor < 9.95)))
}

/// The entry that hit a limit at the fewest tasks, although others reached the largest N.
fn stops(report: &Report) -> Option<Highlight> {
    let most = report.groups.iter().rfind(|group| group.rows.iter().any(|row| row.ranked))?;
    let others = most.rows.iter().filter(|row| row.ranked).count();
    let held = |row: &Row| {
        let ok = report.rows_of(&row.entry.name).filter(|other| other.ok_runs > 0);
        ok.map(|other| other.tasks).max()
    };
    let short = most.rows.iter().filter(|row| row.ok_runs == 0 && !row.entry.reference);
    // The limit at the first N that failed: at larger N it may be another one.
    let limit = |row: &Row, held: u64| {
        let next = report.groups.iter().find(|group| group.tasks > held)?;
        let there = next.row(&row.entry.name)?;
        Some((there.shortfalls.iter().find_map(|short| short.limit.clone())?, next.tasks))
    };
    let found = short.filter_map(|row| {
        let held = held(row)?;
        Some((held, limit(row, held)?, row))
    });
    let (held, (limit, next), row) = found.min_by_key(|(held, ..)| *held)?;
    let text = format!(
        "{{0}} ran {} and hit {} = {} at {}. {} reached {}.",
        tasks(held),
        limit.name,
        units::grouped(limit.value),
        units::count(next),
        units::counted(others, "other entry"),
        units::count(most.tasks)
    );
    Highlight::of(text, [row])
}

/// Kernel memory must be at least this share of the memory outside of RSS, as RSS covers only the largest
/// process.
const EXPLAINED: f64 = 0.9;

/// The entry whose memory RSS understates most because it is kernel memory.
fn hidden_kernel(report: &Report) -> Option<Highlight> {
    let rows = report.rows().filter(|row| row.ranked && row.tasks > 1);
    let hidden = rows.filter_map(|row| {
        let (footprint, rss) = (median(row, &metrics::FOOTPRINT)?, median(row, &metrics::RSS_PEAK)?);
        let kernel = median(row, &metrics::KERNEL)?;
        (kernel >= EXPLAINED * (footprint - rss)).then_some((footprint / rss, (footprint, rss, kernel, row)))
    });
    let (_, (footprint, rss, kernel, row)) = largest(hidden)?;
    let text = format!(
        "{} {} ({{0}}) use {}. RSS shows {} of it. Kernel memory is {}.",
        units::grouped(row.tasks),
        row.entry.title,
        bytes(footprint as u64),
        bytes(rss as u64),
        bytes(kernel as u64)
    );
    Highlight::of(text, [row])
}

/// The kind with the largest factor between its entries.
fn most_expensive_kind(group: &RowGroup) -> Option<Highlight> {
    let ranked = group.rows.iter().filter(|row| row.ranked);
    let (factor, dearest) = largest(ranked.filter_map(|row| Some((row.times_best?, row))))?;
    let best = of_kind(group, dearest).find(|row| row.times_best == Some(1.0))?;
    let (at, factor) = (tasks(group.tasks), times(factor));
    let text = format!("At {at} {{0}} uses {factor} the memory of {{1}}, the best of its kind.");
    Highlight::of(text, [dearest, best])
}

fn of_kind<'a>(group: &'a RowGroup, like: &'a Row) -> impl Iterator<Item = &'a Row> {
    group.rows.iter().filter(|row| row.ranked && row.entry.kind == like.entry.kind)
}

/// Two entries of a kind whose order is reversed between the fewest tasks and many.
fn overtaken(report: &Report, at: u64) -> Option<Highlight> {
    let first = report.groups.first().filter(|group| group.tasks < at)?;
    let many = report.groups.iter().find(|group| group.tasks == at)?;
    let few = |row: &Row| first.row(&row.entry.name).filter(|before| before.ranked)?.median();
    let ranked = many.rows.iter().filter(|row| row.ranked);
    let turns = ranked.flat_map(|a| {
        of_kind(many, a).filter_map(move |b| {
            let before = few(b)? / few(a)?;
            let after = a.headline?.median / b.headline?.median;
            (before >= LEAST && after >= LEAST).then_some((before.min(after), (before, after, a, b)))
        })
    });
    let (_, (before, after, a, b)) = largest(turns)?;
    let text = format!(
        "At {} {{0}} uses {} the memory of {{1}}. At {} it is the reverse: {{1}} uses {} that of {{0}}.",
        tasks(at),
        times(after),
        tasks(first.tasks),
        times(before)
    );
    Highlight::of(text, [a, b])
}

/// The entry that takes the least memory of its kind but far more CPU time than another.
fn memory_for_time(group: &RowGroup) -> Option<Highlight> {
    let best = group.rows.iter().filter(|row| row.ranked && row.times_best == Some(1.0));
    let pairs = best.flat_map(|best| {
        of_kind(group, best).filter_map(move |other| {
            Some((median(best, &metrics::CPU)? / median(other, &metrics::CPU)?, (best, other)))
        })
    });
    let (factor, (best, other)) = largest(pairs)?;
    let (at, factor) = (tasks(group.tasks), times(factor));
    let text =
        format!("At {at} {{0}} uses the least memory of its kind, but {factor} the CPU time of {{1}}.");
    Highlight::of(text, [best, other])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Kind;
    use crate::record::{LimitHit, Sample, Status};
    use crate::report::fixture::{campaign, facts, fell, sample};

    fn found(samples: &[Sample]) -> Vec<Highlight> {
        let entries = [("x/lean", Kind::Stackless), ("x/fat", Kind::Stackless), ("x/thread", Kind::Thread)];
        let campaign = campaign(entries.map(|(name, kind)| facts(name, kind)).to_vec());
        highlights(&Report::build(&campaign, samples), 1_000_000)
    }

    /// Samples of the first two, with these fixed costs and bytes per task.
    fn both(lean: (u64, u64), fat: (u64, u64)) -> Vec<Sample> {
        let of =
            |tasks| [sample("x/lean", tasks, 1, lean.0, lean.1), sample("x/fat", tasks, 1, fat.0, fat.1)];
        [1, 1_000_000].into_iter().flat_map(of).collect()
    }

    #[test]
    fn similar_entries_yield_no_highlight() {
        assert_eq!(found(&both((1_000_000, 400), (1_000_000, 420))), []);
        assert_eq!(found(&[]), []);
    }

    #[test]
    fn factors_within_a_kind_and_rank_changes_are_found() {
        let told = found(&both((8_000_000, 400), (2_000_000, 1_600)));
        let texts: Vec<&str> = told.iter().map(|told| told.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "At 1M tasks {0} uses 3.9x the memory of {1}. At 1 task it is the reverse: {1} uses 4.0x that of {0}.",
                "At 1M tasks {0} uses 3.9x the memory of {1}, the best of its kind."
            ]
        );
        assert_eq!(told[0].entries, ["x/fat", "x/lean"]);
    }

    #[test]
    fn the_entry_that_hit_a_limit_comes_first() {
        let mut samples = both((1_000_000, 400), (1_000_000, 420));
        let mut hit = fell(sample("x/thread", 1_000_000, 1, 0, 0), Status::Limit, "no more");
        samples.extend([1, 10_000].map(|tasks| sample("x/thread", tasks, 1, 1_000_000, 36_000)));
        hit.limit = Some(Box::new(LimitHit { name: "kernel.threads-max".into(), value: 62_000, lift: None }));
        samples.push(hit);
        let told = found(&samples);
        let text = "{0} ran 10k tasks and hit kernel.threads-max = 62,000 at 1M. 2 other entries reached 1M.";
        assert_eq!(told[0].text, text);
        assert_eq!(told[0].entries, ["x/thread"]);
    }

    #[test]
    fn kernel_memory_missing_from_rss_is_highlighted() {
        let told = |kernel_share: f64| {
            let mut samples = both((1_000_000, 400), (1_000_000, 420));
            for sample in &mut samples {
                let plateau = sample.memory.plateau.as_mut().unwrap();
                plateau.kernel_bytes = (plateau.footprint_bytes as f64 * kernel_share) as u64;
                sample.memory.rss_peak_bytes = Some(plateau.footprint_bytes / 5);
            }
            found(&samples)
        };
        let text = told(0.8)[0].text.clone();
        assert!(text.starts_with("1,000,000 ") && text.contains(". RSS shows "), "{text}");
        // The RSS of the largest of many processes proves nothing about kernel memory.
        assert_eq!(told(0.5), []);
    }

    #[test]
    fn limit_hit_beyond_a_timeout_is_not_highlighted() {
        let mut samples = both((1_000_000, 400), (1_000_000, 420));
        let mut hit = fell(sample("x/thread", 1_000_000, 1, 0, 0), Status::Limit, "no more");
        hit.limit = Some(Box::new(LimitHit { name: "kernel.pid_max".into(), value: 32_768, lift: None }));
        samples.push(sample("x/thread", 1, 1, 1_000_000, 36_000));
        samples.push(fell(sample("x/thread", 10_000, 1, 0, 0), Status::TimedOut, "too slow"));
        samples.push(hit);
        assert_eq!(found(&samples), []);
    }
}
