//! `bash`: a line for the shell, with bounds on time and output, and nothing of it left when it is over.
//!
//! In: a command. Out: how it ended and what it printed; while it runs, what it prints as progress. Whatever it
//! started is killed when it ends, takes too long or is cancelled. Start reading at [`run`].

mod environment;
mod listen;
mod live;
mod output;

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use antiphon_agent::Class;
use antiphon_agent::permission::Subject;
use antiphon_event::ErrorCode;
use antiphon_port::{Tool, ToolCall, ToolFault};
use antiphon_process::Group;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::{Workspace, typed};
use listen::Listener;

const DESCRIPTION: &str = "Run a command in bash. There is no input and no terminal; each call is a new shell. What \
it prints is given back, the middle left out if it is long. Everything it started ends with it, background jobs too.";

/// How long output is waited for once everything has ended.
const LINGER: Duration = Duration::from_secs(1);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The command, as bash reads it.
    command: String,
    /// How many milliseconds it may take; two minutes if absent, ten minutes at most.
    #[serde(default)]
    timeout_ms: Option<u64>,
    /// The folder to run it in, from the root of the workspace; the root if absent.
    #[serde(default)]
    dir: Option<String>,
}

pub(crate) fn tool(workspace: &Workspace) -> impl Tool + use<> {
    let (mine, theirs) = (workspace.clone(), workspace.clone());
    typed("bash", DESCRIPTION, Class::Write, move |args: Args, call| run(mine.clone(), args, call)).touching(
        move |args| {
            let folder = args.dir.iter().map(|dir| theirs.subject(dir, true));
            std::iter::once(Subject::Command(args.command.clone())).chain(folder).collect()
        },
    )
}

async fn run(workspace: Workspace, args: Args, call: ToolCall) -> Result<String, ToolFault> {
    let bounds = *workspace.bounds();
    let dir = workspace.resolve(args.dir.as_deref().unwrap_or_default())?;
    if !dir.is_dir() {
        return Err(ToolFault::new(format!("`{}` is no folder to run a command in", workspace.show(&dir))));
    }
    let time =
        args.timeout_ms.map_or(bounds.command_time, Duration::from_millis).min(bounds.command_time_max);
    let (mut child, group) = start(&workspace, &args.command, &dir, &call)?;
    let mut listener = Listener::new(&mut child, call.progress, bounds.result_chars);
    let mut ended = timeout(time, end(&mut child, &mut listener)).await.ok();
    let in_time = ended.is_some();
    if !in_time {
        group.ask();
        ended = timeout(bounds.grace, end(&mut child, &mut listener)).await.ok();
    }
    group.kill().await;
    // Something that could not be killed may hold the pipes open; what it says is no longer of interest.
    let _ = timeout(LINGER, listener.drain()).await;
    let lost =
        |error: &dyn std::fmt::Display| ToolFault::new(format!("the command is out of reach: {error}"));
    let status = match ended {
        Some(status) => status,
        None => {
            timeout(bounds.grace + LINGER, child.wait()).await.map_err(|_| lost(&"it cannot be killed"))?
        }
    };
    let status = status.map_err(|error| lost(&error))?;
    let printed = listener.printed(bounds.result_chars);
    if in_time {
        return Ok(format!("{}\n{printed}", describe(status)));
    }
    let message = format!("the command took longer than {} ms and was stopped\n{printed}", time.as_millis());
    Err(ToolFault { code: ErrorCode::Timeout, message })
}

/// Waits for the end of the program, while what it prints is taken in.
async fn end(child: &mut Child, listener: &mut Listener) -> io::Result<ExitStatus> {
    tokio::select! {
        biased;
        status = child.wait() => status,
        () = listener.listen() => child.wait().await,
    }
}

fn start(
    workspace: &Workspace,
    line: &str,
    dir: &Path,
    call: &ToolCall,
) -> Result<(Child, Group), ToolFault> {
    let spawn = |shell: &str| {
        let mut command = Command::new(shell);
        command.arg("-c").arg(line).current_dir(dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_clear().envs(environment::given(&workspace.variables));
        command.env("ANTIPHON_IDEMPOTENCY_KEY", &*call.key);
        Group::spawn(&mut command)
    };
    let started = match spawn("bash") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => spawn("sh"),
        started => started,
    };
    started.map_err(|error| ToolFault::new(format!("the shell could not be started: {error}")))
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code: {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    }
}
