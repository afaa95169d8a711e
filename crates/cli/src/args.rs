//! What can be said on the command line.
//!
//! Start reading at [`Args`].

pub(crate) mod chat;
pub(crate) mod flows;
pub(crate) mod sessions;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};

use crate::render::{Format, VIEWS, ViewEntry};

/// Conversations among many agents, as events: run flows of them, look at them, explain them.
#[derive(Debug, Parser)]
#[command(name = "antiphon", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Run `antiphon` alone for a demonstration, `antiphon COMMAND --help` for all options."
)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Colours: by default in a terminal only; `NO_COLOR` and `CLICOLOR_FORCE` are heard.
    #[arg(
        long,
        visible_alias = "colour",
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN"
    )]
    #[arg(hide_possible_values = true)]
    pub(crate) color: Colour,

    /// Lay text out for so many columns instead of the terminal's.
    #[arg(long, global = true, value_name = "COLUMNS", value_parser = columns())]
    pub(crate) width: Option<usize>,
}

/// How many columns text may be laid out for: a page is as large as it is wide.
const COLUMNS_MAX: u64 = 10_000;

fn columns() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=COLUMNS_MAX)
}

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// If a person is watching.
    Auto,
    /// Also into a file or a pipe.
    Always,
    /// Not at all.
    Never,
}

/// A command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What there is, by example.
    Tour,
    /// Reduce events to the conversation graph, as JSON.
    Reduce(Reduce),
    /// Show a view of a conversation: a thread, a tree, a table, a drawing.
    View(View),
    /// Explain an event: what led to it, back to what somebody said.
    Why(Why),
    /// Compare two conversations: what was said, decided, spent.
    Diff(Diff),
    /// Talk with an agent.
    Chat(chat::Chat),
    /// Run a flow.
    Run(flows::Run),
    /// Go on with a run: after a crash, a failure, a cancel, or with answers to what it asks.
    Resume(flows::Resume),
    /// Stop a run, whichever process it is in.
    Cancel(flows::Cancel),
    /// Begin another branch at any event of a session.
    Fork(flows::Fork),
    /// Look at what is kept: list, show, events, export, import, remove.
    Sessions(sessions::Sessions),
    /// Prove that no event of a session was changed, removed or moved.
    Verify(flows::Verify),
    /// Find every mistake in flow files.
    Check(flows::Check),
    /// Draw a flow.
    Draw(flows::Draw),
    /// Make a run a fixture for tests.
    Record(flows::Record),
    /// Replay fixtures offline against the current flow.
    Test(flows::Test),
}

/// Where sessions are kept.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct StoreArg {
    /// Where sessions are kept: `sqlite:PATH`, or `memory:` for nowhere. Otherwise `ANTIPHON_STORE` says, then
    /// `store` in the nearest antiphon.toml, then it is a file in the user's data folder.
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
}

/// Which lines to read, and what to do about those that are no events.
#[derive(Debug, clap::Args)]
pub(crate) struct Reading {
    /// Pass over lines that are no events: up to ten are reported and all are counted, the rest is used, and
    /// the exit code is 0. Without it the first such line ends the command with exit code 2.
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Stop at this position: time travel. A position is an event's `seq`, or where it stands in the input if
    /// it has none.
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,

    /// The branch to read, with what it forks from: of a session by default `main`, of files by default all that
    /// they hold. For `why`, of a file: the branch that the position is on.
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// How JSON is written.
#[derive(Debug, clap::Args)]
pub(crate) struct Layout {
    /// JSON on several lines, also into a file or a pipe.
    #[arg(long, conflicts_with = "compact")]
    pub(crate) pretty: bool,

    /// JSON on one line, also in a terminal.
    #[arg(long)]
    pub(crate) compact: bool,
}

impl Layout {
    /// What was asked for, if anything was.
    pub(crate) fn choice(&self) -> Option<bool> {
        (self.pretty || self.compact).then_some(self.pretty)
    }
}

/// `antiphon reduce`.
#[derive(Debug, clap::Args)]
pub(crate) struct Reduce {
    /// Files of events, one JSON object a line, or sessions, read one after another; standard input if there is
    /// none or `-`.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The hypergraph of chunks, blocks and messages, `{nodes, edges, active}`, instead of the flat graph,
    /// `{nodes, edges, lastNodeByRunId}`.
    #[arg(long)]
    pub(crate) hyper: bool,

    /// As without it: a graph is always JSON.
    #[arg(long = "json")]
    _always: bool,

    #[command(flatten)]
    pub(crate) layout: Layout,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `antiphon view`.
#[derive(Debug, clap::Args)]
#[command(after_help = examples())]
pub(crate) struct View {
    /// Which view.
    #[arg(value_name = "NAME", value_parser = view_names())]
    pub(crate) view: &'static ViewEntry,

    /// Files of events, one JSON object a line, or sessions, read one after another; standard input if there is
    /// none or `-`.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The snapshot as JSON, for programs.
    #[arg(long)]
    pub(crate) json: bool,

    /// JSON lines as events come in: `{"snapshot": …}` first, then each change `{"op", "path", "value"}`.
    #[arg(long, alias = "follow-changes", conflicts_with = "json")]
    pub(crate) changes: bool,

    /// How to draw it: `svg`, `mermaid` and `dot` are for `dag`.
    #[arg(long, value_enum, conflicts_with = "changes")]
    pub(crate) format: Option<Format>,

    #[command(flatten)]
    pub(crate) thread: Leaving,

    #[command(flatten)]
    pub(crate) layout: Layout,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What a thread leaves out.
#[derive(Debug, clap::Args)]
pub(crate) struct Leaving {
    /// Of `thread`: leave reasoning out.
    #[arg(long)]
    pub(crate) hide_reasoning: bool,

    /// Of `thread`: leave out what calls were given and gave, and what subagents did.
    #[arg(long)]
    pub(crate) collapse_tools: bool,
}

/// `antiphon why`.
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct Why {
    /// A file of events, or a session; standard input if there is none or it is `-`.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The event, by its position.
    #[arg(value_name = "SEQ")]
    pub(crate) seq: u64,

    /// Of a file with events of several: the session that the position is in, by its id or an unmistakable part of it.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// The causes as JSON, for programs.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) layout: Layout,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `antiphon diff`.
#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    /// A file of events, `-` for standard input, or a session; `FILE@PART` for a part of it: a position (all that
    /// came up to it), a branch, or a run with all it led to. Of a session, `SESSION@BRANCH` is that branch with
    /// what it forks from, and `SESSION@BRANCH:PART` a position or a run of it.
    #[arg(value_name = "A")]
    pub(crate) a: String,

    /// What to compare it with, in the same way.
    #[arg(value_name = "B")]
    pub(crate) b: String,

    /// The differences as JSON, for programs.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) layout: Layout,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Accepts the names of views; a mistyped one is answered with the nearest.
fn view_names() -> impl TypedValueParser<Value = &'static ViewEntry> {
    let names = VIEWS.iter().map(|view| PossibleValue::new(view.name).help(view.about()));
    PossibleValuesParser::new(names).map(|name| {
        VIEWS.iter().find(|view| view.name == name).expect("only names of this table are accepted")
    })
}

fn examples() -> &'static str {
    "Examples:
  antiphon view thread chat.jsonl
  antiphon view dag --format svg chat.jsonl > chat.svg
  antiphon view usage --json < chat.jsonl
  antiphon view tools --at 120 chat.jsonl
  tail -f live.jsonl | antiphon view runs --changes"
}
