//! What can be said about flows and their runs.

use std::path::PathBuf;

use antiphon_event::Scope;
use clap::{Args, ValueEnum};

use super::StoreArg;

/// `antiphon run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  antiphon run report.yaml --input 'tidal power'
  antiphon run report.yaml --input @brief.txt --state '{\"drafts\": 2}'
  antiphon run report.yaml --json | antiphon view timeline

Exit codes: 0 completed, 1 failed, 2 refused, 3 waiting for a person, 130 cancelled.")]
pub(crate) struct Run {
    /// The flow file, YAML or JSON.
    #[arg(value_name = "FLOW")]
    pub(crate) flow: PathBuf,

    /// The task: text, `@FILE` for what is in a file, `-` for standard input, both without a line break at the end.
    /// Read as JSON if the flow's `input` is not a string, and, where the flow does not say, if it is an object or
    /// a list.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,

    /// What the state begins with instead of its defaults: a JSON object, or `@FILE`.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) state: Option<String>,

    /// Run in this branch of the session.
    #[arg(long, default_value = "main", requires = "session")]
    pub(crate) branch: String,

    /// Run in this session instead of a new one.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// The events as JSON lines on standard output, and nothing else there.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// `antiphon resume`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  antiphon resume last                      go on after a crash, a failure or a cancel
  antiphon resume last --approve gate       the node's name is enough if it is the only one that asks
  antiphon resume last --approve c1:permission --always session
  antiphon resume last --deny gate --reason 'not yet'
  antiphon resume last --answer colour=blue
  antiphon resume last --answer 'pay=take as done' --input-for 'pay={\"receipt\": 7}'")]
pub(crate) struct Resume {
    /// The session, by its id, an unmistakable part of it, or `last`.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// The branch.
    #[arg(long, default_value = "main")]
    pub(crate) branch: String,

    #[command(flatten)]
    pub(crate) answers: Answers,

    /// The folder to go on in, from here on, instead of the one that the run was begun in.
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,

    /// The events as JSON lines on standard output, and nothing else there.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// Decisions about what is asked.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Answers {
    /// Say yes to a request; by its id, the beginning or end of it, or the node that asks. May be repeated.
    #[arg(long, value_name = "ID")]
    pub(crate) approve: Vec<String>,

    /// Say yes to the like of it from now on, where a permission is asked.
    #[arg(long, value_name = "WHERE", requires = "approve")]
    pub(crate) always: Option<Always>,

    /// Say no to a request. May be repeated.
    #[arg(long, value_name = "ID")]
    pub(crate) deny: Vec<String>,

    /// Why.
    #[arg(long, value_name = "TEXT", requires = "deny")]
    pub(crate) reason: Option<String>,

    /// Answer a request: an option, or text, or JSON where that is what is asked for, or yes or no. May be repeated.
    #[arg(long, value_name = "ID=TEXT", value_parser = pair)]
    pub(crate) answer: Vec<(String, String)>,

    /// The output to go on with where work that may have been done is taken as done, or where one that a guardrail
    /// stopped is overridden. May be repeated.
    #[arg(long, value_name = "ID=JSON", value_parser = pair)]
    pub(crate) input_for: Vec<(String, String)>,
}

/// How far a yes reaches beyond the call it is said to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Always {
    /// In this session.
    Session,
    /// In this project.
    Project,
}

impl From<Always> for Scope {
    fn from(always: Always) -> Self {
        match always {
            Always::Session => Self::Session,
            Always::Project => Self::Project,
        }
    }
}

impl Answers {
    /// Whether nothing was decided.
    pub(crate) fn is_empty(&self) -> bool {
        self.approve.is_empty() && self.deny.is_empty() && self.answer.is_empty() && self.input_for.is_empty()
    }
}

/// `antiphon cancel`.
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// The session, by its id, an unmistakable part of it, or `last`.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// The branch.
    #[arg(long, default_value = "main")]
    pub(crate) branch: String,

    /// Cut running nodes off instead of letting them finish.
    #[arg(long)]
    pub(crate) now: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// `antiphon fork`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  antiphon fork last --at 57
  antiphon fork last --at 57 --branch careful --set 'approved=false' --run")]
pub(crate) struct Fork {
    /// The session, by its id, an unmistakable part of it, or `last`.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// The last event that both branches have.
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: u64,

    /// The new branch; a free name if none is given.
    #[arg(long, value_name = "NAME", value_parser = branch_name)]
    pub(crate) branch: Option<String>,

    /// The branch to leave.
    #[arg(long, value_name = "BRANCH", default_value = "main")]
    pub(crate) from: String,

    /// Change the state there: a contribution to a key, folded in as if a node had made it. May be repeated.
    #[arg(long, value_name = "KEY=JSON", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,

    /// Go on from there at once.
    #[arg(long)]
    pub(crate) run: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// `antiphon verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The session, by its id, an unmistakable part of it, or `last`.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// The branch.
    #[arg(long, default_value = "main")]
    pub(crate) branch: String,

    /// A head that was kept elsewhere, now or at some time before.
    #[arg(long, value_name = "HASH")]
    pub(crate) head: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// `antiphon check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Flow files.
    #[arg(value_name = "FLOW", required = true)]
    pub(crate) flows: Vec<PathBuf>,

    /// Problems as JSON lines `{file, line, column, level, message, help}`, for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `antiphon draw`.
#[derive(Debug, Args)]
pub(crate) struct Draw {
    /// The flow file.
    #[arg(value_name = "FLOW")]
    pub(crate) flow: PathBuf,

    /// How to draw it.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Picture,
}

/// How a flow is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// Layers, for a terminal.
    Text,
    /// A Mermaid flowchart.
    Mermaid,
    /// A Graphviz graph.
    Dot,
    /// A picture.
    Svg,
}

/// `antiphon record`.
#[derive(Debug, Args)]
pub(crate) struct Record {
    /// The session, by its id, an unmistakable part of it, or `last`.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// The branch.
    #[arg(long, default_value = "main")]
    pub(crate) branch: String,

    /// The folder to make.
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// `antiphon test`.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Folders that `record` made, or folders of such.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,

    /// The flow file to test, instead of the one that was recorded.
    #[arg(long, value_name = "FILE")]
    pub(crate) flow: Option<PathBuf>,

    /// The agent file to test, instead of the one that was recorded.
    #[arg(long, value_name = "FILE", conflicts_with = "flow")]
    pub(crate) agent: Option<PathBuf>,
}

/// How many bytes the name of a new branch may have.
const BRANCH_NAME_MAX: usize = 200;

/// The name of a new branch: something that can be typed and told from others.
fn branch_name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("a branch needs a name".into());
    }
    if text.chars().any(char::is_control) {
        return Err("the name of a branch is one line of text without control characters".into());
    }
    if text.len() > BRANCH_NAME_MAX {
        let bytes = text.len();
        return Err(format!(
            "the name of a branch has at most {BRANCH_NAME_MAX} bytes, and this has {bytes}"
        ));
    }
    Ok(text.into())
}

/// `KEY=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if key.is_empty() {
        Err("there is no name before the `=`".into())
    } else {
        Ok((key.into(), value.into()))
    }
}
