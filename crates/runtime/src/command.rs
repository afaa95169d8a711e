//! Command nodes: a program with its input on stdin, whole before it begins, and its output on stdout.
//!
//! All that the program started ends with it, and with the node: when that is cancelled, times out or the future is
//! dropped. What it may print is bounded.

mod tail;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use antiphon_port::environment;
use antiphon_process::{Group, Room};

use crate::driver::Wake;
use crate::function::Call;
use antiphon_event::secret::Secrets;
use antiphon_event::{ErrorCode, Json};
use antiphon_flow::Command;
use antiphon_flow::function::{Failure, Reply};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio::time::{Instant, sleep_until};

use self::tail::Tail;

/// How many bytes of output a command may give.
const OUTPUT_MAX: usize = 8 * 1024 * 1024;
/// How many bytes of what it writes to stderr are kept: the last ones.
const STDERR_MAX: usize = 4 * 1024;
/// How many bytes of it are told of while it runs.
const PROGRESS_MAX: usize = 256 * 1024;
/// How long pieces of it are collected before they are told of, at first; twice as long after so many pieces, then three
/// times.
const PROGRESS_PAUSE: Duration = Duration::from_millis(50);
const PROGRESS_PIECES: u32 = 100;
/// How long output is waited for once a program has ended.
const LINGER: Duration = Duration::from_secs(2);

/// Runs a command; `json` says whether its output is to be read as JSON.
pub(crate) async fn run(command: Command, call: Call, json: bool) -> Result<Reply, Failure> {
    let program = command.run.first().cloned().unwrap_or_default();
    let given = environment(&command.env).map_err(fail)?;
    let secrets = Secrets::of(given.clone().into_iter().chain(inherited()));
    let _room = place(&call).await;
    let input = antiphon_process::input(call.input.to_text().into_owned().into_bytes()).await;
    let input = input.map_err(|error| fail(format!("`{program}` was not started: {error}")))?;
    let (mut child, group) = spawn(&command, given, input, &call)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let read = async { tokio::join!(read_all(stdout, &group), read_tail(stderr, &call, &secrets)) };
    tokio::pin!(read);
    let (status, (printed, complaint)) = tokio::select! {
        told = &mut read => {
            let status = wait(&mut child, &program).await;
            // What it left running must not outlive the node.
            group.kill().await;
            (status?, told)
        }
        status = wait(&mut child, &program) => {
            // Nor must it keep the node waiting.
            group.kill().await;
            let told = tokio::time::timeout(LINGER, read).await;
            (status?, told.map_err(|_| fail(format!("`{program}` ended and something kept its output open")))?)
        }
    };
    let printed = printed.map_err(|error| fail(format!("`{program}`: {error}")))?;
    if !status.success() {
        let complaint = complaint.trim_end();
        let how =
            status.code().map_or_else(|| "was killed".to_owned(), |code| format!("ended with code {code}"));
        let detail = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
        return Err(fail(format!("`{program}` {how}{detail}")));
    }
    output(&program, printed, json, &secrets).map(Reply::new)
}

/// A place to run a program in. The time that is waited for it is none of the attempt's.
async fn place(call: &Call) -> Room {
    if let Some(room) = antiphon_process::room_now() {
        return room;
    }
    let mouth = call.mouth();
    mouth.wake(|machine, attempt| Wake::InLine(machine, attempt, true)).await;
    let room = antiphon_process::room().await;
    mouth.wake(|machine, attempt| Wake::InLine(machine, attempt, false)).await;
    room
}

/// What every program gets from this process.
fn inherited() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn spawn(
    command: &Command,
    given: BTreeMap<String, String>,
    input: Stdio,
    call: &Call,
) -> Result<(Child, Group), Failure> {
    let Some((program, arguments)) = command.run.split_first() else {
        return Err(fail("the command is empty".to_owned()));
    };
    let mut process = tokio::process::Command::new(program);
    process.args(arguments).envs(given);
    process.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    process
        .env("ANTIPHON_RUN_ID", call.run().as_str())
        .env("ANTIPHON_NODE_ID", call.node.as_str())
        .env("ANTIPHON_EXECUTION", call.execution.to_string())
        .env("ANTIPHON_ATTEMPT", call.attempt.to_string())
        .env("ANTIPHON_IDEMPOTENCY_KEY", call.key());
    let dir = command.dir.as_ref().map(Path::new);
    let place = call.folder().map(|folder| dir.map_or_else(|| folder.to_owned(), |dir| folder.join(dir)));
    if let Some(place) = &place {
        // Programs believe what it says of where they are, which is where we are.
        process.current_dir(place).env("PWD", place);
    } else if let Some(dir) = dir {
        process.current_dir(dir);
    }
    Group::spawn(&mut process).map_err(|error| {
        let lost = || place.as_deref().filter(|place| !place.is_dir());
        let place = dir.or_else(lost).map(|dir| format!(" in `{}`", dir.display())).unwrap_or_default();
        fail(format!("`{program}` could not be started{place}: {error}"))
    })
}

async fn wait(child: &mut Child, program: &str) -> Result<std::process::ExitStatus, Failure> {
    child.wait().await.map_err(|error| fail(format!("`{program}`: {error}")))
}

async fn read_all(pipe: Option<impl AsyncRead + Unpin>, group: &Group) -> Result<Vec<u8>, String> {
    let mut printed = Vec::new();
    let Some(pipe) = pipe else { return Ok(printed) };
    let read = pipe.take(OUTPUT_MAX as u64 + 1).read_to_end(&mut printed).await;
    read.map_err(|error| error.to_string())?;
    if printed.len() > OUTPUT_MAX {
        group.cut();
        return Err(format!("it printed more than {OUTPUT_MAX} bytes and was stopped"));
    }
    Ok(printed)
}

/// Passes on what is written to stderr, some times a second and not without end, and keeps the end of it.
async fn read_tail(pipe: Option<impl AsyncRead + Unpin>, call: &Call, secrets: &Secrets) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let mut tail = Tail::new(STDERR_MAX, secrets);
    let mut pieces = Pieces { call, secrets, pending: Vec::new(), said: 0, left: PROGRESS_MAX };
    let mut next = Instant::now();
    let mut buffer = [0; 4096];
    loop {
        tokio::select! {
            read = pipe.read(&mut buffer) => {
                let Ok(count @ 1..) = read else { break };
                tail.push(&buffer[..count]);
                pieces.push(&buffer[..count]);
            }
            () = sleep_until(next), if !pieces.pending.is_empty() => {
                pieces.say(false).await;
                next = Instant::now() + PROGRESS_PAUSE * (1 + pieces.said / PROGRESS_PIECES);
            }
        }
    }
    pieces.say(true).await;
    tail.text()
}

/// What a program writes to stderr, piece by piece.
struct Pieces<'c> {
    call: &'c Call,
    secrets: &'c Secrets,
    pending: Vec<u8>,
    said: u32,
    /// How many bytes may still be passed on.
    left: usize,
}

impl Pieces<'_> {
    fn push(&mut self, bytes: &[u8]) {
        let room = self.left.min(bytes.len());
        self.left -= room;
        self.pending.extend_from_slice(&bytes[..room]);
        if room > 0 && self.left == 0 {
            // The rest of a secret will not come, by which it would be known.
            let begun = self.secrets.begun(&self.pending);
            self.pending.truncate(self.pending.len() - begun);
            self.pending.extend_from_slice(b"\n(no more is shown while it runs)\n");
        }
    }

    /// Passes on what was collected; before the end without a character, or what may be a secret, of which only a part
    /// has come.
    async fn say(&mut self, is_last: bool) {
        let mut bytes = std::mem::take(&mut self.pending);
        if !is_last {
            let whole = match std::str::from_utf8(&bytes) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                _ => bytes.len(),
            };
            let whole = whole - self.secrets.begun(&bytes[..whole]);
            self.pending = bytes.split_off(whole);
        }
        if bytes.is_empty() {
            return;
        }
        self.said += 1;
        let text = String::from_utf8_lossy(&bytes);
        self.call.remark("stderr", self.secrets.hide(&text).into_owned()).await;
    }
}

/// What a program printed, without the last line break; or read as JSON. The secrets it was given are not part of it.
fn output(program: &str, printed: Vec<u8>, json: bool, secrets: &Secrets) -> Result<Json, Failure> {
    let text = String::from_utf8(printed).map_err(|error| {
        fail(format!("`{program}` printed bytes that are not UTF-8: {}", error.utf8_error()))
    })?;
    let mut text = secrets.hide(&text).into_owned();
    if json {
        return serde_json::from_str(&text).map_err(|error| {
            let message = format!("`{program}` was to print JSON: {error}");
            Failure::of(ErrorCode::Schema, message)
        });
    }
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(Json::from(Value::String(text)))
}

fn fail(message: String) -> Failure {
    Failure::of(ErrorCode::Failed, message)
}
