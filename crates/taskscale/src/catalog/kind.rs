//! The classes of entries besides their kind: style, fan-out, and how `taskscale explain` asks them.
//! Comparisons group by the first two.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// Whether an entry is written as users of the language would write it, or tuned for the benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Style {
    #[default]
    Idiomatic,
    Tuned,
}

/// How a chat server sends a message to the other members of a room. The designs differ in memory and CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FanOut {
    /// A queue and a writer per member.
    Queue,
    /// The sender's task writes to each member's socket.
    Direct,
    /// The library's own broadcast.
    Library,
}

/// How `taskscale explain` asks a runtime or an allocator about its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Adapter {
    /// Asks nothing: shows only mappings and kernel memory.
    None,
    Beam,
    Cpython,
    Dotnet,
    Go,
    Jvm,
    Malloc,
    V8,
}

named!(Style, FanOut, Adapter);
