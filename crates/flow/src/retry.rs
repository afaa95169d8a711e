//! Trying again: how often, after which failures, and after how long.
//!
//! In: which attempt failed, with which code, and a dice. Out: whether to try again, and the delay. The dice
//! comes from outside, and the delay it leads to is written into an event.

use std::time::Duration;

/// The longest delay if no cap is given.
pub const CAP: Duration = Duration::from_mins(1);

/// When and how a node that failed is tried again.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// How many attempts may follow the first.
    pub max: u32,
    /// How the delays grow.
    pub backoff: Backoff,
    /// The first delay.
    pub delay: Duration,
    /// The longest delay.
    pub cap: Duration,
    /// The part of a delay that is left to chance, from 0 to 1: with 0.25 it is shortened by up to a quarter.
    pub jitter: f64,
    /// The codes of failures that are tried again; if empty, any.
    pub on: Vec<String>,
}

/// How delays grow from one attempt to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backoff {
    /// `fixed`: always the first delay.
    #[default]
    Fixed,
    /// `linear`: once, twice, three times the first delay.
    Linear,
    /// `exponential`: twice as long each time.
    Exponential,
}

impl Backoff {
    /// Every way.
    pub const ALL: &[Self] = &[Self::Fixed, Self::Linear, Self::Exponential];

    /// The word in a flow file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Linear => "linear",
            Self::Exponential => "exponential",
        }
    }
}

impl Retry {
    /// At once, up to so many times, whatever the failure; delays up to [`CAP`], nothing left to chance.
    pub fn new(max: u32) -> Self {
        Self {
            max,
            backoff: Backoff::default(),
            delay: Duration::ZERO,
            cap: CAP,
            jitter: 0.0,
            on: Vec::new(),
        }
    }

    /// Whether another attempt follows the one of this number, from 1, that failed with this code.
    pub fn allows(&self, attempt: u32, code: &str) -> bool {
        attempt <= self.max && (self.on.is_empty() || self.names(code))
    }

    /// Whether failures with this code are named in `on`.
    pub fn names(&self, code: &str) -> bool {
        self.on.iter().any(|named| named == code)
    }

    /// How long to wait after the attempt of this number, from 1, failed. The dice is in [0, 1).
    ///
    /// ```
    /// use std::time::Duration;
    /// use antiphon_flow::retry::{Backoff, Retry};
    ///
    /// let retry = Retry { backoff: Backoff::Exponential, delay: Duration::from_millis(100), ..Retry::new(3) };
    /// assert_eq!(retry.delay(3, 0.7), Duration::from_millis(400));
    /// ```
    pub fn delay(&self, attempt: u32, dice: f64) -> Duration {
        let steps = attempt.max(1) - 1;
        let times = match self.backoff {
            Backoff::Fixed => 1,
            Backoff::Linear => steps.saturating_add(1),
            Backoff::Exponential => 2_u32.checked_pow(steps).unwrap_or(u32::MAX),
        };
        let full = self.delay.saturating_mul(times).min(self.cap);
        // Not a number and numbers out of range must not reach a duration, which would panic.
        let chance = (self.jitter.clamp(0.0, 1.0) * dice.clamp(0.0, 1.0)).max(0.0);
        full.mul_f64(1.0 - chance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(backoff: Backoff, jitter: f64, dice: f64) -> Vec<u128> {
        let delay = Duration::from_millis(100);
        let cap = Duration::from_millis(500);
        let retry = Retry { backoff, delay, cap, jitter, ..Retry::new(9) };
        [1, 2, 3, 4, 5, 100, u32::MAX].map(|attempt| retry.delay(attempt, dice).as_millis()).into()
    }

    #[test]
    fn delays_grow_up_to_the_cap() {
        for (backoff, expected) in [
            (Backoff::Fixed, [100; 7]),
            (Backoff::Linear, [100, 200, 300, 400, 500, 500, 500]),
            (Backoff::Exponential, [100, 200, 400, 500, 500, 500, 500]),
        ] {
            assert_eq!(delays(backoff, 0.0, 0.9), expected, "{}", backoff.as_str());
        }
    }

    #[test]
    fn chance_shortens_a_delay_and_nothing_odd_breaks_it() {
        assert_eq!(delays(Backoff::Fixed, 0.5, 0.5), [75; 7]);
        assert_eq!(delays(Backoff::Fixed, 1.0, 0.0), [100; 7]);
        assert_eq!(delays(Backoff::Fixed, 7.0, 7.0), [0; 7]);
        assert_eq!(delays(Backoff::Fixed, f64::NAN, 0.5), [100; 7]);
        assert_eq!(delays(Backoff::Fixed, 0.5, f64::NAN), [100; 7]);
    }

    #[test]
    fn only_so_often_and_only_for_what_is_named() {
        let any = Retry::new(2);
        let named = Retry { on: vec!["timeout".into()], ..Retry::new(2) };
        for (retry, attempt, code, allowed) in [
            (&any, 1, "failed", true),
            (&any, 2, "failed", true),
            (&any, 3, "failed", false),
            (&named, 1, "failed", false),
            (&named, 1, "timeout", true),
            (&named, 3, "timeout", false),
        ] {
            assert_eq!(retry.allows(attempt, code), allowed, "{attempt} {code}");
        }
    }
}
