//! How often `compare --fail-above 5%` passes, fails and is undecided, by scatter and true change:
//! `cargo bench -p taskscale --bench operating_curve`, with `-- --chart FILE` for the chart of docs/reference/compare.md as well.
//!
//! Campaigns are made of seeded noise, so the table is always the same, and are compared as the command does.
//! Fails if a bound of docs/reference/compare.md is broken.

use std::error::Error;
use std::fmt::Write as _;

use serde_json::json;
use taskscale::catalog::Shape;
use taskscale::compare::{CompareSettings, ComparedMetric, Comparison, Decision, Input};
use taskscale::metrics;
use taskscale::record::{Campaign, Sample};

const PAIRS: usize = 200;
const REPETITIONS: [u32; 2] = [3, 5];
const SCATTER: [f64; 4] = [0.005, 0.01, 0.02, 0.05];
const CHANGES: [f64; 5] = [0.0, 0.03, 0.06, 0.12, 1.0];
const CASES: [usize; 2] = [1, 20];
const THRESHOLD: f64 = 0.05;

const BASE_BYTES: f64 = 20_971_520.0;
const BYTES_PER_TASK: f64 = 6_000.0;

/// The parameters of simulated campaigns.
#[derive(Clone, Copy)]
struct CurveSetting<'a> {
    repetitions: u32,
    /// Standard deviation of each footprint, as a share of it.
    scatter: f64,
    /// Additional memory of the first entry, as a share.
    change: f64,
    cases: usize,
    tasks: &'a [u64],
    /// Whether the change applies to the first entry's whole footprint, and only at the largest N.
    only_largest: bool,
}

/// How many of [`PAIRS`] pass, fail and are undecided.
type Ends = [usize; 3];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` also runs every bench.
    if arguments.iter().any(|argument| argument == "--test") {
        return Ok(());
    }
    let mut curve = Vec::new();
    for (repetitions, cases) in REPETITIONS.into_iter().flat_map(|r| CASES.map(|cases| (r, cases))) {
        for scatter in SCATTER {
            for change in CHANGES {
                let tasks = &[1, 10_000, 100_000];
                let setting =
                    CurveSetting { repetitions, scatter, change, cases, tasks, only_largest: false };
                curve.push((setting, ends(setting)?));
            }
        }
    }
    println!("{}", table(&curve));
    println!("{}", earlier_pairs()?);
    if let Some(file) = arguments.iter().skip_while(|word| *word != "--chart").nth(1) {
        std::fs::write(file, chart(&curve))?;
    }
    let broken: Vec<String> = curve.iter().filter_map(|(setting, ends)| broken(*setting, *ends)).collect();
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n").into()) }
}

/// How this setting breaks a bound of docs/reference/compare.md, if it does.
fn broken(setting: CurveSetting, [pass, fail, _]: Ends) -> Option<String> {
    let CurveSetting { repetitions, scatter, change, cases, .. } = setting;
    let percent = |count: usize| 100.0 * count as f64 / PAIRS as f64;
    let (pass, fail) = (percent(pass), percent(fail));
    let of_five = repetitions == 5 && cases == 20;
    let kept = [
        change < 2.0 * THRESHOLD || pass <= 5.0,
        change > 0.0 || fail <= 5.0,
        !(of_five && change == 0.0 && scatter == 0.01) || pass >= 95.0,
        !(of_five && change == 0.06 && scatter == 0.005) || fail >= 90.0,
        !(of_five && change == 0.03 && scatter <= 0.01) || fail <= 5.0,
    ];
    kept.contains(&false).then(|| {
        format!("r = {repetitions}, {cases} cases, scatter {scatter}, {change:+}: {pass}% pass, {fail}% fail")
    })
}

fn ends(setting: CurveSetting) -> Result<Ends, Box<dyn Error>> {
    let mut rng = fastrand::Rng::with_seed(31);
    let settings = CompareSettings {
        series: 1,
        metrics: metrics::compared(Shape::Hold).iter().copied().map(ComparedMetric::from).collect(),
        fail_above: Some(THRESHOLD),
        allow_missing: false,
        across: false,
    };
    let mut ends = [0; 3];
    for _ in 0..PAIRS {
        let base = campaign(&mut rng, CurveSetting { change: 0.0, ..setting })?;
        let new = campaign(&mut rng, setting)?;
        let comparison = Comparison::build(input("base", &base), input("new", &new), &settings)?;
        ends[match comparison.gate() {
            Some(Decision::Pass) => 0,
            Some(Decision::Fail) => 1,
            _ => 2,
        }] += 1;
    }
    Ok(ends)
}

fn input<'a>(folder: &'a str, side: &'a (Campaign, Vec<Sample>)) -> Input<'a> {
    Input { folder, campaign: &side.0, samples: &side.1, entry: None }
}

fn campaign(
    rng: &mut fastrand::Rng,
    setting: CurveSetting,
) -> Result<(Campaign, Vec<Sample>), Box<dyn Error>> {
    let names: Vec<String> = (0..setting.cases).map(|nth| format!("made/entry-{nth:02}")).collect();
    let entries: Vec<_> = names
        .iter()
        .map(|name| {
            json!({"name": name, "title": name, "runtime": "made", "runtime_title": "Made", "url": "u",
                "kind": "stackless", "parallel": true, "style": "idiomatic", "why": "w", "build": [], "run": ["r"]})
        })
        .collect();
    let campaign = serde_json::from_value(json!({
        "schema": 1, "taskscale": "0.1.0", "created_at": "2026-01-02T03:04:05Z", "command": ["taskscale"],
        "machine": {"hostname": "h", "os": "o", "kernel": "k", "architecture": "a", "cpu": "c", "cpus": 2,
            "memory_bytes": 8_000_000_000_u64, "swap_bytes": 0, "page_bytes": 4096, "limits": {}, "warnings": []},
        "plan": {"workload": "sleep", "entries": &names, "tasks": setting.tasks,
            "repetitions": setting.repetitions, "hold": {"rule": "chosen", "plateau_s": 2.0}},
        "plan_digest": "d", "seed": 1, "entries": entries,
    }))?;
    let sample: Sample = serde_json::from_value(json!({
        "schema": 1, "entry": "made/entry-00", "workload": "sleep", "tasks": 1, "hold_s": 3.0, "repetition": 1, "attempt": 1,
        "started_at": "2026-01-02T03:04:05Z", "status": "ok", "alive": 1, "done": 1, "exit_code": 0,
        "plateau_from": "protocol", "command": ["r"], "time": {}, "cpu": {}, "metrics": {}, "warnings": [],
        "memory": {"source": "cgroup-v2", "plateau": {"footprint_bytes": 1, "anon_bytes": 1, "shmem_bytes": 0,
            "file_bytes": 0, "kernel_bytes": 0}},
    }))?;
    let largest = setting.tasks.last().copied().unwrap_or(1);
    let mut samples = Vec::new();
    for (nth, name) in names.iter().enumerate() {
        let change = if nth == 0 { setting.change } else { 0.0 };
        for (repetition, &tasks) in
            (1..=setting.repetitions).flat_map(|r| setting.tasks.iter().map(move |n| (r, n)))
        {
            let of_tasks = BYTES_PER_TASK * tasks as f64;
            let bytes = match setting.only_largest {
                true => (BASE_BYTES + of_tasks) * (1.0 + if tasks == largest { change } else { 0.0 }),
                false => BASE_BYTES + of_tasks * (1.0 + change),
            };
            let mut run = Sample { entry: name.as_str().into(), tasks, repetition, ..sample.clone() };
            run.alive = Some(tasks);
            if let Some(plateau) = &mut run.memory.plateau {
                plateau.footprint_bytes = (bytes * (1.0 + setting.scatter * normal(rng))).max(0.0) as u64;
            }
            samples.push(run);
        }
    }
    Ok((campaign, samples))
}

/// A standard normal value: Box & Muller (1958).
fn normal(rng: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

fn percent(count: usize) -> f64 {
    100.0 * count as f64 / PAIRS as f64
}

fn change_text(change: f64) -> String {
    if change == 0.0 { "identical".to_owned() } else { format!("+{:.0}%", 100.0 * change) }
}

/// Pass and fail in percent. The rest is undecided.
fn table(curve: &[(CurveSetting, Ends)]) -> String {
    let mut text = String::from("| r | cases | scatter |");
    CHANGES.iter().for_each(|change| {
        let _ = write!(text, " {} |", change_text(*change));
    });
    text.push_str("\n| ---: | ---: | ---: |");
    text.push_str(&" ---: |".repeat(CHANGES.len()));
    for row in curve.chunks(CHANGES.len()) {
        let CurveSetting { repetitions, cases, scatter, .. } = row[0].0;
        let _ = write!(text, "\n| {repetitions} | {cases} | {}% |", 100.0 * scatter);
        for (_, [pass, fail, _]) in row {
            let _ = write!(text, " {} / {} |", percent(*pass), percent(*fail));
        }
    }
    text.push('\n');
    text
}

/// Pairs with which an earlier gate was tried, by exit code.
fn earlier_pairs() -> Result<String, Box<dyn Error>> {
    let mut text =
        String::from("| pairs at N = 1, 1k, 5k | exit code 0 | 1 | 3 |\n| --- | ---: | ---: | ---: |\n");
    for (change, scatter, repetitions) in
        [(1.0, 0.2, 3), (0.5, 0.1, 3), (0.06, 0.02, 3), (0.0, 0.005, 5), (0.0, 0.01, 5)]
    {
        let tasks = &[1, 1_000, 5_000];
        let setting = CurveSetting { repetitions, scatter, change, cases: 1, tasks, only_largest: true };
        let [pass, fail, undecided] = ends(setting)?;
        let what = match change {
            0.0 => "identical".to_owned(),
            _ => format!("{} at the largest N", change_text(change)),
        };
        let scatter = 100.0 * scatter;
        let _ = writeln!(
            text,
            "| {what}, {scatter}% scatter, r = {repetitions} | {pass} | {fail} | {undecided} |"
        );
    }
    Ok(text)
}

const BAR: f64 = 14.0;
const GROUP: f64 = 4.0 * BAR + 12.0;
const PANEL: (f64, f64) = (5.0 * GROUP + 20.0, 150.0);
const COLORS: [(&str, &str); 3] = [("fail", "#d1495b"), ("undecided", "#b8bec7"), ("pass", "#2a9d6f")];

/// Stacked bars, one for each scatter, in groups by true change, with a panel for each number of repetitions
/// and cases.
fn chart(curve: &[(CurveSetting, Ends)]) -> String {
    let (width, height) = (2.0 * PANEL.0 + 70.0, 2.0 * (PANEL.1 + 70.0) + 40.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\" role=\"img\" aria-label=\"Operating curve of compare --fail-above 5%\">\n\
         <style>text{{fill:#24292f}}@media(prefers-color-scheme:dark){{text{{fill:#d0d7de}}}}</style>\n"
    );
    for (nth, (name, color)) in COLORS.iter().enumerate() {
        let x = 40.0 + 110.0 * nth as f64;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"8\" width=\"12\" height=\"12\" fill=\"{color}\"/><text x=\"{}\" y=\"18\">{name}</text>",
            x + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"18\" text-anchor=\"end\">bars: scatter 0.5, 1, 2, 5%; share of {PAIRS} pairs</text>",
        width - 20.0
    );
    for (panel, settings) in curve.chunks(SCATTER.len() * CHANGES.len()).enumerate() {
        let left = 40.0 + (PANEL.0 + 10.0) * (panel % 2) as f64;
        let top = 60.0 + (PANEL.1 + 70.0) * (panel / 2) as f64;
        let CurveSetting { repetitions, cases, .. } = settings[0].0;
        let cases = if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases, one changed") };
        let _ = writeln!(
            svg,
            "<text x=\"{left}\" y=\"{}\" font-weight=\"bold\">{repetitions} repetitions, {cases}</text>",
            top - 10.0
        );
        for (position, (setting, [pass, fail, undecided])) in settings.iter().enumerate() {
            let (scatter, change) = (position / CHANGES.len(), position % CHANGES.len());
            let x = left + change as f64 * GROUP + scatter as f64 * BAR;
            let mut y = top;
            for (count, (name, color)) in [fail, undecided, pass].into_iter().zip(COLORS) {
                let tall = PANEL.1 * *count as f64 / PAIRS as f64;
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" fill=\"{color}\">\
                     <title>{}, scatter {}%: {}% {name}</title></rect>",
                    BAR - 2.0,
                    change_text(setting.change),
                    100.0 * setting.scatter,
                    percent(*count)
                );
                y += tall;
            }
            if scatter == 0 {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    x + 2.0 * BAR,
                    top + PANEL.1 + 16.0,
                    change_text(setting.change)
                );
            }
        }
    }
    svg.push_str("</svg>\n");
    svg
}
