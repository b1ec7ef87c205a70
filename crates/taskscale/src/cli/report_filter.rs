//! The filters of `report`: series, entries, kinds and numbers of tasks.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use super::args;
use super::workload_args::task_counts;
use crate::catalog::{Kind, Matcher, Selectable, did_you_mean};
use crate::record::{EntryFacts, Loaded, Plan, Sample};
use crate::report::Report;
use crate::units;

/// Filters; the default keeps everything.
#[derive(Debug, Default)]
pub(super) struct ReportFilter {
    /// Prefixes of series names.
    parts: Vec<String>,
    entries: Vec<Matcher>,
    kinds: Vec<Kind>,
    /// Ascending.
    pub tasks: Vec<u64>,
}

impl ReportFilter {
    pub fn of(args: &args::ReportArgs) -> Result<ReportFilter> {
        Ok(ReportFilter {
            parts: args.part.clone(),
            entries: args.entry.iter().map(|word| Matcher::of(word)).collect(),
            kinds: args.kind.clone(),
            tasks: args.tasks.as_deref().map(task_counts).transpose()?.unwrap_or_default(),
        })
    }

    /// The first filter given, except `--part`.
    pub fn option(&self) -> Option<&'static str> {
        let given = [
            ("--entry", !self.entries.is_empty()),
            ("--kind", !self.kinds.is_empty()),
            ("-n", !self.tasks.is_empty()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Filters series and entries, and drops results without either. Keeps all numbers of tasks, which the fits need
    /// ([`ReportFilter::rows`]).
    pub fn campaigns(&self, campaigns: &mut Vec<(String, Loaded)>) -> Result<()> {
        let plans = campaigns.iter().flat_map(|(_, loaded)| loaded.campaign.plans());
        let mut parts: Vec<String> = plans.map(|plan| plan.series().to_string()).collect();
        let all = || campaigns.iter().flat_map(|(_, loaded)| &loaded.campaign.entries);
        let selectable = |facts: &EntryFacts| self.entries.iter().any(|word| word.matches(&of(facts)));
        for word in &self.entries {
            if !all().any(|facts| word.matches(&of(facts))) {
                let nearest = did_you_mean(&word.word, all().map(|facts| &*facts.name));
                bail!("--entry {}: not in these results{nearest}", word.word);
            }
        }
        for (_, Loaded { campaign, samples, .. }) in campaigns.iter_mut() {
            let wanted = |facts: &EntryFacts| {
                (self.entries.is_empty() || selectable(facts))
                    && (self.kinds.is_empty() || self.kinds.contains(&facts.kind))
            };
            campaign.entries.retain(wanted);
            let kept: Vec<String> = campaign.entries.iter().map(|facts| facts.name.clone()).collect();
            let mut plans: Vec<Plan> = campaign.plans().cloned().collect();
            plans.retain(|plan| {
                let series = plan.series().to_string();
                self.parts.is_empty() || self.parts.iter().any(|part| series.starts_with(part))
            });
            if self.option().is_some() {
                plans.iter_mut().for_each(|plan| plan.entries.retain(|name| kept.contains(name)));
                plans.retain(|plan| !plan.entries.is_empty());
                samples.retain(|sample| kept.iter().any(|name| **name == *sample.entry));
            }
            if !self.parts.is_empty() {
                samples.retain(|sample| plans.iter().any(|plan| sample.is_of(&plan.series())));
                campaign.entries.retain(|facts| plans.iter().any(|plan| plan.has(facts)));
            }
            let mut plans = plans.into_iter();
            // Results without any series are dropped below.
            campaign.plan.entries.clear();
            campaign.plan = plans.next().unwrap_or(campaign.plan.clone());
            campaign.further_plans = plans.collect();
        }
        campaigns.retain(|(_, loaded)| !loaded.campaign.plan.entries.is_empty());
        if !campaigns.is_empty() {
            return Ok(());
        }
        parts.dedup();
        match &self.parts[..] {
            [asked, ..] if self.option().is_none() => {
                bail!("--part {asked}: no series matches; available: {}", parts.join("; "))
            }
            _ => bail!("no entry matches all filters (--entry, --kind, --part)"),
        }
    }

    /// Filters the rows of reports by number of tasks.
    pub fn rows(&self, reports: &mut [Report]) -> Result<()> {
        if self.tasks.is_empty() {
            return Ok(());
        }
        let there: BTreeSet<u64> = reports.iter().flat_map(|report| report.tasks.clone()).collect();
        if let Some(tasks) = self.tasks.iter().find(|tasks| !there.contains(tasks)) {
            let there: Vec<String> = there.into_iter().map(units::count).collect();
            bail!("-n {}: not measured; available: {}", units::count(*tasks), there.join(", "));
        }
        for report in reports {
            report.tasks.retain(|tasks| self.tasks.contains(tasks));
            report.groups.retain(|group| self.tasks.contains(&group.tasks));
        }
        Ok(())
    }

    /// Whether a sample passes the filter of numbers of tasks.
    pub fn has(&self, sample: &Sample) -> bool {
        self.tasks.is_empty() || self.tasks.contains(&sample.tasks)
    }
}

/// An entry as the command line selects it.
fn of(facts: &EntryFacts) -> Selectable<'_> {
    Selectable { full_name: &facts.name, runtime: &facts.runtime, posts: facts.posts, style: facts.style }
}
