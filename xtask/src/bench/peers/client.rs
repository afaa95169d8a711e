//! `@ag-ui/client`, which reduces events as the flat graph does.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::super::figures::{Client, ClientRow};
use super::super::process::said;
use super::Place;

/// Installs the client and runs its scenarios.
pub(super) fn measure(folder: &Path) -> anyhow::Result<Client> {
    let script = folder.join("ag-ui/bench.mjs").canonicalize().context("its folder is not there")?;
    let place = Place::new("ag-ui")?;
    place.npm(&["@ag-ui/client"])?;
    let mut client = Client::default();
    for scenario in [&["text", "10000", "100000"][..], &["tools", "1000"]] {
        eprintln!("measuring @ag-ui/client: {}", scenario.join(" "));
        let mut node = Command::new("node");
        let said = said(node.arg(&script).args(scenario).env("AGUI_DIR", &place.0)).context("it failed")?;
        said.lines().next().unwrap_or_default().clone_into(&mut client.version);
        for line in said.lines().filter(|line| line.starts_with('{')) {
            let row = serde_json::from_str::<ClientRow>(line).context("its figures cannot be read")?;
            client.rows.push(row);
        }
    }
    Ok(client)
}
