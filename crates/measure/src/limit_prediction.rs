//! Limit prediction: which limit a case will hit, before it runs. Pure.

use crate::Kind;
use crate::LimitHit;
use crate::units::grouped;

use super::connections::ConnectionLimits;
use super::limits::SystemLimits;

/// A limit that a case will hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredictedLimit {
    pub limit: LimitHit,
    /// Most tasks that it leaves room for.
    pub room: u64,
    /// Whether it is certain: some limits bind some runtimes sooner than others.
    pub sure: bool,
    pub sentence: String,
    /// How to raise it.
    pub remedy: Option<String>,
}

impl SystemLimits {
    /// The first limit that `tasks` of this kind, all alive at once, will hit.
    pub fn predicted_limit(&self, kind: Kind, tasks: u64) -> Option<PredictedLimit> {
        let threads = self.exceeds_limit(kind, tasks).map(|room| {
            let sentence = format!("{} = {}{}", room.limit.name, room.limit.value, room.why());
            PredictedLimit { limit: room.limit, room: room.room, sure: true, sentence, remedy: room.remedy }
        });
        let areas = self.mapping_headroom().filter(|_| kind == Kind::Thread);
        let areas = areas.filter(|(rooms, _)| tasks > *rooms.start()).map(|(rooms, (limit, remedy))| {
            let sentence = format!(
                "{} = {}: room for {} to {} threads (4 or 2 memory mappings each)",
                limit.name,
                limit.value,
                grouped(*rooms.start()),
                grouped(*rooms.end())
            );
            PredictedLimit { limit, room: *rooms.end(), sure: tasks > *rooms.end(), sentence, remedy }
        });
        threads.into_iter().chain(areas).min_by_key(|predicted_limit| predicted_limit.room)
    }
}

impl ConnectionLimits {
    /// The limit that a server of that many connections will hit.
    pub fn predicted_limit(&self, connections: u64) -> Option<PredictedLimit> {
        let (name, value) = match self.raises_hard_limit {
            true => ("fs.nr_open", self.most_open_files?),
            false => ("ulimit -Hn", self.open_files_hard?),
        };
        if connections < value {
            return None;
        }
        Some(PredictedLimit {
            limit: LimitHit { name: name.to_owned(), value, lift: None },
            room: value,
            sure: true,
            sentence: format!("{name} = {value} open files per process (each connection takes one)"),
            remedy: self.obstacles(connections).into_iter().next(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::tests::limits;

    #[test]
    fn threads_are_bounded_by_the_nearest_limit_and_timers_are_not() {
        let of = |tasks| limits().predicted_limit(Kind::Thread, tasks);
        assert_eq!(of(10_000), None);
        // Rust has four mappings a thread, most have two.
        let near = of(20_000).unwrap();
        assert_eq!((near.limit.name.as_str(), near.sure), ("vm.max_map_count", false));
        let far = of(100_000).unwrap();
        assert_eq!((far.limit.name.as_str(), far.room, far.sure), ("kernel.pid_max", 31_544, true));
        assert_eq!(far.limit.lift.as_deref(), Some("sysctl -w kernel.pid_max=4194304"));
        assert_eq!(
            limits().predicted_limit(Kind::Process, 40_000).map(|met| met.limit.name),
            Some("kernel.pid_max".into())
        );
        assert_eq!(limits().predicted_limit(Kind::Timer, 1_000_000), None);
        assert_eq!(SystemLimits::default().predicted_limit(Kind::Thread, 1_000_000), None);
    }

    #[test]
    fn a_server_is_bounded_by_open_files() {
        let limits = ConnectionLimits {
            open_files_hard: Some(4_096),
            most_open_files: Some(1_048_576),
            ..ConnectionLimits::default()
        };
        let met = limits.predicted_limit(10_000).unwrap();
        assert_eq!((met.limit.name.as_str(), met.room), ("ulimit -Hn", 4_096));
        assert!(met.remedy.unwrap().contains("nofile"));
        assert_eq!(limits.predicted_limit(4_000), None);
        let raising = ConnectionLimits { raises_hard_limit: true, ..limits };
        assert_eq!(raising.predicted_limit(10_000), None);
        assert_eq!(
            raising.predicted_limit(2_000_000).map(|met| met.limit.name).as_deref(),
            Some("fs.nr_open")
        );
    }
}
