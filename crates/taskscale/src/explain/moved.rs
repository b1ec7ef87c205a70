//! Changes in the parts of a task's memory between two sheets.

use std::collections::{BTreeMap, BTreeSet};

use super::sheet::{PartSource, UNEXPLAINED};
use super::shown::Explanation;
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell, from_to};
use crate::metrics::per_task;

/// A part in both sheets, base and new, in bytes; absent where a sheet lacks it.
type BeforeAfter = [Option<f64>; 2];

/// Compares the sheets of entries in both lists, or of the two that are named. The largest change comes first.
pub fn moved(base: &[Explanation], new: &[Explanation], named: Option<(&str, &str)>) -> Document {
    let mut all = Document::default();
    for old in base.iter().filter(|old| named.is_none_or(|(name, _)| old.entry == name)) {
        let name = named.map_or(&*old.entry, |(_, name)| name);
        let Some(now) = new.iter().find(|now| now.entry == name && now.workload == old.workload) else {
            continue;
        };
        let title = from_to(&old.entry, &now.entry);
        let mut document = Document::new(format!("{title} · {} · bytes per task", now.workload));
        document.table(table(old, now));
        let names = [old, now].map(|of| of.adapter.as_ref().map_or("none", |(name, _)| name));
        if names[0] != names[1] {
            let text =
                format!("Adapters differ, and so do the parts: {} (base), {} (new).", names[0], names[1]);
            document.text(text, Emphasis::Doubtful);
        }
        all.blocks.extend(document.blocks);
    }
    if all.blocks.is_empty() {
        all.text("No entry has a sheet in both.".to_owned(), Emphasis::Doubtful);
    }
    all
}

fn table(old: &Explanation, now: &Explanation) -> Table {
    let mut pairs: BTreeMap<(PartSource, &str), BeforeAfter> = BTreeMap::new();
    for (side, of) in [old, now].into_iter().enumerate() {
        for row in &of.sheet.rows {
            pairs.entry((row.group, &row.name)).or_default()[side] = Some(row.per_task.bytes);
        }
    }
    add_to_small_ones(&mut pairs);
    let change = |[old, now]: &BeforeAfter| now.unwrap_or(0.0) - old.unwrap_or(0.0);
    let mut rows: Vec<_> = pairs.into_iter().collect();
    rows.sort_by(|(_, a), (_, b)| change(b).abs().total_cmp(&change(a).abs()));
    let row = |name: &str, what: &str, pair: BeforeAfter, emphasis: Emphasis| {
        let shown = |side: Option<f64>| TableCell::figure(side.map(per_task), emphasis);
        let by = change(&pair);
        let sign = if by > 0.0 { "+" } else { "" };
        DocumentRow::of(vec![
            TableCell::Text(name.to_owned(), emphasis),
            shown(pair[0]),
            shown(pair[1]),
            TableCell::Text(format!("{sign}{}", per_task(by)), emphasis),
            TableCell::quiet(what),
        ])
    };
    let mut table = Table::new(vec![
        Column::words("part"),
        Column::figures("base"),
        Column::figures("new"),
        Column::figures("change"),
        Column::words("").drop_priority(1),
    ]);
    let whole = [old, now].map(|of| Some(of.sheet.slope.bytes));
    let whole = row("all", "", whole, Emphasis::Strong);
    let parts = rows.into_iter().map(|((group, name), pair)| row(name, group.text(), pair, Emphasis::Plain));
    let left = [old, now].map(|of| Some(of.sheet.unexplained.bytes));
    let left = row(UNEXPLAINED, "", left, Emphasis::Doubtful);
    table.section("").rows = std::iter::once(whole).chain(parts).chain([left]).collect();
    table
}

/// A part that one sheet lacks may be in its row of small parts. If that row is large enough, adds the part to
/// the small ones of the other sheet too.
fn add_to_small_ones(pairs: &mut BTreeMap<(PartSource, &str), BeforeAfter>) {
    let groups: BTreeSet<PartSource> = pairs.keys().map(|(group, _)| *group).collect();
    for group in groups {
        let Some(small) = pairs.remove(&(group, group.rest())) else { continue };
        let mut sums = small;
        let hides = |small: Option<f64>, part: f64| small.is_some_and(|of| of.abs() >= 0.5 * part.abs());
        pairs.retain(|(of, _), pair| {
            let (side, part) = match *pair {
                [Some(old), None] => (0, old),
                [None, Some(new)] => (1, new),
                _ => return true,
            };
            let hidden = *of == group && hides(small[1 - side], part);
            if hidden {
                *sums[side].get_or_insert(0.0) += part;
            }
            !hidden
        });
        pairs.insert((group, group.rest()), sums);
    }
}

#[cfg(test)]
mod tests {
    use taskscale_measure::Kind;

    use super::super::sheet::{PerTask, Sheet, SheetRow};
    use super::*;
    use crate::document::RenderOptions;

    fn explanation(entry: &str, rows: &[(&str, f64)], unexplained: f64) -> Explanation {
        let of = |bytes: f64| PerTask { bytes, interval: None };
        let row = |(name, bytes): &(&str, f64)| SheetRow {
            name: (*name).to_owned(),
            group: PartSource::Live,
            per_task: of(*bytes),
        };
        let slope = rows.iter().map(|(_, bytes)| bytes).sum::<f64>() + unexplained;
        Explanation {
            entry: entry.to_owned(),
            kind: Kind::Stackless,
            workload: "sleep".to_owned(),
            version: None,
            tasks: vec![10_000, 100_000],
            repetitions: 3,
            adapter: None,
            metrics: BTreeMap::new(),
            sheet: Sheet {
                slope: of(slope),
                rows: rows.iter().map(row).collect(),
                unexplained: of(unexplained),
                moved: None,
            },
            notes: Vec::new(),
        }
    }

    #[test]
    fn largest_changes_come_first() {
        let base = [explanation("rust/a", &[("timer", 80.0), ("task", 256.0)], 4.0)];
        let new = [explanation("rust/a", &[("task", 128.0), ("timer", 80.0), ("handle", 8.0)], 4.0)];
        let text = moved(&base, &new, None).terminal(RenderOptions::default());
        let changes: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .filter(|words: &Vec<_>| words.len() > 3)
            .collect();
        let row = |name: &str| {
            changes.iter().position(|words| words[0] == name).unwrap_or_else(|| panic!("{text}"))
        };
        assert_eq!(changes[row("all")][1..4], ["340", "220", "-120"], "{text}");
        assert_eq!(changes[row("task")][1..4], ["256", "128", "-128"], "{text}");
        assert_eq!(changes[row("handle")][1..4], ["-", "8.0", "+8.0"], "{text}");
        assert!(
            row("all") < row("task") && row("task") < row("handle") && row("handle") < row("timer"),
            "{text}"
        );
    }

    #[test]
    fn parts_below_the_threshold_are_added_to_the_rest() {
        let small = PartSource::Live.rest();
        let base = [explanation("rust/a", &[("a", 256.0), ("b", 12.0), (small, 30.0)], 0.0)];
        let new = [explanation("rust/a", &[("a", 256.0), ("c", 12.0), (small, 30.0)], 0.0)];
        let text = moved(&base, &new, None).terminal(RenderOptions::default());
        assert!(text.lines().all(|line| !line.starts_with(" b ") && !line.contains("+12")), "{text}");
        let row = text.lines().find(|line| line.contains(small)).unwrap();
        assert!(row.contains("42") && !row.contains("30"), "{text}");
    }

    #[test]
    fn different_adapters_are_reported() {
        let base = [explanation("rust/a", &[("task", 256.0)], 4.0)];
        let mut new = base.clone();
        assert!(!moved(&base, &new, None).terminal(RenderOptions::default()).contains("Adapters"));
        new[0].adapter = Some(("malloc".to_owned(), "libc.so.6 is mapped".to_owned()));
        let text = moved(&base, &new, None).terminal(RenderOptions::default());
        assert!(text.contains("none (base), malloc (new)"), "{text}");
    }

    #[test]
    fn different_entries_are_compared_only_if_named() {
        let both = [explanation("a/x", &[("task", 10.0)], 0.0), explanation("b/y", &[("task", 30.0)], 0.0)];
        let text = moved(&both[..1], &both[1..], None).terminal(RenderOptions::default());
        assert!(text.contains("No entry has a sheet in both."), "{text}");
        let text = moved(&both[..1], &both[1..], Some(("a/x", "b/y"))).terminal(RenderOptions::default());
        assert!(text.contains("a/x → b/y") && text.contains("+20"), "{text}");
    }
}
