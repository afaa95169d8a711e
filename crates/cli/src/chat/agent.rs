//! Who is talked with: the agent of a file, that of a session, or a general assistant.
//!
//! Start reading at [`choose`].

use std::env;
use std::path::Path;

use antiphon::scripted;
use antiphon_agent::{Definition, ModelUse, OnLimit};
use antiphon_event::{Body, Event};
use anyhow::{Context, Result, bail};

use crate::args::chat::Chat;
use crate::flow_file;
use crate::output::{Output, say};

/// Says which model the general assistant uses.
const MODEL: &str = "ANTIPHON_MODEL";
/// The variables with keys, and the model that is used if one is there.
const VENDORS: [(&str, &str); 2] =
    [("OPENAI_API_KEY", "openai/gpt-5.6-terra"), ("ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5-5")];
/// A model that needs no network.
const SCRIPTED: &str = "scripted";
/// What it says.
const SCRIPTED_REPLY: &str = "I am a scripted model: I need no key and no network, and this is all I can say. \
    `antiphon chat --agent examples/agents/offline.yaml` shows more.";
/// How many times the assistant may call its model before it asks whether to go on.
const ITERATIONS_MAX: u32 = 50;
const TOOLS: [&str; 9] = ["read", "search", "bash", "write", "patch", "fetch", "todo", "ask", "agent"];
const SYSTEM: &str = "You are a helpful assistant in a terminal, working in the user's current folder. Look before \
    you act: read and search instead of guessing, and say what you changed. Use the tools you have; what needs \
    permission is asked for by itself, so do not ask for it in words. If a task has several steps, keep a list with \
    `todo`. Answer briefly, in Markdown.";

/// The agent that was asked for; nothing if its file is none, which has been said then.
pub(crate) fn choose(args: &Chat, past: &[Event], output: &Output) -> Result<Option<Definition>> {
    let model = args.model.as_deref().map(model).transpose()?;
    let mut definition = match &args.agent {
        Some(path) => match read(path, output)? {
            Some(definition) => definition,
            None => return Ok(None),
        },
        None => match of_session(past) {
            Some(definition) => definition,
            None => return assistant(model).map(Some),
        },
    };
    if let Some(model) = model {
        definition.model = model;
    }
    Ok(Some(definition))
}

/// A model by its name on the command line, if it can be opened.
pub(super) fn model(name: &str) -> Result<ModelUse> {
    let settings = if name == SCRIPTED { scripted([SCRIPTED_REPLY]) } else { ModelUse::from(name) };
    antiphon_model::open(&settings).with_context(|| format!("the model {name} cannot be used"))?;
    Ok(settings)
}

/// What people call a model.
pub(super) fn model_name(model: &ModelUse) -> String {
    match &model.model {
        Some(name) => format!("{}/{name}", model.provider),
        None => model.provider.clone(),
    }
}

/// The agent of a file; nothing if it is none.
pub(crate) fn read(path: &Path, output: &Output) -> Result<Option<Definition>> {
    let name = path.display().to_string();
    let text = flow_file::open(&name).map_err(|why| anyhow::anyhow!("{name}: {why}"))?;
    match antiphon_flow::file::read_agent(&name, &text, &antiphon::inspect) {
        Ok(settings) => {
            let definition = serde_json::from_str(settings.as_str());
            Ok(Some(definition.with_context(|| format!("{name} is no agent"))?))
        }
        Err(problems) => {
            say(&flow_file::told(&problems.0, output.error_page()));
            Ok(None)
        }
    }
}

/// The agent that was talked with last in a session.
fn of_session(past: &[Event]) -> Option<Definition> {
    past.iter().rev().find_map(|event| match &event.body {
        Body::HarnessStart(start) if event.head.node_id.is_none() && start.depth.unwrap_or(0) == 0 => {
            serde_json::from_str(start.definition.as_ref()?.as_str()).ok()
        }
        _ => None,
    })
}

/// The general assistant.
fn assistant(named: Option<ModelUse>) -> Result<Definition> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let vendor = || VENDORS.iter().find(|(key, _)| set(key).is_some()).map(|(_, model)| (*model).to_owned());
    let model = match named {
        Some(model) => model,
        None => match set(MODEL).or_else(vendor) {
            Some(name) => model(&name)?,
            None => bail!(
                "no model is set: say which with `--model anthropic/NAME`, `--model openai/NAME` or {MODEL}, and put \
                 its key into ANTHROPIC_API_KEY or OPENAI_API_KEY; without a key try `--model {SCRIPTED}` or \
                 `--agent examples/agents/offline.yaml`"
            ),
        },
    };
    Ok(Definition {
        name: Some("assistant".to_owned()),
        system: Some(SYSTEM.to_owned()),
        tools: TOOLS.map(str::to_owned).to_vec(),
        max_iterations: ITERATIONS_MAX,
        on_limit: OnLimit::Ask,
        ..Definition::new(model)
    })
}
