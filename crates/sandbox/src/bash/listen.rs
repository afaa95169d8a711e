//! [`Listener`]: takes in what a program prints, as long as it prints.

use std::sync::Arc;

use antiphon_event::StreamName;
use antiphon_port::Progress;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdout};

use super::live::Live;
use super::output::Output;

/// How many bytes are read at once.
const PIECE: usize = 64 * 1024;

/// Keeps what a program prints, and passes it on.
pub(super) struct Listener {
    streams: Streams,
    live: Live,
}

impl Listener {
    /// Listens to a program; `kept` is how many bytes of both ends of each stream are kept.
    pub(super) fn new(child: &mut Child, progress: Arc<dyn Progress>, kept: usize) -> Self {
        let streams = Streams {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            printed: Output::new(kept),
            complained: Output::new(kept),
            buffers: [vec![0; PIECE], vec![0; PIECE]],
        };
        Self { streams, live: Live::new(progress) }
    }

    /// Listens until both streams have ended. May be dropped and called again: nothing that was read is lost.
    pub(super) async fn listen(&mut self) {
        while self.streams.are_open() {
            tokio::select! {
                () = self.live.is_due() => self.live.say().await,
                (stream, bytes) = self.streams.read() => self.live.push(&stream, bytes),
            }
        }
        self.live.say().await;
    }

    /// Takes in what is left once everything has ended, however slow those are that it is passed on to.
    pub(super) async fn drain(&mut self) {
        while self.streams.are_open() {
            let (stream, bytes) = self.streams.read().await;
            self.live.push(&stream, bytes);
        }
        self.live.say().await;
    }

    /// What was printed, for the model: about so many bytes.
    pub(super) fn printed(&self, bytes_max: usize) -> String {
        let Streams { printed, complained, .. } = &self.streams;
        if printed.total() + complained.total() == 0 {
            return "(it printed nothing)".to_owned();
        }
        // Each has half of the room, and what the other does not need.
        let left = |other: &Output| {
            let needed = usize::try_from(other.total()).unwrap_or(usize::MAX);
            bytes_max - needed.min(bytes_max / 2)
        };
        let sections = [("stdout", printed, left(complained)), ("stderr", complained, left(printed))];
        let said = sections.iter().filter(|(_, output, _)| output.total() > 0);
        said.map(|(name, output, room)| format!("{name}:\n{}", output.render(*room).trim_end_matches('\n')))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Both streams of a program, and what is kept of them.
struct Streams {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    printed: Output,
    complained: Output,
    buffers: [Vec<u8>; 2],
}

impl Streams {
    fn are_open(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    /// Reads a piece of either; an empty one when one of them ends.
    async fn read(&mut self) -> (StreamName, &[u8]) {
        let [out, err] = &mut self.buffers;
        tokio::select! {
            count = read(&mut self.stdout, out) => {
                self.printed.push(&out[..count]);
                (StreamName::Stdout, &out[..count])
            }
            count = read(&mut self.stderr, err) => {
                self.complained.push(&err[..count]);
                (StreamName::Stderr, &err[..count])
            }
        }
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
