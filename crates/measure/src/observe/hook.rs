//! What an embedding program may read of a run besides its measurement.

/// Called with the run's processes right after each reading of its memory at the plateau. What it does takes from the
/// plateau's time.
pub type OnReading = Box<dyn FnMut(&[u32])>;
