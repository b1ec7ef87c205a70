//! What clients saw of a server, and what it took meanwhile: of workloads of the shape `serve`.

use serde::{Deserialize, Serialize};

/// The phases of the clients of a server, as far as they came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Load {
    /// Connections that the server had accepted, and that were ready to talk, at the plateau.
    pub connected: u64,
    /// From the first `connect` until all were, in seconds.
    pub connect_s: f64,
    /// CPU time of all clients over the whole run, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_s: Option<f64>,
    /// Memory of all clients at the plateau, kernel memory included, in bytes: the other end of each connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_bytes: Option<u64>,
    /// Part of it that the kernel holds, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_kernel_bytes: Option<u64>,
    /// All connected, and nobody says anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleLoad>,
    /// Messages at a rate, whether or not the answers to earlier ones have come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenLoad>,
    /// One message in flight on each of some connections: as many as the server and its clients can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<ClosedLoad>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IdleLoad {
    /// CPU time of the server while nobody says anything, in seconds.
    pub cpu_s: f64,
    /// How long that was, in seconds.
    pub seconds: f64,
}

/// The open loop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenLoad {
    /// Messages in a second that were due.
    pub offered_per_s: f64,
    /// Messages in a second that came to all who should have them: by the time from the first to come until 99 of
    /// 100 had, or the loop's where that is longer. Who cannot keep up takes longer.
    pub achieved_per_s: f64,
    /// Messages that were sent, all of which came in the end.
    pub messages: u64,
    /// How often one came: of a message to a room once for each member.
    pub deliveries: u64,
    /// CPU time of the server, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// From the instant at which a message was due to be sent until the last who should have it has.
    pub latency_us: Latency,
    /// The same from the instant at which it was sent.
    pub latency_from_send_us: Latency,
}

/// The closed loop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClosedLoad {
    /// Connections that each had one message in flight at a time.
    pub active: u64,
    pub messages: u64,
    pub deliveries: u64,
    /// Messages in a second.
    pub per_s: f64,
    /// CPU time of the server, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
}

/// Quantiles, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Latency {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}
