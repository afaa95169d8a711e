//! [`antiphon`]: runs the binary and says what came out.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a run of the binary left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Exit code, output and errors as one text, for comparing.
    pub(crate) fn told(&self) -> String {
        let code = self.code.map_or("killed".to_owned(), |code| code.to_string());
        format!("exit {code}\n{}{}", self.out, self.err)
    }
}

/// The binary with arguments, away from whatever the environment says about colours and widths.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "ANTIPHON_STORE"] {
        command.env_remove(name);
    }
    command.env("XDG_DATA_HOME", "/nowhere");
    command.args(args).current_dir(histories());
    command
}

/// Runs it in the folder of the recorded conversations, with nothing on standard input.
pub(crate) fn antiphon(args: &[&str]) -> Ran {
    fed(args, b"")
}

/// Runs it with bytes on standard input.
pub(crate) fn fed(args: &[&str], input: &[u8]) -> Ran {
    feed(command(args), input)
}

/// Runs a command with bytes on standard input.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // It may well stop reading before the end.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().expect("it ends")
    });
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The folder of the recorded conversations.
pub(crate) fn histories() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/histories")
}

/// The recorded conversations by name, in order.
pub(crate) fn recorded() -> Vec<String> {
    let files = std::fs::read_dir(histories()).expect("there are examples");
    let paths = files.map(|file| file.expect("readable").path());
    let histories = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let names = histories.filter_map(|path| path.file_name()?.to_str().map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
