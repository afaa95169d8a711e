//! Other programs: [`said`] for one that must succeed, [`lines`] for one that may take too long.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

/// How often a program is looked after.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a command that must succeed; what it said.
pub(super) fn said(command: &mut Command) -> anyhow::Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("starting {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed");
    String::from_utf8(output.stdout).context("reading what it said")
}

/// Runs a command until it ends or the time is up; the lines it had said by then.
pub(super) fn lines(command: &mut Command, limit: Duration) -> anyhow::Result<Vec<String>> {
    let start = Instant::now();
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("starting {command:?}"))?;
    let output = child.stdout.take().expect("it is piped");
    let reader = thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).collect());
    let status = loop {
        if let Some(status) = child.try_wait().context("looking after a program")? {
            break Some(status);
        }
        if start.elapsed() > limit {
            child.kill().context("cutting a program off")?;
            child.wait().context("waiting for a program that was cut off")?;
            break None;
        }
        thread::sleep(LOOK);
    };
    match status {
        None => eprintln!("cut off after {} s", limit.as_secs()),
        Some(status) if !status.success() => eprintln!("it failed: {status}"),
        Some(_) => {}
    }
    Ok(reader.join().expect("reading does not panic"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_before_the_time_was_up_is_kept() {
        let mut slow = Command::new("sh");
        slow.args(["-c", "echo one; exec sleep 600"]);
        assert_eq!(lines(&mut slow, Duration::from_secs(1)).expect("it starts"), ["one"]);
        let mut failing = Command::new("sh");
        failing.args(["-c", "echo two; exit 3"]);
        assert_eq!(lines(&mut failing, Duration::from_mins(10)).expect("it starts"), ["two"]);
    }
}
