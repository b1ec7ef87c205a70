//! Progress on standard error: a bar on a terminal, else a line per run.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::{Level, WIDEST, color, emit, message, mode, printable, width_of};
use super::results_ticker::ResultsTicker;
use crate::campaign::{CampaignObserver, PlannedRun};
use crate::catalog::Program;
use crate::document::{Bars, RenderOptions};
use crate::record::{BuildState, Campaign, Event, Sample, Status};
use crate::units;
use taskscale_measure::Scenario;

/// Shows the progress of a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    position: (usize, usize),
    /// On a terminal, while runs are measured.
    ticker: Option<ResultsTicker>,
}

impl Progress {
    pub fn new(quiet: bool) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        // Lines of `--verbose` and `--json` would break a bar.
        let bar = (terminal && !quiet && !mode().json && !mode().verbose).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The template is a valid constant.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        Progress { bar, quiet, position: (0, 0), ticker: None }
    }

    /// Shows live results above the bar. Without a bar, it has no effect.
    pub fn watch(&mut self, campaign: &Campaign) {
        self.ticker = self.bar.is_some().then(|| ResultsTicker::of(campaign));
    }

    /// Prints a line that stays.
    pub fn print_message(&self, line: &str) {
        let line = printable(line);
        match (&self.bar, self.quiet) {
            (_, true) => {}
            (Some(bar), _) => bar.println(line),
            (None, _) => message(Level::Info, &line),
        }
    }

    /// Hides the bar while `work` prints.
    pub fn suspended<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }

    pub fn building(&self, program: &Program, position: usize, all: usize) {
        let (entry, workload) = (program.entry.full_name.clone(), Some(program.workload.name.clone()));
        let state = BuildState::Started;
        emit(Event::Build { entry, workload, state, command: None, version: None, reason: None });
        if mode().json {
            return;
        }
        self.show(&format!("building {} ({position} of {all})", program.name()));
    }

    pub fn checking(&self, name: &str, position: usize, all: usize) {
        self.show(&format!("checking {name} ({position} of {all})"));
    }

    /// Shows the current step, until the next one.
    pub fn show(&self, message: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(printable(message));
                bar.tick();
            }
            None => self.print_message(message),
        }
    }

    /// Shows the current step, on a bar only.
    pub fn show_if_bar(&self, message: &str) {
        if self.bar.is_some() {
            self.show(message);
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// An estimated time, without decimals.
pub(super) fn time_left(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..90 => format!("{seconds} s"),
        90..3600 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

impl CampaignObserver for Progress {
    fn warm_up(&mut self, entry: &str) {
        emit(Event::WarmUp { entry: entry.to_owned() });
        self.show_if_bar(&format!("warming up {entry}"));
    }

    fn run_begins(
        &mut self,
        run: &PlannedRun,
        scenario: &Scenario,
        attempt: u32,
        done: usize,
        all: usize,
        left_s: f64,
    ) {
        let cell = &run.cell;
        self.position = (done + 1, all);
        emit(Event::RunStarted {
            entry: cell.entry.clone(),
            workload: cell.part.workload.clone(),
            tasks: cell.tasks,
            repetition: run.repetition,
            attempt,
            hold_s: scenario.hold_s(),
            operations: scenario.work().map(|work| work.operations),
            done: done as u64,
            runs: all as u64,
            left_s,
        });
        let Some(bar) = &self.bar else { return };
        if bar.length().is_none() {
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len}  {wide_msg}") {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar.set_length(all as u64);
        }
        bar.set_position(done as u64);
        let (told, again) = match scenario {
            Scenario::Work(work) => {
                (format!(", {} operations", units::grouped(work.operations)), ", again with more of them")
            }
            // A program without a wait is observed as long as needed.
            _ if scenario.hold_s() == 0.0 => (String::new(), ""),
            _ => (format!(", wait {} s", scenario.hold_s()), ", again with a longer wait"),
        };
        let again = if attempt > 1 { again } else { "" };
        let (left, tasks) = (time_left(left_s), units::count(cell.tasks));
        self.show(&format!("{left} left · {}, {} × {tasks}{told}{again}", cell.part, cell.entry));
    }

    fn run_ended(&mut self, sample: &Sample, seen: &[Sample]) {
        if mode().json {
            return emit(Event::RunEnded { sample: Box::new(sample.clone()) });
        }
        let (done, all) = self.position;
        if let (Some(bar), Some(ticker)) = (&self.bar, &mut self.ticker) {
            let stderr = std::io::stderr();
            let (width, color) = (width_of(&stderr).unwrap_or(80).min(WIDEST), color(&stderr));
            let options = RenderOptions { width, color, bars: Bars::Blocks };
            ticker.tell(sample, seen, options).iter().for_each(|line| bar.println(line));
            return bar.set_position(done as u64);
        }
        let again = if sample.attempt > 1 { format!(", attempt {}", sample.attempt) } else { String::new() };
        let name = format!("{} × {}{again}", sample.entry, units::count(sample.tasks));
        let worked = sample.work.as_ref().and_then(|work| Some((work, work.wall_s?)));
        let line = match (sample.status, &sample.memory.plateau, worked) {
            (Status::Ok, _, Some((work, wall_s))) => {
                let (operations, time) = (units::grouped(work.operations), units::seconds(wall_s));
                format!("[{done}/{all}] {} of {name}: {operations} operations in {time}", sample.series())
            }
            (Status::Ok, Some(plateau), _) => format!(
                "[{done}/{all}] {name}: {}, launch {}",
                units::bytes(plateau.footprint_bytes),
                sample.time.launch_s.map(units::seconds).unwrap_or_default()
            ),
            (status, ..) => {
                let reason = sample.reason.as_deref().unwrap_or("unknown reason");
                format!("[{done}/{all}] {name}: {status}: {reason}")
            }
        };
        self.print_message(&line);
    }
}
