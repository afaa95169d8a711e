//! What can be said about talking with an agent.

use std::path::PathBuf;

use clap::Args;

use super::StoreArg;

/// `antiphon chat`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  antiphon chat --agent examples/agents/offline.yaml
  antiphon chat --model anthropic/claude-sonnet-5-5
  antiphon chat --session last
  git diff | antiphon chat --agent examples/agents/reviewer.yaml --input -

In a terminal it is a conversation: /help lists the commands, Ctrl-C stops the turn, Ctrl-D ends the chat. Elsewhere
each line of standard input is a message, and replies go to standard output.

Exit codes: 0 done, 1 a turn failed, 2 refused, 3 waiting for a person, 130 cancelled.")]
pub(crate) struct Chat {
    /// The agent file, YAML or JSON; by default that of the session, else a general assistant.
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,

    /// Go on in this session: its id, an unmistakable part of it, or `last`. A turn that was cut off is ended first.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Go on in this branch of it.
    #[arg(long, default_value = "main", requires = "session")]
    pub(crate) branch: String,

    /// The model, instead of the agent's: `provider/model`, or `scripted` for one that needs no network. Otherwise
    /// `ANTIPHON_MODEL` says for the general assistant, then whose key is in the environment.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Say just this and end: text, `@FILE` for what is in a file, `-` for all of standard input,
    /// both without a line break at the end.
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,

    /// The events as JSON lines on standard output, and nothing else there.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}
