//! [`Live`]: what a program prints, passed on while it runs: some times a second, and not without end.

use std::sync::Arc;
use std::time::Duration;

use antiphon_event::{Json, StreamName};
use antiphon_port::Progress;
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use super::output::whole_start;

/// How long pieces are collected before they are passed on, at first; twice as long after so many pieces, then three
/// times, so that a program that prints for hours makes some thousands of them.
const PAUSE: Duration = Duration::from_millis(50);
const PIECES: u32 = 100;
/// How many bytes are passed on at once.
const PIECE_MAX: usize = 4 * 1024;
/// How many bytes are passed on in all.
const TOTAL_MAX: usize = 256 * 1024;

/// Collects and passes on.
pub(super) struct Live {
    progress: Arc<dyn Progress>,
    pending: [Pending; 2],
    /// When the next pieces may be passed on.
    next: Instant,
    /// How many bytes may still be.
    left: usize,
    /// How many pieces were passed on.
    said: u32,
}

struct Pending {
    stream: StreamName,
    bytes: Vec<u8>,
    /// How many bytes came and were left out.
    skipped: usize,
}

impl Live {
    pub(super) fn new(progress: Arc<dyn Progress>) -> Self {
        let pending = [StreamName::Stdout, StreamName::Stderr];
        let pending = pending.map(|stream| Pending { stream, bytes: Vec::new(), skipped: 0 });
        Self { progress, pending, next: Instant::now(), left: TOTAL_MAX, said: 0 }
    }

    /// Takes in a piece.
    pub(super) fn push(&mut self, stream: &StreamName, bytes: &[u8]) {
        for pending in self.pending.iter_mut().filter(|pending| pending.stream == *stream) {
            let room = PIECE_MAX.saturating_sub(pending.bytes.len()).min(bytes.len());
            pending.bytes.extend_from_slice(&bytes[..room]);
            pending.skipped += bytes.len() - room;
        }
    }

    /// Waits until there is something to pass on and it is time to.
    pub(super) async fn is_due(&self) {
        if self.left == 0 || self.pending.iter().all(|pending| pending.whole() == 0) {
            std::future::pending::<()>().await;
        }
        sleep_until(self.next).await;
    }

    /// Passes on what was collected, but for a character of which only a part has come.
    pub(super) async fn say(&mut self) {
        self.next = Instant::now() + PAUSE * (1 + self.said / PIECES);
        for pending in &mut self.pending {
            let whole = pending.whole();
            if self.left > 0 && whole > 0 {
                let content = pending.take(whole, &mut self.left);
                self.said += 1;
                self.progress.say(content).await;
            }
        }
    }
}

impl Pending {
    /// How many bytes can be passed on: what a part of a character waits for is not skipped.
    fn whole(&self) -> usize {
        if self.skipped > 0 { self.bytes.len() } else { whole_start(&self.bytes).len() }
    }

    fn take(&mut self, count: usize, left: &mut usize) -> Json {
        let rest = self.bytes.split_off(count);
        let bytes = std::mem::replace(&mut self.bytes, rest);
        *left = left.saturating_sub(bytes.len());
        let mut said = vec![String::from_utf8_lossy(&bytes).into_owned()];
        if self.skipped > 0 {
            said.push(format!("\n… ({} bytes not shown)\n", std::mem::take(&mut self.skipped)));
        }
        if *left == 0 {
            said.push("\n… (no more is shown while it runs)\n".to_owned());
        }
        json!({"stream": self.stream.as_str(), "text": said.concat()}).into()
    }
}
