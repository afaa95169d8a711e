//! What can be said about sessions.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::StoreArg;

/// `antiphon sessions`.
#[derive(Debug, Args)]
pub(crate) struct Sessions {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: Action,
}

/// What can be done with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List sessions, the newest first.
    Ls(Ls),
    /// Show a session: how its runs stand, what is asked, the state.
    Show(Show),
    /// Print the events of a session, one JSON object a line.
    Events(Events),
    /// Write the events of a session with the hash of each, and with the first where they end.
    Export(Export),
    /// Make a session of events that were exported, or come from elsewhere. Events with hashes must be what was
    /// exported: none changed, none missing.
    Import(Import),
    /// Remove a session with everything in it.
    Rm(Rm),
}

/// `antiphon sessions ls`.
#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// At most so many.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) limit: usize,

    /// JSON lines, for programs.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// Which session, and which branch of it.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The session, by its id, an unmistakable part of it, or `last`.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// The branch.
    #[arg(long, default_value = "main")]
    pub(crate) branch: String,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// `antiphon sessions show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) which: Which,

    /// As it was when this event had happened.
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,

    /// One JSON object, for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `antiphon sessions events`.
#[derive(Debug, Args)]
pub(crate) struct Events {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Only those after this position.
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub(crate) after: u64,

    /// Wait for more, until interrupted.
    #[arg(long)]
    pub(crate) follow: bool,
}

/// `antiphon sessions export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) which: Which,

    /// The file to write; standard output if there is none.
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

/// `antiphon sessions import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// A file of events, one JSON object a line; standard input if there is none or it is `-`.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// A head that was kept elsewhere, as `verify` prints it: refuse events that do not have it.
    #[arg(long, value_name = "HASH")]
    pub(crate) head: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// `antiphon sessions rm`.
#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// The session, by its id, an unmistakable part of it, or `last`.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// Also if others forked from it: their branches go too.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}
