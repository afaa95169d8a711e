//! Time that passed between two events, where both say when they happened.

use antiphon_event::Timestamp;

/// Milliseconds from one moment to another; 0 if the clock went backwards.
pub(crate) fn lapse(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<u64> {
    let passed = to?.millis().saturating_sub(from?.millis());
    Some(u64::try_from(passed).unwrap_or(0))
}
