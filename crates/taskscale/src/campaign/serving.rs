//! The load of a server and its clients, from the workload and its parameters. Pure.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use taskscale_load::LoadOrder;

use crate::catalog::{Params, Workload, param};
use crate::record::Hold;
use taskscale_measure::{
    BlackBoxCommand, HoldParams, LoadAliveWhen, LoadCommand, Ready, Scenario, ServeParams,
};

/// How long a server may take to become idle once all clients are connected: compilers and garbage collectors
/// keep working for a while.
const SETTLE: Duration = Duration::from_secs(20);
/// Maximum number of clients of an unmeasured run.
const FEW: u64 = 100;
const BRIEFLY_S: f64 = 0.3;

/// All phases, over this many connections.
pub fn serving(workload: &Workload, params: &Params, tasks: u64, hold: Hold) -> Scenario {
    scenario(workload, params, tasks, hold.plateau_s(), (hold.open_s(), hold.closed_s()))
}

/// Few connections, and a moment of each phase.
pub fn serving_briefly(workload: &Workload, tasks: u64) -> Scenario {
    scenario(workload, &Params::new(), tasks.min(FEW), 0.0, (BRIEFLY_S, BRIEFLY_S))
}

/// The shortest phases, over this many connections: tests only whether they fit.
pub fn serving_in_a_moment(workload: &Workload, params: &Params, tasks: u64) -> Scenario {
    scenario(workload, params, tasks, BRIEFLY_S, (BRIEFLY_S, BRIEFLY_S))
}

/// A full open loop at a rate over this many connections, and the shortest other phases: tests whether the
/// server keeps up.
pub fn serving_at_rate(workload: &Workload, params: &Params, tasks: u64, open_s: f64) -> Scenario {
    scenario(workload, params, tasks, BRIEFLY_S, (open_s, BRIEFLY_S))
}

fn scenario(
    workload: &Workload,
    params: &Params,
    tasks: u64,
    plateau_s: f64,
    (open_s, closed_s): (f64, f64),
) -> Scenario {
    // Clients ignore the parameters that their workload lacks.
    let param = |name: &str| param(workload, params, name).unwrap_or(1);
    let order = LoadOrder {
        client: workload.client,
        // The server chooses its port.
        address: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0),
        connections: tasks as usize,
        size: param("size") as usize,
        room: param("room") as usize,
        // 0 means shares of the capacity.
        rate: Some(param("rate") as f64).filter(|rate| *rate > 0.0),
        open_s,
        active: param("active") as usize,
        closed_s,
        elsewhere: None,
    };
    let load = LoadCommand { command: order.command(0), stands: LoadAliveWhen::Alive };
    let command = BlackBoxCommand {
        ready: Ready::Listening,
        load: Some(load),
        settle: SETTLE,
        ..BlackBoxCommand::default()
    };
    Scenario::Serve(Box::new(ServeParams {
        command,
        wait: HoldParams { plateau_s, ..HoldParams::default() },
        order,
    }))
}
