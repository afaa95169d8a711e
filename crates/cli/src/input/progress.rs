//! [`Progress`]: how far the reading is, for a person who waits.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::is_drawable;

/// Input shorter than this is read before anybody could look.
const LONG_BYTES: u64 = 32 * 1024 * 1024;
/// Time after which a person wonders.
const LONG_TIME: Duration = Duration::from_secs(1);

/// A bar on standard error that appears only in a terminal and only when it takes long.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    total: Option<u64>,
    bytes: u64,
    started: Instant,
}

impl Progress {
    /// Shows nothing.
    pub(super) fn none() -> Self {
        Self { bar: None, total: None, bytes: 0, started: Instant::now() }
    }

    /// For an input of so many bytes, where that is known.
    pub(super) fn new(total: Option<u64>) -> Self {
        let bar = is_drawable().then(|| ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()));
        Self { bar, total, ..Self::none() }
    }

    /// Notes that so many more bytes were read, and so many events in all.
    pub(super) fn advance(&mut self, bytes: u64, events: u64) {
        self.bytes += bytes;
        let Some(bar) = &self.bar else {
            return;
        };
        let late = self.started.elapsed();
        if bar.is_hidden() {
            let long = self.total.is_some_and(|total| total > LONG_BYTES) || late > LONG_TIME;
            if !long {
                return;
            }
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.set_style(style(self.total.is_some()));
        }
        bar.set_position(self.bytes);
        let rate = events as f64 / late.as_secs_f64().max(0.001);
        bar.set_message(format!("{} events, {}/s", grouped(events), grouped(rate as u64)));
    }

    /// Writes something else to standard error without tearing the bar.
    pub(super) fn above(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(bounded: bool) -> ProgressStyle {
    let template = if bounded {
        "{bar:30.cyan/dim} {binary_bytes} of {binary_total_bytes}  {msg}  {eta} left"
    } else {
        "{spinner:.cyan} {binary_bytes}  {msg}  {elapsed}"
    };
    ProgressStyle::with_template(template).expect("the templates above are well formed").progress_chars("━╸─")
}

/// A number with its thousands set apart.
fn grouped(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}
