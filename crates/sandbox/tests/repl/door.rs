//! [`check`] and [`Bench`]: a session and a host that answers by rule.
//!
//! In: pieces of code with a line `---` between them. Out: for each, what was printed, the error, the answer.
//! Start reading at [`check`].

use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use antiphon_event::{StreamName, Timestamp};
use antiphon_port::{Future, Host, Opening, Repl, ReplLimits, Sandbox, Turn};
use antiphon_sandbox::repl::JavaScript;
use expect_test::Expect;

/// The moment at which every session here is opened: 2026-11-16T12:00:00Z.
pub(crate) const NOW: i64 = 1_794_830_400_000;

/// Small enough that a test at the limit is short.
pub(crate) fn limits() -> ReplLimits {
    ReplLimits {
        memory_bytes: 16 << 20,
        time: Duration::from_secs(1),
        output_chars: 2000,
        answer_chars: 2000,
        call_chars: 1000,
        calls: 8,
        ..ReplLimits::default()
    }
}

/// What a session in a test begins with.
pub(crate) fn opening(limits: ReplLimits) -> Opening {
    Opening {
        context: "alpha\nbeta\ngamma".to_owned(),
        limits,
        now: Timestamp::from_millis(NOW).unwrap(),
        seed: 7,
    }
}

/// Answers `up …` in capitals, `fail …` with a failure, and never answers `never`.
#[derive(Default)]
pub(crate) struct Rule {
    pub(crate) heard: Mutex<Vec<String>>,
}

impl Rule {
    fn answer(&self, heard: String, prompt: &str) -> Future<Result<String, String>> {
        self.heard.lock().unwrap().push(heard);
        let words =
            prompt.split_once(' ').map_or((prompt, String::new()), |(verb, rest)| (verb, rest.to_owned()));
        match words {
            ("up", rest) => Box::pin(async move { Ok(rest.to_uppercase()) }),
            ("fail", rest) => Box::pin(async move { Err(rest) }),
            ("never", _) => Box::pin(std::future::pending()),
            (verb, _) => {
                let answer = format!("<{verb}>");
                Box::pin(async move { Ok(answer) })
            }
        }
    }
}

impl Host for Rule {
    fn print(&self, stream: StreamName, chunk: String) {
        self.heard.lock().unwrap().push(format!("{}: {}", stream.as_str(), chunk.trim_end()));
    }

    fn query(&self, call: u32, prompt: String, context: Option<String>) -> Future<Result<String, String>> {
        self.answer(format!("query {call}: {prompt} / {context:?}"), &prompt)
    }

    fn exec(&self, call: u32, command: String) -> Future<Result<String, String>> {
        self.answer(format!("exec {call}: {command}"), &command)
    }
}

/// A session and its host.
pub(crate) struct Bench {
    pub(crate) session: Box<dyn Repl>,
    pub(crate) host: Arc<Rule>,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    pub(crate) fn new(limits: ReplLimits) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { session: JavaScript.open(opening(limits)).unwrap(), host: Arc::default(), runtime }
    }

    pub(crate) fn run(&mut self, code: &str) -> Turn {
        let turn = self.session.run(code.to_owned(), self.host.clone());
        self.runtime
            .block_on(async { tokio::time::timeout(Duration::from_mins(1), turn).await })
            .unwrap_or_else(|_| panic!("no turn within a minute: {code}"))
    }
}

/// Runs turns in one session and compares what came of them.
pub(crate) fn check(turns: &str, expected: Expect) {
    let mut bench = Bench::new(limits());
    let mut shown = String::new();
    for code in turns.split("\n---\n") {
        shown.push_str(&show(&bench.run(code)));
    }
    expected.assert_eq(&shown);
}

/// A turn as lines: `> ` what was printed, `! ` the error, `= ` the answer, `.` if there is nothing at all.
pub(crate) fn show(turn: &Turn) -> String {
    let mut shown = String::new();
    for line in turn.stdout.lines() {
        writeln!(shown, "> {line}").unwrap();
    }
    if turn.truncated {
        shown.push_str("> (cut)\n");
    }
    if let Some(error) = &turn.error {
        writeln!(shown, "! {error}").unwrap();
    }
    if let Some(answer) = &turn.answer {
        writeln!(shown, "= {answer}").unwrap();
    }
    if shown.is_empty() { ".\n".to_owned() } else { shown }
}
