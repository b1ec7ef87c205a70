//! `taskscale load`: clients of a running server, here or on another machine.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use taskscale_load::{self as load, Client, LoadOrder, OpenLoad};

use super::args::{Global, LoadArgs, ProtocolArg};
use super::failure::{CliResult, OrUsage, SUCCESS, exit_code};
use super::output::print_result;
use crate::units;

/// Minimum bytes of a chat message: its sender and its number.
const MIN_CHAT_BYTES: u32 = 16;
/// The time limit of a connection to one of several addresses.
const TRY: Duration = Duration::from_secs(5);

pub fn run(args: &LoadArgs, global: &Global) -> CliResult {
    let order = order(args).or_usage()?;
    let obeyed = match args.share {
        Some(first) => Some(load::run_shard(&order, first)),
        None => (args.stepwise || args.protocol == ProtocolArg::Hold).then(|| load::run_stepwise(&order)),
    };
    match obeyed {
        Some(Ok(())) => return Ok(SUCCESS),
        // The caller is taskscale, which quotes the last line.
        Some(Err(error)) if args.protocol != ProtocolArg::Hold => {
            eprintln!("{error}");
            return Ok(exit_code(true));
        }
        Some(Err(error)) => return Err(error.into()),
        None => {}
    }
    let seen = load::run(&order)?;
    print_result(&if global.json { serde_json::to_string(&seen)? + "\n" } else { text(&order, &seen) })?;
    let all = seen.connected == order.connections as u64;
    let measured = order.client.is_none()
        || seen.open.as_ref().is_some_and(|open| open.messages > 0 && open.is_reached());
    Ok(exit_code(!all || !measured))
}

fn order(args: &LoadArgs) -> Result<LoadOrder> {
    let address = reachable(&args.connect)?;
    let connections = units::parse_count(&args.connections).map_err(|error| anyhow!("-n: {error}"))?;
    let &LoadArgs { size, room, rate, open_s, active, closed_s, .. } = args;
    let seconds_and_rate = [("--rate", rate.unwrap_or(1.0)), ("--open-s", open_s), ("--closed-s", closed_s)];
    for (name, value) in seconds_and_rate {
        anyhow::ensure!(value.is_finite() && value > 0.0, "{name} {value}: must be above 0");
    }
    // One of several processes may have no active connection.
    anyhow::ensure!(active > 0 || args.share.is_some(), "--active 0: must be at least 1");
    let client = match args.protocol {
        ProtocolArg::Hold => None,
        ProtocolArg::Echo => Some(Client::Echo),
        ProtocolArg::Chat => Some(Client::Chat),
    };
    let least = client == Some(Client::Chat) && size < MIN_CHAT_BYTES;
    anyhow::ensure!(!least, "--size {size}: must be at least {MIN_CHAT_BYTES} for chat");
    let (connections, size, room) = (usize::try_from(connections)?, size as usize, room as usize);
    let elsewhere = None;
    Ok(LoadOrder { elsewhere, client, address, connections, size, room, rate, open_s, active, closed_s })
}

/// The first address of the server that accepts a connection; a name may have several.
fn reachable(server: &str) -> Result<SocketAddr> {
    let unknown = || format!("--connect {server}: unknown address (expected HOST:PORT)");
    let addresses: Vec<SocketAddr> = server.to_socket_addrs().with_context(unknown)?.collect();
    match addresses.as_slice() {
        [] => Err(anyhow!("--connect {server}: unknown address")),
        // The first connection tests it.
        [only] => Ok(*only),
        [first, ..] => {
            let reached = |address: &&SocketAddr| TcpStream::connect_timeout(address, TRY).is_ok();
            Ok(*addresses.iter().find(reached).unwrap_or(first))
        }
    }
}

/// The results as text.
fn text(order: &LoadOrder, seen: &load::Load) -> String {
    let (count, rate) = (units::grouped, |per_s: f64| units::significant(per_s, 4));
    let (connected, all) = (count(seen.connected), count(order.connections as u64));
    let mut text = format!("connected  {connected} of {all} in {}\n", units::seconds(seen.connect_s));
    if let Some(closed) = &seen.closed {
        let at_least = if closed.is_client_limited() { "≥ " } else { "" };
        let (per_s, active) = (rate(closed.per_s), count(closed.active));
        let load = format!("{at_least}{per_s} messages/s, one in flight on each of {active} connections");
        let cpus = units::decimal(closed.client_cpu_share.unwrap_or(0.0), 2);
        text.push_str(&format!("closed     {load}; clients used {cpus} CPUs\n"));
    }
    for open in &seen.curve {
        let (achieved, offered) = (rate(open.achieved_per_s), rate(open.offered_per_s));
        let (messages, deliveries) = (count(open.messages), count(open.deliveries));
        let load =
            format!("{achieved} of {offered} messages/s ({messages} messages, {deliveries} deliveries)");
        text.push_str(&format!("open       {load}; {}\n", latency(open)));
    }
    text
}

/// Latency of an open loop, or why there is none.
fn latency(open: &OpenLoad) -> String {
    let us = |value: f64| units::significant(value, 3);
    if !open.is_reached() {
        return "no latency: rate not reached".to_owned();
    }
    match open.latency() {
        Some(late) => {
            let quantiles = [
                ("p50", late.p50),
                ("p90", late.p90),
                ("p99", late.p99),
                ("p99.9", late.p999),
                ("max", late.max),
            ];
            let shown = quantiles.map(|(name, value)| format!("{name} {} µs", us(value)));
            format!("{} (from the scheduled send time)", shown.join(", "))
        }
        None if open.messages == 0 => "no latency: no message was scheduled".to_owned(),
        None => {
            let late = us(open.client_late_us.unwrap_or(0.0));
            format!("no latency: clients sent {late} µs late (p99)")
        }
    }
}
