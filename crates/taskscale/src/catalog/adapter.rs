//! What `taskscale explain` asks of a program's memory.

use serde::Deserialize;
use strum::{IntoStaticStr, VariantArray};

/// What asks a runtime or an allocator what it does with its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Adapter {
    /// Nothing is asked: mappings and kernel memory alone.
    None,
    Beam,
    Cpython,
    Dotnet,
    Go,
    Jvm,
    Malloc,
    V8,
}

named!(Adapter);
