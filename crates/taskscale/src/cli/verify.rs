//! `taskscale verify`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, anyhow, bail};

use super::args::{Global, VerifyArgs};
use super::open::existing_folder;
use super::report::for_standard_output;
use super::{Failure, OrUsage, eprint_status, print_result};
use crate::document::{Column, Document, DocumentRow, Emphasis, NONE, Table, TableCell};
use crate::record::{self, Hold, SCHEMA_VERSION, Series, Timestamp};
use crate::report::{Report, command_line};
use crate::submit::{self, DrawnCase, SubmittedResults, VERIFICATION, Verification, VerifiedCase};
use crate::units;

/// Repetitions of each case.
const REPETITIONS: &str = "3";

pub fn run(args: &VerifyArgs, global: &Global) -> Result<ExitCode, Failure> {
    existing_folder(&args.folder).or_usage()?;
    let SubmittedResults { loaded, checksum_ok, .. } = submit::read(&args.folder).or_usage()?;
    if checksum_ok != Some(true) {
        let error = anyhow!("{} was not submitted, or changed since", args.folder.display());
        return Err(Failure::Usage(error));
    }
    let submitted = Report::of_parts(&loaded.campaign, &loaded.samples);
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let cases = submit::draw(&submitted, seed);
    let classic = matches!(loaded.campaign.plan.hold, Hold::Fixed { .. });
    let series = series(&cases, &args.output, seed, classic);
    eprint_status(&format!(
        "seed {seed}: {} in {}",
        units::counted(cases.len() as u64, "case"),
        args.output.display()
    ));
    if args.dry_run {
        let lines: String = series.iter().map(|of| format!("{}\n", command_line(&of.arguments))).collect();
        print_result(&lines)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut verified = Vec::new();
    for (nth, of) in series.iter().enumerate() {
        eprint_status(&format!("[{}/{}] {} {}", nth + 1, series.len(), of.entry, of.part));
        measure(of, global)?;
        // None if the entry is not installed.
        let measured = record::load(&of.folder).ok();
        let measured =
            measured.map(|again| Report::of_parts(&again.campaign, &again.samples)).unwrap_or_default();
        verified.extend(of.cases.iter().map(|case| submit::judge(case, &submitted, &measured)));
    }
    let verification = Verification {
        schema: SCHEMA_VERSION,
        campaign: loaded.campaign.id.clone(),
        checksum: loaded.campaign.origin.as_ref().map(|origin| origin.checksum.clone()),
        seed,
        verified_at: Timestamp::now(),
        taskscale: env!("CARGO_PKG_VERSION").to_owned(),
        cases: verified,
    };
    let path = args.folder.join(VERIFICATION);
    let text = serde_json::to_string_pretty(&verification).context("the record")? + "\n";
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    match global.json {
        true => print_result(&format!("{:#}\n", serde_json::json!(verification)))?,
        false => print_result(&document(&verification).terminal(for_standard_output()))?,
    }
    eprint_status(&format!("written: {}", path.display()));
    Ok(if verification.is_verified() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Cases of one entry and workload: they are measured together.
struct SeriesToVerify<'a> {
    entry: &'a str,
    part: &'a Series,
    cases: Vec<&'a DrawnCase>,
    folder: PathBuf,
    /// The arguments of `taskscale`.
    arguments: Vec<String>,
}

fn series<'a>(cases: &'a [DrawnCase], output: &Path, seed: u64, classic: bool) -> Vec<SeriesToVerify<'a>> {
    let mut grouped: BTreeMap<(&str, &Series), Vec<&DrawnCase>> = BTreeMap::new();
    for case in cases {
        grouped.entry((&case.entry, &case.part)).or_default().push(case);
    }
    let of = |(nth, ((entry, part), cases)): (usize, ((&'a str, &'a Series), Vec<&'a DrawnCase>))| {
        let folder = output.join(format!("{seed}-{nth}"));
        let mut tasks: Vec<u64> = cases.iter().flat_map(|case| [case.least, case.tasks]).collect();
        tasks.sort_unstable();
        tasks.dedup();
        let tasks = tasks.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let mut arguments: Vec<String> =
            ["run", entry, "-w", &part.workload, "-n", &tasks, "-r", REPETITIONS].map(str::to_owned).into();
        for (name, value) in &part.params {
            arguments.extend(["-p".to_owned(), format!("{name}={value}")]);
        }
        arguments.extend(part.cpus.into_iter().flat_map(|cpus| ["--cpus".to_owned(), cpus.to_string()]));
        arguments.extend(classic.then(|| "--classic".to_owned()));
        arguments.extend(["-o".to_owned(), folder.display().to_string()]);
        SeriesToVerify { entry, part, cases, folder, arguments }
    };
    grouped.into_iter().enumerate().map(of).collect()
}

/// Measures with `taskscale run`, which resumes an earlier call.
fn measure(of: &SeriesToVerify, global: &Global) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("the path of taskscale")?;
    let mut command = Command::new(program);
    command.args(&of.arguments).arg("--quiet").stdout(std::process::Stdio::null());
    for catalog in &global.catalog {
        command.arg("--catalog").arg(catalog);
    }
    let status = command.status().context("start taskscale")?;
    match status.code() {
        // 1: a case failed, as it may have in what was submitted.
        Some(0 | 1) => Ok(()),
        _ => bail!("`taskscale {}` failed ({status})", command_line(&of.arguments)),
    }
}

fn document(verification: &Verification) -> Document {
    let (agree, measured) = verification.agreement();
    let verdict = if verification.is_verified() { "verified" } else { "not verified" };
    let mut document = Document::new(format!("{agree} of {measured} cases agree: {verdict}"));
    let heads = ["entry", "workload"].map(Column::words).into_iter();
    let figures = ["N", "B/task", "again", "launch s", "again"].map(Column::figures);
    let mut table =
        Table::new(heads.chain(figures).chain([Column::words("status"), Column::words("")]).collect());
    table.section("cases").rows = verification.cases.iter().map(row).collect();
    document.table(table);
    document.notes =
        vec!["B/task may differ by 10%, or growth by 64 KiB. Times are not compared.".to_owned()];
    document
}

fn row(case: &VerifiedCase) -> DocumentRow {
    let again = case.measured.as_ref();
    let bytes = |bytes: Option<f64>| bytes.map_or(NONE.to_owned(), |bytes| format!("{bytes:.0}"));
    let seconds =
        |seconds: Option<f64>| seconds.map_or(NONE.to_owned(), |seconds| units::decimal(seconds, 2));
    let status = match again {
        Some(again) if again.status != case.submitted.status => {
            format!("{}, again {}", case.submitted.status, again.status)
        }
        _ => case.submitted.status.clone(),
    };
    let verdict = match (again, case.agrees) {
        (None, _) => TableCell::quiet("not available here"),
        (_, true) => TableCell::Text("agrees".to_owned(), Emphasis::Good),
        (_, false) => TableCell::Text("differs".to_owned(), Emphasis::Bad),
    };
    DocumentRow::of(vec![
        TableCell::Name(case.entry.clone(), Emphasis::Plain),
        TableCell::quiet(&case.workload),
        TableCell::plain(units::count(case.tasks)),
        TableCell::plain(bytes(case.submitted.bytes_per_task)),
        TableCell::plain(bytes(again.and_then(|again| again.bytes_per_task))),
        TableCell::quiet(seconds(case.submitted.launch_s)),
        TableCell::quiet(seconds(again.and_then(|again| again.launch_s))),
        TableCell::plain(status),
        verdict,
    ])
}
