//! Delivery faults: events that are lost, repeated, or out of order.

use deadloop_detect::Fault;
use deadloop_repair::meaning::Delivery;

use super::DamageRng;

/// A damaged sequence of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedEvents {
    /// Damaged events.
    pub events: Vec<Delivery>,
    /// Index of the first event that differs from the intact sequence. `None` if nothing changed.
    pub onset: Option<u64>,
}

/// Damages a sequence of events. `severity` is 0 to 3, and higher values count as 3. Faults of text have no effect.
pub fn damage_events(fault: Fault, severity: u8, seed: u64, intact: &[Delivery]) -> DamagedEvents {
    let rng = &mut DamageRng::new(fault.name(), seed);
    let mut events = intact.to_vec();
    for _ in 0..severity.min(3) {
        // Faults of delivery do not affect end events.
        let rows = events.iter().filter(|event| !event.done).count();
        if rows == 0 {
            break;
        }
        let at = rng.below(rows);
        match fault {
            Fault::ReplayLost => {
                events.remove(at);
            }
            Fault::ReplayDoubled => {
                let from = at.saturating_sub(rng.below(3));
                let again = events[from..=at].to_vec();
                events.splice(at + 1..at + 1, again);
            }
            Fault::ReplayOrder => {
                let event = events.remove(at);
                let to = (at + 1 + rng.below(3)).min(rows - 1);
                events.insert(to, event);
            }
            _ => {}
        }
    }
    let same = intact
        .iter()
        .zip(&events)
        .take_while(|(a, b)| a == b)
        .count();
    let onset = (intact != events).then_some(same as u64);
    DamagedEvents { events, onset }
}
