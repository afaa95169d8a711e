//! A command that prints a gigabyte, in a process of its own: what it costs is seen in the memory of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_event::Json;
use antiphon_port::{Future, Progress, Reach, ToolCall};
use antiphon_sandbox::{Workspace, tool};
use expect_test::expect;
use serde_json::json;

/// Counts the bytes of what is said.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Progress for Counted {
    fn say(&self, content: Json) -> Future<()> {
        self.0.fetch_add(content.as_str().len(), Ordering::Relaxed);
        Box::pin(async {})
    }
}

#[tokio::test]
async fn a_gigabyte_of_output_costs_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let bash = tool(&Workspace::new(folder.path()).unwrap(), "bash").unwrap();
    let progress = Arc::new(Counted::default());
    let input = json!({"command": "yes | head -c 1000000000; echo end"}).into();
    let before = memory_peak();
    let reply = bash
        .call(ToolCall { input, key: "key".into(), progress: progress.clone(), reach: Reach::everything() })
        .await
        .unwrap();
    let grown = memory_peak() - before;
    assert!(grown < 8 << 10, "grew by {grown} kB");
    let said = reply.output.to_text();
    assert!(said.len() < 30_000, "{} bytes", said.len());
    let middle = said.lines().find(|line| line.contains("left out")).unwrap_or_default();
    let (start, end) = (&said[..30], &said[said.len() - 12..]);
    expect![[r#""exit code: 0\nstdout:\ny\ny\ny\ny\ny" … (999972004 of 1000000004 bytes left out) … "\ny\ny\ny\ny\nend""#]].assert_eq(&format!("{start:?} {middle} {end:?}"));
    let passed_on = progress.0.load(Ordering::Relaxed);
    assert!(passed_on < 800_000, "{passed_on} bytes");
}

/// The most memory this process ever had, in kB.
fn memory_peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says so");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is there");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
