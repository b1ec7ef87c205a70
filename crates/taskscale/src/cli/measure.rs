//! `taskscale measure`: any program, without a manifest.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use super::args::{Global, MeasureArgs, ReportFormat};
use super::follow_up_hints::eprint_follow_up_hints;
use super::measure_options::{MeasureOptions, validate};
use super::open::{FolderPurpose, Opened, OutputDir, check_kept, describe, open};
use super::progress::Progress;
use super::report::for_standard_output;
use super::session::{
    PLATEAU_S, acquire_machine, announce, ended_by_signal, interrupted, name_folder, show, what_is_kept,
    write_page,
};
use super::{Failure, OrUsage, print_result};
use crate::campaign::{self, CampaignEnd};
use crate::record::{self, Campaign, Hold, OWN_WORKLOAD, Plan, Sample};
use crate::report::{self, Report};
use crate::units;
use taskscale_measure::{Interrupt, LocalRunner};

pub fn run(args: &MeasureArgs, global: &Global) -> Result<ExitCode, Failure> {
    let options = validate(args).or_usage()?;
    let output = OutputDir::of(args.output.as_deref());
    output.check(FolderPurpose::Campaign).or_usage()?;

    let prepared = std::slice::from_ref(&options.prepared);
    let hold = Hold::Chosen { plateau_s: PLATEAU_S };
    let entries = vec![options.prepared.facts.name.clone()];
    let plan = Plan::of_holds(OWN_WORKLOAD, entries, options.tasks.clone(), args.repetitions, hold);
    check_kept(&output, vec![plan.clone()], &options.resume)?;

    let interrupt = Interrupt::install().context("cannot catch signals")?;
    let mut progress = Progress::new(global.quiet);
    let Some((lock, home)) = acquire_machine(&output.path, global.when_taken(), &progress, &interrupt)?
    else {
        return Ok(ended_by_signal(&interrupt));
    };
    let now = describe(vec![plan], None, home.source(), prepared);
    let Opened { mut store, campaign, mut samples, settings } =
        open(&output, now, &options.resume, &progress)?;
    let folder = store.folder().to_owned();
    announce(&folder, &campaign, prepared, &samples);
    progress.watch(&campaign, prepared, &samples);
    let mut runner = LocalRunner::new(home, &interrupt).with(&lock).keeping_traces(args.trace.clone());
    let outcome =
        campaign::run(&campaign, prepared, &settings, &mut runner, &mut store, &mut samples, &mut progress);
    drop(runner);
    progress.finish();
    match outcome {
        Ok(outcome) => conclude(args, &options, &folder, &campaign, &samples, &outcome, &interrupt),
        Err(error) => {
            if !samples.is_empty() {
                show(&folder, &campaign, &samples, args.format)?;
            }
            Err(Failure::Broken(anyhow!(error).context(what_is_kept(&folder))))
        }
    }
}

fn conclude(
    args: &MeasureArgs,
    options: &MeasureOptions,
    folder: &Path,
    campaign: &Campaign,
    samples: &[Sample],
    outcome: &CampaignEnd,
    interrupt: &Interrupt,
) -> Result<ExitCode, Failure> {
    let table = args.format == ReportFormat::Table && !samples.is_empty();
    if !samples.is_empty() {
        show(folder, campaign, samples, args.format)?;
    }
    if table {
        print_result(&more(options, campaign, samples))?;
    }
    write_page(folder, campaign, samples);
    name_folder(folder, table)?;
    if outcome.interrupted {
        return Ok(interrupted(folder, interrupt));
    }
    eprint_follow_up_hints(folder, samples);
    let fell_short = record::last_attempts(samples).iter().any(|sample| {
        // The user named this program: not being able to start it is a failure.
        sample.status.fell_short() || sample.status == record::Status::Unavailable
    });
    Ok(if fell_short { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What the table lacks: a chart, or peaks at a single number of tasks, also without a plateau.
fn more(options: &MeasureOptions, campaign: &Campaign, samples: &[Sample]) -> String {
    let report = Report::build(campaign, samples);
    let chart = report::chart(&report, for_standard_output());
    if !chart.is_empty() {
        return format!("\n{chart}");
    }
    let mut text = String::new();
    for row in report.groups.iter().flat_map(|group| &group.rows) {
        let size =
            |bytes: Option<f64>| bytes.map_or("unknown".to_owned(), |bytes| units::bytes(bytes as u64));
        let number = |number: Option<f64>| number.map_or("unknown".to_owned(), |n| units::decimal(n, 0));
        if row.footprint_bytes.is_some() {
            text.push_str(&format!(
                "\nPeak {}, peak RSS {}, {} threads at the plateau.\n",
                size(row.peak_bytes),
                size(row.rss_peak_bytes),
                number(row.threads)
            ));
        }
    }
    let unread: Vec<&Sample> =
        record::last_attempts(samples).into_iter().filter(|s| s.memory.plateau.is_none()).collect();
    for sample in unread.iter().filter(|sample| sample.memory.peak_bytes.is_some()).take(1) {
        text.push_str(&format!(
            "\nNo plateau. The first such run: peak {}, peak RSS {}, CPU time {}, wall time {}.\n",
            sample.memory.peak_bytes.map(units::bytes).unwrap_or_default(),
            sample.memory.rss_peak_bytes.map_or("unknown".to_owned(), units::bytes),
            sample.cpu.total_s().map_or("unknown".to_owned(), units::seconds),
            sample.time.wall_s.map_or("unknown".to_owned(), units::seconds),
        ));
    }
    if !options.takes_tasks {
        text.push_str(
            "\nMeasured as it is. To learn the cost per task, use {tasks} in the command, or --connect.\n",
        );
    }
    text
}
