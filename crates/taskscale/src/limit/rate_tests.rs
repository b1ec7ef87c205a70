//! Whole searches for the highest rate against scripted servers: what they conclude, and in how many runs.

use super::super::answer::{Answer, LimitReport};
use super::super::confirm::SearchStatus;
use super::super::outcome::Purpose;
use super::super::search::tests::{report, search_spec as of_find};
use super::super::search::{NextRun, replay};
use super::super::search_spec::{Find, SearchSpec};
use super::*;
use crate::catalog::Kind;
use crate::document::Format;
use crate::record::{Latency, Load, test_sample};

/// A server that keeps up to a highest rate.
#[derive(Clone, Copy)]
struct SimulatedServer {
    /// The highest rate, in messages per second.
    most: f64,
    /// From this share of `most` on, the p99 latency is above 100 ms.
    late_from: f64,
    /// The standard deviation of `most` from run to run, as a share.
    scatters: f64,
}

const PLAIN: SimulatedServer = SimulatedServer { most: 123_456.0, late_from: 0.95, scatters: 0.0 };
const AT_1K: Find = Find::HighestRate { tasks: 1_000, p99_us: 100_000 };

impl SimulatedServer {
    fn run(&self, next_run: &NextRun, repetition: u32, rng: &mut fastrand::Rng) -> Sample {
        let trial_point = next_run.trial_point;
        let mut sample = test_sample("x/y", trial_point.tasks);
        (sample.workload, sample.repetition) = ("echo".into(), repetition);
        sample.memory.cap_bytes = Some(trial_point.cap_bytes);
        let rate = trial_point.rate_per_s.unwrap();
        sample.params.insert("rate".to_owned(), rate.to_string());
        // Box and Muller.
        let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * rng.f64()).cos();
        let most = self.most * (1.0 + self.scatters * normal);
        let share = rate as f64 / most;
        let p99 = if share < self.late_from { 100.0 / (1.0 - share) } else { 400_000.0 };
        let open = OpenLoad {
            offered_per_s: rate as f64,
            achieved_per_s: (rate as f64).min(most),
            messages: rate * 3,
            deliveries: rate * 3,
            server_cpu_s: Some(rate as f64 * 3.0 * 7e-6),
            share: Some(share),
            latency_us: Some(Latency { p50: 50.0, p99, ..Latency::default() }),
            ..OpenLoad::default()
        };
        if open.achieved_per_s < 0.99 * open.offered_per_s {
            sample.warnings.push(Warning::RateNotReached);
        }
        let load = Load { connected: trial_point.tasks, open: Some(open), ..Load::default() };
        sample.load = Some(Box::new(load));
        sample
    }
}

fn open_of(sample: &mut Sample) -> &mut OpenLoad {
    sample.load.as_mut().unwrap().open.as_mut().unwrap()
}

fn search_spec() -> SearchSpec {
    SearchSpec { rates: Some((1, 10_000_000)), precision: 0.05, most_runs: 24, ..of_find(AT_1K) }
}

/// Runs a search. `change` may alter each run.
fn drive_with(
    search_spec: &SearchSpec,
    server: SimulatedServer,
    seed: u64,
    mut change: impl FnMut(&NextRun, &mut Sample),
) -> Vec<Sample> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut samples: Vec<Sample> = Vec::new();
    while let Some(next_run) = replay(search_spec, Kind::Stackless, &samples).next {
        let mut sample = server.run(&next_run, samples.len() as u32 + 1, &mut rng);
        change(&next_run, &mut sample);
        samples.push(sample);
        assert!(samples.len() < 120, "the search does not end");
    }
    samples
}

fn found(search_spec: &SearchSpec, server: SimulatedServer) -> (LimitReport, Vec<Sample>) {
    let samples = drive_with(search_spec, server, 1, |_, _| {});
    (report(search_spec, &samples), samples)
}

fn answer(search_spec: &SearchSpec, server: SimulatedServer) -> Answer {
    found(search_spec, server).0.answers.remove(0)
}

fn rates(samples: &[Sample]) -> Vec<u64> {
    samples.iter().map(|sample| sample.params["rate"].parse().unwrap()).collect()
}

#[test]
fn rates_double_until_failure_then_narrow_to_the_boundary() {
    let (report, samples) = found(&search_spec(), PLAIN);
    let answer = &report.answers[0];
    assert_eq!(rates(&samples)[..8], [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000]);
    let boundary = PLAIN.most * PLAIN.late_from;
    let rate = answer.rate_per_s.unwrap();
    assert!((rate as f64) < boundary && rate as f64 > boundary * 0.95, "{rate} of {boundary}");
    assert_eq!(
        (answer.state, answer.tasks, answer.by_memory),
        (SearchStatus::Found, Some(1_000), Some(false))
    );
    assert_eq!(answer.limited_by.as_deref(), Some("latency"));
    let fails = answer.fails.as_ref().unwrap();
    assert!(
        fails.trial_point.rate_per_s.unwrap() as f64 >= boundary && answer.width.unwrap() <= 0.05,
        "{answer:#?}"
    );
    let tried = answer.tried.unwrap();
    assert_eq!((tried.trial_point.rate_per_s, tried.held, tried.runs), (Some(rate), 3, 3));
    assert!(answer.sometimes.is_none() && answer.memory_per_task.is_none() && answer.curve.is_empty());
    assert!(answer.runs_of_search <= 15, "{:?}", rates(&samples));
    let at = answer.at_rate.unwrap();
    assert!((at.cpu_us_per_message.unwrap() - 7.0).abs() < 1e-6 && at.latency_p50_us == Some(50.0));
}

#[test]
fn slow_servers_are_searched_below_the_first_rate() {
    for most in [700.0, 40.0, 3.2] {
        let server = SimulatedServer { most, ..PLAIN };
        let answer = answer(&search_spec(), server);
        let (rate, boundary) = (answer.rate_per_s.unwrap() as f64, most * server.late_from);
        assert!(rate < boundary && (rate > boundary * 0.95 || rate > boundary - 2.0), "{rate} of {boundary}");
        assert_eq!(answer.state, SearchStatus::Found);
    }
    let none = answer(&search_spec(), SimulatedServer { most: 0.5, ..PLAIN });
    assert_eq!((none.state, none.rate_per_s), (SearchStatus::NothingHolds, None));
    let all = answer(&search_spec(), SimulatedServer { most: 1e9, ..PLAIN });
    assert_eq!((all.state, all.rate_per_s), (SearchStatus::EverythingHolds, Some(10_000_000)));
}

/// The rate that a server achieved when behind predicts the boundary.
#[test]
fn achieved_rates_of_failed_runs_predict_the_boundary() {
    let server = SimulatedServer { late_from: 0.99, ..PLAIN };
    let (report, samples) = found(&search_spec(), server);
    let answer = &report.answers[0];
    assert!(answer.runs_of_search <= 11, "{:?}", rates(&samples));
    let rate = answer.rate_per_s.unwrap() as f64;
    assert!(rate < server.most && rate > server.most * 0.94, "{rate}");
}

#[test]
fn blurred_boundaries_are_reported() {
    let mut blurred = 0;
    for seed in 0..20 {
        let samples =
            drive_with(&search_spec(), SimulatedServer { scatters: 0.04, ..PLAIN }, seed, |_, _| {});
        let report = report(&search_spec(), &samples);
        let answer = &report.answers[0];
        let Some(rate) = answer.rate_per_s else {
            assert_eq!(answer.state, SearchStatus::Undecided);
            continue;
        };
        assert_eq!((answer.tried.unwrap().held, answer.tried.unwrap().runs), (3, 3));
        assert!(rate as f64 > 0.8 * PLAIN.most && (rate as f64) < 1.05 * PLAIN.most, "{rate}");
        if answer.sometimes.is_some() {
            blurred += 1;
            let table = super::super::render(&report, Format::Table, Default::default());
            assert!(table.contains("no sharp boundary: all runs passed up to"), "{table}");
            let sentence = super::super::sentence(answer, &AT_1K);
            assert!(sentence.contains("messages/s, and some failed from"), "{sentence}");
        }
    }
    assert!(blurred > 0);
}

/// A rate that failed on a busy machine is run again, and does not move the boundary.
#[test]
fn failures_on_a_busy_machine_do_not_count() {
    let mut disturbed = 0;
    let samples = drive_with(&search_spec(), PLAIN, 1, |next_run, sample| {
        if next_run.trial_point.rate_per_s == Some(8_000) && disturbed < 2 {
            disturbed += 1;
            sample.warnings = vec![Warning::MachineBusy];
            open_of(sample).achieved_per_s = 1.0;
        }
    });
    let answer = report(&search_spec(), &samples).answers.remove(0);
    assert!(answer.rate_per_s.unwrap() > 100_000 && answer.sometimes.is_none(), "{answer:#?}");
    assert!(answer.probes.iter().any(|run| run.reason.as_ref().is_some_and(|r| r.contains("inconclusive"))));
}

#[test]
fn runs_are_classified_by_rate_latency_and_status() {
    let next_run =
        NextRun { purpose: Purpose::Search, trial_point: search_spec().trial_point(5_000), again: false };
    let judged = |change: fn(&mut Sample)| {
        let mut sample = PLAIN.run(&next_run, 1, &mut fastrand::Rng::with_seed(1));
        change(&mut sample);
        classify(&sample, 100_000)
    };
    fn p99(sample: &mut Sample, us: f64) {
        open_of(sample).latency_us.as_mut().unwrap().p99 = us;
    }
    assert_eq!(judged(|_| {}), Outcome::Passes);
    assert_eq!(judged(|sample| p99(sample, 99_999.0)), Outcome::Passes);
    assert_eq!(judged(|sample| p99(sample, 100_000.0)).cause(), Some(Cause::Latency));
    assert_eq!(judged(|sample| open_of(sample).achieved_per_s = 4_940.0).cause(), Some(Cause::Rate));
    // Clients at their limit prove nothing about the server.
    let busy = |sample: &mut Sample| {
        (open_of(sample).achieved_per_s, open_of(sample).client_cpu_share) = (4_940.0, Some(0.9));
    };
    assert_eq!(judged(busy).cause(), Some(Cause::Clients));
    let late = |sample: &mut Sample| {
        let from_send = Latency { p99: 200.0, ..Latency::default() };
        open_of(sample).latency_us = None;
        (open_of(sample).latency_from_send_us, open_of(sample).client_late_us) =
            (Some(from_send), Some(150_000.0));
    };
    let Outcome::Fails(Cause::Clients, why) = judged(late) else { panic!("{:?}", judged(late)) };
    assert!(why.contains("the clients sent 150 ms late"), "{why}");
    // A busy machine does not invalidate a pass.
    assert_eq!(judged(|sample| sample.warnings = vec![Warning::MachineBusy]), Outcome::Passes);
    assert_eq!(judged(|sample| sample.load = None).cause(), Some(Cause::Other));
    assert_eq!(judged(|sample| sample.status = Status::Failed).cause(), Some(Cause::Other));
    assert_eq!(judged(|sample| sample.status = Status::KilledOom).cause(), Some(Cause::Memory));
    assert_eq!(judged(|sample| sample.status = Status::TimedOut).cause(), Some(Cause::Time));
    assert_eq!(judged(|sample| sample.status = Status::Limit).cause(), Some(Cause::SystemLimit));
}

/// Interrupted after any run, a search resumes with the same runs.
#[test]
fn interrupted_searches_resume_with_the_same_runs() {
    let samples = drive_with(&search_spec(), SimulatedServer { scatters: 0.02, ..PLAIN }, 3, |_, _| {});
    for (cut, rate) in rates(&samples).into_iter().enumerate() {
        let next_run = replay(&search_spec(), Kind::Stackless, &samples[..cut]).next.unwrap();
        assert_eq!(next_run.trial_point.rate_per_s, Some(rate));
    }
    assert!(replay(&search_spec(), Kind::Stackless, &samples).next.is_none());
    let other = SearchSpec { find: Find::HighestRate { tasks: 1_000, p99_us: 50_000 }, ..search_spec() };
    let refused = search_spec().check_same(&other, std::path::Path::new("x")).unwrap_err().to_string();
    assert!(
        refused.contains("the highest message rate with p99 below 100 ms over 1k connections"),
        "{refused}"
    );
}

#[test]
fn rates_apply_to_rate_searches_only() {
    let mut sample = test_sample("x/y", 10);
    sample.params.insert("rate".to_owned(), "5000".to_owned());
    assert_eq!(AT_1K.value(AT_1K.trial_point_of(&sample)), 5_000);
    let most = Find::MostTasks { memory_bytes: 1 << 20 };
    let trial_point = most.trial_point_of(&sample);
    assert_eq!((most.value(trial_point), trial_point.rate_per_s), (10, None));
}

#[test]
fn rate_answers_render_as_table_csv_and_json() {
    let shown = |format| super::super::render(&found(&search_spec(), PLAIN).0, format, Default::default());
    insta::assert_snapshot!("highest_rate_table", shown(Format::Table));
    insta::assert_snapshot!("highest_rate_csv", shown(Format::Csv));
    let json: serde_json::Value = serde_json::from_str(&shown(Format::Json)).unwrap();
    assert_eq!(json["question"]["find"], "highest-rate");
    assert_eq!(json["answers"][0]["probes"][0]["open"]["offered_per_s"], 1_000.0);
    let nothing = found(&search_spec(), SimulatedServer { most: 0.5, ..PLAIN }).0;
    let table = super::super::render(&nothing, Format::Table, Default::default());
    assert!(table.contains("fails at every rate: "), "{table}");
    let sentence = super::super::sentence(&found(&search_spec(), PLAIN).0.answers[0], &AT_1K);
    assert!(sentence.contains("messages/s over 1k connections, p99 below 100 ms (3 of 3)"), "{sentence}");
}
