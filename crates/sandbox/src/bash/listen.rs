//! [`Listener`]: takes in what a program prints, as long as it prints.

use std::sync::Arc;

use antiphon_event::StreamName;
use antiphon_port::Progress;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};

use super::live::Live;
use super::output::Output;

/// How many bytes are read at once.
const PIECE: usize = 64 * 1024;

/// Both streams of a program.
pub(super) struct Listener {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    printed: Output,
    complained: Output,
    live: Live,
    buffers: Box<[[u8; PIECE]; 2]>,
}

impl Listener {
    pub(super) fn new(
        stdout: Option<ChildStdout>,
        stderr: Option<ChildStderr>,
        progress: Arc<dyn Progress>,
        kept: usize,
    ) -> Self {
        let buffers = Box::new([[0; PIECE]; 2]);
        let [printed, complained] = [kept, kept].map(Output::new);
        Self { stdout, stderr, printed, complained, live: Live::new(progress), buffers }
    }

    /// Listens until both streams have ended. May be dropped and called again: nothing that was read is lost.
    pub(super) async fn listen(&mut self) {
        let [out, err] = &mut *self.buffers;
        while self.stdout.is_some() || self.stderr.is_some() {
            tokio::select! {
                () = self.live.is_due() => self.live.say().await,
                count = read(&mut self.stdout, out) => {
                    self.printed.push(&out[..count]);
                    self.live.push(StreamName::Stdout, &out[..count]);
                }
                count = read(&mut self.stderr, err) => {
                    self.complained.push(&err[..count]);
                    self.live.push(StreamName::Stderr, &err[..count]);
                }
            }
        }
        self.live.say().await;
    }

    /// What was printed, for the model: about so many bytes.
    pub(super) fn printed(&self, bytes_max: usize) -> String {
        if self.printed.total() + self.complained.total() == 0 {
            return "(it printed nothing)".to_owned();
        }
        // Each has half of the room, and what the other does not need.
        let half = bytes_max / 2;
        let needs = |output: &Output| usize::try_from(output.total()).unwrap_or(usize::MAX);
        let left = |other: usize| bytes_max - other.min(half);
        let (out, err) = (needs(&self.printed), needs(&self.complained));
        let sections = [("stdout", &self.printed, left(err)), ("stderr", &self.complained, left(out))];
        let said = sections.iter().filter(|(_, output, _)| output.total() > 0);
        said.map(|(name, output, room)| format!("{name}:\n{}", output.render(*room).trim_end_matches('\n')))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Reads a piece; a stream that has ended is gone, and one that is gone says nothing for ever.
async fn read(stream: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> usize {
    let Some(open) = stream else { return std::future::pending().await };
    let count = open.read(buffer).await.unwrap_or(0);
    if count == 0 {
        *stream = None;
    }
    count
}
