//! Live results on a terminal: a line per run, with a bar and its rank within its kind so far.
//!
//! Later lines may change a ranking. The table at the end is the result.

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};

use super::output::printable;
use crate::catalog::{Kind, Shape};
use crate::document::{RenderOptions, bar, painted, safe, shortened};
use crate::metrics::{self, MetricDef};
use crate::record::{Campaign, Plan, Sample, Status, last_attempts};
use crate::stats::median;
use crate::units;

/// Columns of the longest name of a kind, of a value, and of a place.
const KIND: usize = 9;
const VALUE: usize = 11;
const PLACE: usize = 11;
/// The least and the most room for a bar, and the least for a name.
const BAR: (usize, usize) = (10, 24);
const MIN_NAME_WIDTH: usize = 12;
/// Two before each line, and between its five fields.
const GAPS: usize = 2 + 4 * 2;

/// The results so far.
pub(super) struct ResultsTicker {
    entries: BTreeMap<String, (Kind, bool)>,
    plans: Vec<Plan>,
    heading: String,
}

impl ResultsTicker {
    pub fn of(campaign: &Campaign) -> ResultsTicker {
        let ready = campaign.entries.iter().filter(|facts| facts.unavailable.is_none());
        let entries = ready.map(|facts| (facts.name.clone(), (facts.kind, facts.reference))).collect();
        ResultsTicker { entries, plans: campaign.plans().cloned().collect(), heading: String::new() }
    }

    /// The lines of a finished run: the result, after a heading if series, N or repetition changed. Empty for a
    /// successful first run of a pair, which has no result of its own. `seen` are all runs so far.
    pub fn tell(&mut self, sample: &Sample, seen: &[Sample], options: RenderOptions) -> Vec<String> {
        let plan = self.plans.iter().find(|plan| sample.is_of(&plan.series()));
        let (shape, repetitions) = plan.map_or((Shape::Hold, 1), |plan| (plan.shape, plan.repetitions));
        let good = sample.status == Status::Ok;
        if good && shape == Shape::Work && !sample.is_double() {
            return Vec::new();
        }
        let mut lines = Vec::new();
        let mut heading = units::tasks(sample.tasks);
        if self.plans.len() > 1 {
            heading = format!("{}, {heading}", sample.series());
        }
        if repetitions > 1 {
            heading.push_str(&format!(", repetition {} of {repetitions}", sample.repetition));
        }
        if heading != self.heading {
            lines.push(painted(&heading, Style::new().bold(), options.color));
            self.heading = heading;
        }
        lines.push(match good {
            true => self.good(sample, seen, metrics::headline(shape), options),
            false => self.bad(sample, options),
        });
        lines
    }

    /// Columns of names, and of bars.
    fn widths(&self, options: RenderOptions) -> (usize, usize) {
        let longest = self.entries.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        // Some terminals break a line of their own width.
        let room = options.width.saturating_sub(GAPS + KIND + VALUE + PLACE + 1);
        let bar = room.saturating_sub(longest).clamp(BAR.0, BAR.1);
        (longest.min(room.saturating_sub(bar)).max(MIN_NAME_WIDTH), bar)
    }

    /// Name and kind, at the start of each line.
    fn begun(&self, sample: &Sample, options: RenderOptions) -> String {
        let (names, _) = self.widths(options);
        let name = safe(&sample.entry).into_owned();
        let kind = self.entries.get(&*sample.entry).map_or("", |(kind, _)| kind.name());
        let kind = painted(&format!("{kind:<KIND$}"), Style::new().dimmed(), options.color);
        format!("  {:<names$}  {kind}  ", shortened(&name, names))
    }

    fn good(&self, sample: &Sample, seen: &[Sample], figure: &MetricDef, options: RenderOptions) -> String {
        let (_, room) = self.widths(options);
        let medians = medians(sample, seen, figure);
        let Some(own) = medians.get(&*sample.entry).copied() else {
            return format!("{}ok", self.begun(sample, options));
        };
        let value = figure.text(own);
        let largest = medians.values().copied().fold(0.0, f64::max);
        let drawn = bar(own / largest, room, options.bars);
        let padding = " ".repeat(room.saturating_sub(drawn.chars().count()));
        let bar = painted(&drawn, AnsiColor::Cyan.on_default(), options.color);
        let again = if sample.attempt > 1 { ", again" } else { "" };
        let (place, style) = self.place(&sample.entry, figure, &medians);
        let (begun, place) = (self.begun(sample, options), painted(&place, style, options.color));
        format!("{begun}{value:>VALUE$}  {bar}{padding}  {place}{again}").trim_end().to_owned()
    }

    /// `2nd of 3`: the rank among entries of the kind at this number of tasks. Empty if the kind has one entry.
    fn place(&self, entry: &str, figure: &MetricDef, medians: &BTreeMap<String, f64>) -> (String, Style) {
        let Some((kind, reference)) = self.entries.get(entry) else { return Default::default() };
        if *reference {
            return ("reference".to_owned(), Style::new().dimmed());
        }
        let ranked = self.entries.iter().filter(|(_, (of, reference))| of == kind && !reference);
        let ranked: Vec<&String> = ranked.map(|(name, _)| name).collect();
        if ranked.len() < 2 {
            return Default::default();
        }
        let among: Vec<Option<f64>> =
            ranked.into_iter().filter_map(|name| medians.get(name)).copied().map(Some).collect();
        let own = medians.get(entry).copied();
        let place = 1 + among.iter().filter(|value| figure.better.order(**value, own).is_lt()).count();
        let style = if place == 1 { AnsiColor::Green.on_default().bold() } else { Style::new() };
        (format!("{} of {}", ordinal(place), among.len()), style)
    }

    fn bad(&self, sample: &Sample, options: RenderOptions) -> String {
        let reason = printable(sample.reason.as_deref().unwrap_or("unknown reason"));
        // On one line: the table at the end has the full reason.
        let taken = self.begun(sample, RenderOptions { color: false, ..options }).chars().count();
        let room = options.width.saturating_sub(taken + sample.status.name().len() + 3);
        let reason = shortened(&reason, room);
        let status = painted(sample.status.name(), AnsiColor::Red.on_default(), options.color);
        format!("{}{status}: {reason}", self.begun(sample, options))
    }
}

/// The median of each entry that was ok in the same series, at the same number of tasks.
fn medians(sample: &Sample, seen: &[Sample], figure: &MetricDef) -> BTreeMap<String, f64> {
    let series = sample.series();
    let alike = seen.iter().filter(|other| other.tasks == sample.tasks && other.is_of(&series));
    let alike: Vec<&Sample> = alike.collect();
    let mut last = last_attempts(&alike);
    last.retain(|sample| sample.status == Status::Ok);
    let of_entry = |own: &[&Sample]| Some((own[0].entry.to_string(), median(&figure.values(own))?));
    last.chunk_by(|a, b| a.entry == b.entry).filter_map(of_entry).collect()
}

/// `1st`, `2nd`, `3rd`, `11th`.
fn ordinal(place: usize) -> String {
    let ending = match (place % 10, place % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{place}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Bars;
    use crate::record::{Plateau, test_campaign, test_sample};

    fn ticker() -> ResultsTicker {
        let entry = |name: &str, kind| (name.to_owned(), (kind, false));
        ResultsTicker {
            entries: BTreeMap::from([
                entry("go/goroutine", Kind::Stackful),
                entry("java/virtual-thread", Kind::Stackful),
                entry("dotnet/task-async-conserve-memory", Kind::Stackless),
                entry("rust/thread", Kind::Thread),
            ]),
            plans: vec![test_campaign().plan],
            heading: String::new(),
        }
    }

    fn sample(entry: &str, tasks: u64, mib: u64) -> Sample {
        let mut sample = test_sample(entry, tasks);
        let footprint_bytes = mib << 20;
        sample.memory.plateau = Some(Plateau { footprint_bytes, ..Plateau::default() });
        sample
    }

    fn told(width: usize) -> String {
        let mut ticker = ticker();
        let mut refused = sample("rust/thread", 100_000, 1);
        (refused.status, refused.reason) = (Status::Limit, Some("hit kernel.pid_max = 32768 after 31,610 of 100,000 tasks; raise it: `sysctl -w kernel.pid_max=4194304`".to_owned()));
        let samples = [
            sample("java/virtual-thread", 10_000, 120),
            sample("go/goroutine", 10_000, 30),
            sample("dotnet/task-async-conserve-memory", 10_000, 9),
            sample("go/goroutine", 100_000, 264),
            sample("java/virtual-thread", 100_000, 264),
            refused,
        ];
        let options = RenderOptions { width, bars: Bars::Blocks, ..RenderOptions::default() };
        let lines = |at: usize| ticker.tell(&samples[at], &samples[..=at], options);
        let lines: Vec<String> = (0..samples.len()).flat_map(lines).collect();
        assert!(lines.iter().all(|line| line.chars().count() < width), "{lines:?}");
        lines.join("\n")
    }

    #[test]
    fn each_result_shows_bar_and_rank_within_its_kind() {
        insta::assert_snapshot!(told(80));
        insta::assert_snapshot!(told(120));
    }

    #[test]
    fn ranks_use_the_latest_attempts() {
        let mut ticker = ticker();
        let options = RenderOptions { bars: Bars::Blocks, ..RenderOptions::default() };
        let mut again = sample("go/goroutine", 10, 50);
        again.attempt = 2;
        let seen = [sample("go/goroutine", 10, 30), again, sample("java/virtual-thread", 10, 40)];
        // The second attempt replaces the first.
        for (at, end) in ["1st of 1", "1st of 1, again", "1st of 2"].into_iter().enumerate() {
            assert!(ticker.tell(&seen[at], &seen[..=at], options).pop().unwrap().ends_with(end));
        }
        let places: Vec<String> = [1, 2, 3, 4, 11, 12, 21, 112].map(ordinal).to_vec();
        assert_eq!(places, ["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "112th"]);
    }
}
