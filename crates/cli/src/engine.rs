//! The engine of this program: agents work in the current folder, with the usual rules.

use std::env;
use std::sync::Arc;

use antiphon::{Engine, Rules, Wardrobe, Workspace};
use antiphon_port::Journal;
use anyhow::{Context, Result};

/// An engine that runs flows and agents in the current folder.
pub(crate) fn engine(journal: Arc<dyn Journal>) -> Result<Engine> {
    let wardrobe = wardrobe()?;
    let tools = wardrobe.tools();
    let engine = Engine::new(journal).agents(wardrobe);
    Ok(tools.into_iter().fold(engine, Engine::tool))
}

/// What agents are given in the current folder.
pub(crate) fn wardrobe() -> Result<Wardrobe> {
    let folder = env::current_dir().context("the current folder cannot be told")?;
    let workspace = Workspace::new(&folder)
        .with_context(|| format!("agents cannot work in the folder {}", folder.display()))?;
    Ok(Wardrobe::new(workspace).rules(Rules::usual(&folder)))
}
