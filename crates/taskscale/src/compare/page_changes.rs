//! The changes that the page of several results shows: those that [`side_by_side`](super::side_by_side) has.

use std::collections::BTreeMap;

use super::several::{EntryLine, lines, numbers};
use super::several_document::{DOUBT, DOUBTFUL};
use super::words::change;
use crate::metrics::{self, MetricDef};
use crate::record::Series;
use crate::report::{PageChange, PageData, Report, letter};

/// Of all changes: their ratio may differ from that of the values.
const OF_MEANS: &str =
    "Values are medians; changes are those of geometric means of the repetitions that were ok.";

/// Adds to each value how it differs from that of the first campaign of its series. `reports`: one for each of the page's
/// campaigns.
pub fn show_changes(page: &mut PageData, reports: &[Report]) {
    let mut by_series: BTreeMap<Series, Vec<usize>> = BTreeMap::new();
    for (at, report) in reports.iter().enumerate() {
        by_series.entry(report.series()).or_default().push(at);
    }
    by_series.retain(|_, positions| positions.len() > 1);
    if !by_series.is_empty() {
        page.change_note(OF_MEANS.to_owned());
    }
    for positions in by_series.values() {
        let own = || positions.iter().map(|at| &reports[*at]).enumerate();
        let names = page.campaigns[positions[0]].metrics.clone();
        for metric in names.into_iter().filter_map(metrics::named) {
            for tasks in numbers(own(), metric) {
                for line in lines(own(), positions.len(), metric, tasks) {
                    add(page, positions, metric, tasks, &line);
                }
            }
        }
    }
}

/// The changes of an entry at some N, or of the whole entry, in all campaigns but the first.
fn add(
    page: &mut PageData,
    positions: &[usize],
    metric: &'static MetricDef,
    tasks: Option<u64>,
    line: &EntryLine,
) {
    for (to, at) in positions.iter().enumerate().skip(1) {
        let (text, note) = match line.shift(metric, to) {
            Some(Ok(shift)) if shift.doubtful => (change(shift.ratio) + DOUBTFUL, DOUBT.to_owned()),
            Some(Ok(shift)) => (change(shift.ratio), OF_MEANS.to_owned()),
            Some(Err(why)) => (String::new(), format!("{} is not compared: {why}.", letter(to))),
            None => continue,
        };
        let note = page.change_note(note);
        if let Some(changes) = page.changes_of(*at, &line.entry.name, tasks) {
            changes.insert(metric.name, PageChange(text, note));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Warning;
    use crate::report::fixture::everything;

    #[test]
    fn values_show_the_change_from_the_first_results() {
        let (campaign, samples) = everything();
        let mut later = samples.clone();
        for sample in &mut later {
            sample.warnings.push(Warning::MachineBusy);
            sample.memory.plateau.iter_mut().for_each(|plateau| plateau.footprint_bytes *= 2);
        }
        let mut page = PageData::default();
        let mut reports = page.add(&campaign, &samples, Some("before"), |_, _| Vec::new());
        reports.extend(page.add(&campaign, &later, Some("after"), |_, _| Vec::new()));
        show_changes(&mut page, &reports);
        assert_eq!(page.change_notes[..2], [OF_MEANS, DOUBT]);
        let [before, after] = &page.campaigns[..] else { panic!("one series") };
        assert!(before.rows.iter().all(|row| row.changes.is_empty()));
        let of = |name: &str, tasks| {
            let at = after.entries.iter().position(|of| page.entries[of.entry].name == name)?;
            let row = after.rows.iter().find(|row| row.entry == at && row.tasks == tasks)?;
            Some((&row.changes, &after.entries[at].changes))
        };
        let (at_10k, whole) = of("go/goroutine", 10_000).unwrap();
        let text = |PageChange(text, note): &PageChange| (text.clone(), page.change_notes[*note].as_str());
        assert_eq!(text(&at_10k["footprint"]), ("+100.0%".to_owned(), OF_MEANS));
        assert_eq!(text(&whole["bytes-per-task"]), ("+100.0%".to_owned(), OF_MEANS));
        assert_eq!(text(&at_10k["peak"]).1, DOUBT, "the same values");
        let busy = "B is not compared: most runs of B were on a busy machine.";
        assert_eq!(text(&at_10k["wall"]), (String::new(), busy));
    }
}
