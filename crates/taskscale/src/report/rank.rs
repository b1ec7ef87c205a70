//! The order of entries, and the best that they are compared with.
//!
//! A future in one task, a timer and a thread do different things, so a ratio across kinds means little. The best is
//! that of the same kind, unless the reader asks for one order of all.

use serde::Serialize;

use super::build::by_figure;
use super::model::{Report, Row, RowGroup};
use crate::catalog::Kind;

/// Among whom entries are ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// Each among those of its kind.
    #[default]
    Kind,
    /// All in one order, whatever a task is to them.
    All,
}

impl Rank {
    /// The name used on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Rank::Kind => "kind",
            Rank::All => "all",
        }
    }

    /// What stands together: one group for each kind, or all in one.
    fn scope(self, kind: Kind) -> Option<Kind> {
        (self == Rank::Kind).then_some(kind)
    }
}

impl Report {
    /// The report with its rows and its growth in another order, and each `times_best` against another best.
    #[must_use]
    pub fn ranked_by(mut self, rank: Rank) -> Report {
        self.rank = rank;
        for group in &mut self.groups {
            order(group, rank);
        }
        self.growth.sort_by(|a, b| {
            let scope = rank.scope(a.entry.kind).cmp(&rank.scope(b.entry.kind));
            scope.then(by_figure(a.bytes_per_task, b.bytes_per_task))
        });
        self
    }
}

fn order(group: &mut RowGroup, rank: Rank) {
    let median = |row: &Row| row.headline.map(|spread| spread.median);
    let best = |kind: Kind| {
        let among =
            group.rows.iter().filter(|row| row.ranked && rank.scope(row.entry.kind) == rank.scope(kind));
        among.filter_map(median).reduce(f64::min)
    };
    let times: Vec<Option<f64>> = group
        .rows
        .iter()
        .map(|row| match (median(row), best(row.entry.kind)) {
            (Some(own), Some(best)) if row.ranked && best > 0.0 => Some(own / best),
            _ => None,
        })
        .collect();
    for (row, times) in group.rows.iter_mut().zip(times) {
        row.times_best = times;
    }
    // Sorting is stable: what compares equal stays in the catalog's order.
    group.rows.sort_by(|a, b| {
        let fell = |row: &Row| !row.has_figures();
        let scope = |row: &Row| rank.scope(row.entry.kind);
        let short = |row: &Row| row.ok_runs == 0;
        (fell(a), scope(a), short(a))
            .cmp(&(fell(b), scope(b), short(b)))
            .then(by_figure(median(a), median(b)))
    });
}
