//! Decisions for servers: clients connect, idle, send as fast as they can, send at given rates, and disconnect.

use super::{Action, RunView};
use crate::PlateauFrom;
use taskscale_load::{Begin, CLOSED_LOOPS, StageResult, rates};

impl RunView<'_> {
    /// After memory was read with all clients connected, each sends its first message, so that connections
    /// allocate their buffers.
    pub(super) fn begins_first_messages(&self) -> Option<Action> {
        let serve = self.spec.scenario.serve()?;
        let all = self.state.load_alive().is_some_and(|alive| alive >= self.spec.tasks);
        let to_come = serve.order.client.is_some() && self.state.begun.is_empty();
        (to_come && all).then_some(Action::Begin(Begin::First))
    }

    /// Waits for first messages in flight. When all have arrived, a new plateau begins.
    pub(super) fn first_messages(&self) -> Option<Action> {
        let state = self.state;
        let under_way = matches!(state.begun[..], [(Begin::First, _)]) && state.first_plateau_ns.is_none();
        under_way.then(|| {
            match state.load.stages.iter().any(|stage| matches!(stage, StageResult::First(_))) {
                true => Action::BeginPlateau { since_ns: self.now, from: PlateauFrom::LoadLine },
                false => Action::Wait(self.tick_s()),
            }
        })
    }

    /// After the plateau: begins the next stage when the previous one is over.
    pub(super) fn advance_clients(&self) -> Action {
        let state = self.state;
        let Some(serve) = self.spec.scenario.serve() else { return Action::Stop };
        if state.plateau_end.is_none() {
            // With fewer connections than N, results of the load would not describe N.
            let few = state.load_alive().is_some_and(|alive| alive < self.spec.tasks);
            return if few { Action::Stop } else { Action::EndPlateau };
        }
        if state.stages_over.is_some() {
            return Action::Stop;
        }
        let begun = state.begun.iter().filter(|(begin, _)| *begin != Begin::First).count();
        let over = state.load.loops().count();
        if over < begun {
            return Action::Wait(self.tick_s());
        }
        if over < CLOSED_LOOPS {
            return Action::Begin(Begin::Closed);
        }
        let capacity = state.load.loops().rev().find_map(|stage| match stage {
            StageResult::Closed(closed) => Some(closed.per_s),
            _ => None,
        });
        let rates = rates(serve.order.rate, capacity.unwrap_or_default());
        rates.get(over - CLOSED_LOOPS).map_or(Action::EndStages, |per_s| Action::Begin(Begin::Open(*per_s)))
    }
}
