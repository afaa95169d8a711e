//! [`Program`]: a server that is a program, spoken to over its standard streams.
//!
//! In: a command. Out: a transport, and how the program ended. All that it started is gone when it ends, is closed or
//! is dropped. Start reading at [`Program::start`].

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use antiphon_process::Group;
use rmcp::RoleClient;
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::Empty;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::lines::{Line, Lines, id_in};
use super::log::{LINE_MAX, Log};

/// How long a program that closed its output may take to end.
const END: Duration = Duration::from_millis(500);

/// How long a program that was asked to end may take to do so.
const GOODBYE: Duration = Duration::from_secs(2);

/// What a server gets of our environment, besides what the definition adds. Keys of ours stay with us.
const ENVIRONMENT: &[&str] = &[
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// A command, as the definition has it.
pub(super) struct Start<'a> {
    pub(super) command: &'a [String],
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) dir: Option<PathBuf>,
    pub(super) message_bytes: usize,
}

/// The transport to a program.
pub(super) struct Program {
    child: Child,
    group: Arc<Group>,
    input: AsyncRwTransport<RoleClient, Empty, ChildStdin>,
    output: Lines<ChildStdout>,
    errors: JoinHandle<()>,
    log: Arc<Log>,
    message_bytes: usize,
    ended: watch::Sender<Option<String>>,
}

/// What is left to know of a program whose transport was handed over.
pub(super) struct Watch {
    pub(super) group: Arc<Group>,
    pub(super) log: Arc<Log>,
    /// How it ended, once it has.
    pub(super) ended: watch::Receiver<Option<String>>,
}

impl Program {
    /// Starts a program.
    pub(super) fn start(start: &Start<'_>) -> Result<(Self, Watch), String> {
        let [program, arguments @ ..] = start.command else {
            return Err("has no command: name a program".to_owned());
        };
        let ours = ENVIRONMENT.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        let given = antiphon_port::environment(start.env)?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(ours).envs(given);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(dir) = &start.dir {
            command.current_dir(dir);
        }
        let place = start.dir.as_ref().map_or_else(String::new, |dir| format!(" in `{}`", dir.display()));
        let (mut child, group) = Group::spawn(&mut command)
            .map_err(|error| format!("cannot be started: `{program}`{place}: {error}"))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(format!("cannot be started: `{program}` has no standard streams"));
        };
        let group = Arc::new(group);
        let log = Arc::new(Log::default());
        let (ended, ended_seen) = watch::channel(None);
        let watch = Watch { group: group.clone(), log: log.clone(), ended: ended_seen };
        let program = Self {
            child,
            group,
            input: AsyncRwTransport::new(tokio::io::empty(), stdin),
            output: Lines::new(stdout, start.message_bytes),
            errors: tokio::spawn(listen(stderr, log.clone())),
            log,
            message_bytes: start.message_bytes,
            ended,
        };
        Ok((program, watch))
    }

    /// A message; an error for whoever waits, if it is an answer that cannot be read; nothing if it is neither.
    fn parse(&self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let error = match serde_json::from_slice(line) {
            Ok(message) => return Some(message),
            Err(error) => error,
        };
        self.log.push(line);
        let has = |word: &[u8]| line.windows(word.len()).any(|start| start == word);
        let is_answer = has(b"\"jsonrpc\"") && !has(b"\"method\"");
        let id = is_answer.then(|| id_in(line)).flatten()?;
        Some(failure(format!("the answer cannot be read: {error}"), id))
    }

    /// An answer that is too large becomes an error, for whoever waits for it.
    fn refuse(&self, id: Option<i64>) -> Option<ServerJsonRpcMessage> {
        let bytes_max = self.message_bytes;
        self.log.push(format!("(a message of more than {bytes_max} bytes)").as_bytes());
        let message =
            format!("the answer is larger than the {bytes_max} bytes that are allowed: ask for less");
        id.map(|id| failure(message, id))
    }

    /// Sees the program off: its status, the rest of its group, its last words. May be dropped and begun again.
    async fn see_off(&mut self, grace: Duration) {
        if self.ended.borrow().is_some() {
            return;
        }
        let status = timeout(grace, self.child.wait()).await;
        self.group.kill().await;
        let how = match status {
            Ok(Ok(status)) => format!("ended ({status})"),
            Ok(Err(error)) => format!("ended, nobody knows how: {error}"),
            Err(_) => "closed its output and did not end, so it was killed".to_owned(),
        };
        // The group is gone, so its side of the pipe is closed soon.
        let _ = timeout(END, &mut self.errors).await;
        self.ended.send_replace(Some(how));
    }
}

fn failure(message: String, id: i64) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error(message, None), Some(RequestId::Number(id)))
}

/// Keeps what a program says on its error output.
async fn listen(stderr: ChildStderr, log: Arc<Log>) {
    let mut lines = Lines::new(stderr, LINE_MAX);
    while let Some(line) = lines.next().await {
        match line {
            Line::Whole(line) => log.push(&line),
            Line::Huge(_) => log.push(b"(a long line)"),
        }
    }
}

impl Transport<RoleClient> for Program {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let sent = self.input.send(message);
        async move {
            match sent.await {
                // Who does not listen any more is about to end, and how it ends says more.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                sent => sent,
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let found = match self.output.next().await {
                Some(Line::Whole(line)) => self.parse(&line),
                Some(Line::Huge(id)) => self.refuse(id),
                None => {
                    self.see_off(END).await;
                    return None;
                }
            };
            if found.is_some() {
                return found;
            }
        }
    }

    /// Closes its input, which is how a server is told to end, and does not wait for long.
    async fn close(&mut self) -> Result<(), Self::Error> {
        self.input.close().await?;
        self.see_off(GOODBYE).await;
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.group.cut();
        self.errors.abort();
    }
}
