//! Whether processes live.

use std::time::{Duration, Instant};

/// Whether a process runs; one that has ended and was not yet taken note of does not.
fn is_running(id: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Waits until processes have ended, which a kill does not wait for.
pub(super) async fn gone(ids: &[u32]) {
    let until = Instant::now() + Duration::from_secs(10);
    while let Some(id) = ids.iter().find(|id| is_running(**id)) {
        assert!(Instant::now() < until, "process {id} still runs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The ids in a text, one a line.
pub(super) fn ids(text: &str) -> Vec<u32> {
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}
