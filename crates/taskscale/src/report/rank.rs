//! The order of entries, and the best that they are compared with.
//!
//! A future in one task, a timer and a thread do different things, so a ratio across kinds means little. The best is
//! that of the same kind, unless the reader asks for one order of all.

use serde::Serialize;

use super::footnotes::REFERENCE;
use super::model::{Rank, Report, Row, RowGroup};
use crate::catalog::Kind;
use crate::metrics::{self, Better, MetricDef};
use crate::record::MemorySource;

/// In place of a value that ok runs lack.
pub const NO_VALUE: &str = "no value";
/// Before a value that may be larger.
pub const AT_LEAST: &str = "≥ ";

/// Whether a value is ranked, or why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::VariantArray)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Ranked,
    /// A physical limit, or another reference.
    Reference,
    /// No run had all N tasks alive: N tasks would cost more.
    Partial,
    /// Memory from another source than the report's main one, so it is not comparable.
    OtherSource,
    /// The clients used over 85% of a CPU, so the server may do more.
    LowerBound,
}

impl Standing {
    pub fn is_ranked(&self) -> bool {
        *self == Standing::Ranked
    }

    /// In place of a multiple of the best.
    pub fn text(self) -> &'static str {
        match self {
            Standing::Ranked => NO_VALUE,
            Standing::Reference => REFERENCE,
            Standing::Partial => "partial",
            Standing::OtherSource => "other source",
            Standing::LowerBound => "at least",
        }
    }
}

impl Row {
    /// Whether its value of a metric is ranked, or why not. `usual`: the report's main memory source.
    pub fn standing(&self, metric: &MetricDef, usual: Option<MemorySource>) -> Standing {
        if self.entry.reference {
            Standing::Reference
        } else if self.ok_runs == 0 {
            Standing::Partial
        } else if metric.source_dependent && self.memory_sources.iter().any(|source| Some(*source) != usual) {
            Standing::OtherSource
        } else if self.client_limited && metric == &metrics::MESSAGES_PER_S {
            Standing::LowerBound
        } else {
            Standing::Ranked
        }
    }

    /// Why its headline is not compared: its status, or a word or two.
    pub fn unranked(&self, report: &Report) -> &str {
        match self.standing(report.headline(), report.usual_source()) {
            Standing::Partial => &self.status,
            standing => standing.text(),
        }
    }
}

impl Rank {
    /// What values are compared with.
    pub fn best(self) -> &'static str {
        match self {
            Rank::Kind => "best of its kind",
            Rank::All => "best of all kinds",
        }
    }
}

impl Report {
    /// The report ranked by kind or all together: sorts rows and growth, and sets each `times_best`.
    #[must_use]
    pub fn ranked_by(mut self, rank: Rank) -> Report {
        self.rank = rank;
        let better = self.headline().better;
        for group in &mut self.groups {
            order(group, rank, better);
        }
        self.growth.sort_by(|a, b| {
            let scope = rank.scope(a.entry.kind).cmp(&rank.scope(b.entry.kind));
            scope.then(Better::Less.order(a.bytes_per_task, b.bytes_per_task))
        });
        self
    }

    /// The N that represents the series beside others: the largest at which at least half as many entries are
    /// ranked as at any other N. So one failed entry does not hide it.
    pub fn representative_tasks(&self) -> Option<u64> {
        let ranked = |group: &RowGroup| group.rows.iter().filter(|row| row.ranked).count();
        let most = self.groups.iter().map(ranked).max()?;
        self.groups.iter().rfind(|group| ranked(group) * 2 >= most).map(|group| group.tasks)
    }
}

fn order(group: &mut RowGroup, rank: Rank, better: Better) {
    let best = |kind: Kind| {
        let among =
            group.rows.iter().filter(|row| row.ranked && rank.scope(row.entry.kind) == rank.scope(kind));
        better.of(among.filter_map(Row::median))
    };
    let times = |row: &Row| better.times(row.median()?, best(row.entry.kind)?).filter(|_| row.ranked);
    let times: Vec<Option<f64>> = group.rows.iter().map(times).collect();
    for (row, times) in group.rows.iter_mut().zip(times) {
        row.times_best = times;
    }
    // Sorting is stable: what compares equal stays in the catalog's order.
    let place = |row: &Row| (!row.has_figures(), rank.scope(row.entry.kind), row.ok_runs == 0);
    group.rows.sort_by(|a, b| place(a).cmp(&place(b)).then(better.order(a.median(), b.median())));
}
