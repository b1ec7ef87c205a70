//! `taskscale load`: clients of a server that somebody else has started, here or on another machine.

use std::net::ToSocketAddrs;
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use super::args::{Global, Load, Talk};
use super::{Failure, OrUsage, print_result};
use crate::catalog::Client;
use crate::load::{self, LoadOrder};
use crate::record;
use crate::units;

/// Of a message in a room: who says it, and which it is.
const LEAST_CHAT: u32 = 16;

pub fn run(args: &Load, global: &Global) -> Result<ExitCode, Failure> {
    let order = order(args).or_usage()?;
    let obeyed = match args.share {
        Some(first) => Some(load::obey_in_share(&order, first)),
        None => (args.stepwise || args.talk == Talk::Hold).then(|| load::obey(&order)),
    };
    match obeyed {
        Some(Ok(())) => return Ok(ExitCode::SUCCESS),
        // Whoever told it to is no person: the last line is what is quoted.
        Some(Err(error)) if args.talk != Talk::Hold => {
            eprintln!("{error}");
            return Ok(ExitCode::FAILURE);
        }
        Some(Err(error)) => return Err(error.into()),
        None => {}
    }
    let seen = load::run(&order)?;
    if global.json {
        print_result(&format!("{}\n", serde_json::to_string(&seen)?))?;
    } else {
        print_result(&told(&order, &seen))?;
    }
    let all = seen.connected == order.connections as u64;
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn order(args: &Load) -> anyhow::Result<LoadOrder> {
    let address = args
        .connect
        .to_socket_addrs()
        .with_context(|| format!("--connect {}: no such address (HOST:PORT)", args.connect))?
        .next()
        .ok_or_else(|| anyhow!("--connect {}: no such address", args.connect))?;
    let connections = units::parse_count(&args.connections).map_err(|error| anyhow!("-n: {error}"))?;
    for (name, value) in [("--rate", args.rate), ("--open-s", args.open_s), ("--closed-s", args.closed_s)] {
        anyhow::ensure!(value.is_finite() && value > 0.0, "{name} {value}: a number above 0");
    }
    anyhow::ensure!(args.active > 0, "--active 0: one connection at least");
    let client = match args.talk {
        Talk::Hold => None,
        Talk::Echo => Some(Client::Echo),
        Talk::Chat => Some(Client::Chat),
    };
    let least = client == Some(Client::Chat) && args.size < LEAST_CHAT;
    anyhow::ensure!(!least, "--size {}: a message in a room has {LEAST_CHAT} bytes at least", args.size);
    Ok(LoadOrder {
        elsewhere: None,
        client,
        address,
        connections: usize::try_from(connections)?,
        size: args.size as usize,
        room: args.room as usize,
        rate: args.rate,
        open_s: args.open_s,
        active: args.active,
        closed_s: args.closed_s,
    })
}

/// For people.
fn told(order: &LoadOrder, seen: &record::Load) -> String {
    let count = |number: u64| units::grouped(number);
    let mut text = format!(
        "connected  {} of {} in {}\n",
        count(seen.connected),
        count(order.connections as u64),
        units::seconds(seen.connect_s)
    );
    if let Some(open) = &seen.open {
        let late = open.latency_us;
        let us = |value: f64| units::significant(value, 3);
        text.push_str(&format!(
            "open loop  {} messages, {} deliveries; {} of {} a second came\n\
             latency    p50 {} µs, p90 {}, p99 {}, p99.9 {}, max {}, from when each was due (from when it was sent: \
             p50 {}, p99 {})\n",
            count(open.messages),
            count(open.deliveries),
            units::significant(open.achieved_per_s, 4),
            units::significant(open.offered_per_s, 4),
            us(late.p50),
            us(late.p90),
            us(late.p99),
            us(late.p999),
            us(late.max),
            us(open.latency_from_send_us.p50),
            us(open.latency_from_send_us.p99),
        ));
    }
    if let Some(closed) = &seen.closed {
        text.push_str(&format!(
            "closed     {} messages a second, one in flight on each of {} connections; {} deliveries\n",
            units::significant(closed.per_s, 4),
            count(closed.active),
            count(closed.deliveries)
        ));
    }
    text
}
