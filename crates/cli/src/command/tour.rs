//! `antiphon tour`: what it is and what it can do.

use anyhow::Result;

use crate::output::Output;
use crate::render::{Ink, Line, VIEWS, paint};

/// Commands to try, and what they do.
const EXAMPLES: &[(&str, &str)] = &[
    ("antiphon", "a small team of agents at work"),
    ("antiphon chat --agent agent.yaml", "talk with an agent"),
    ("antiphon run flow.yaml --input 'tidal power'", "run a flow"),
    ("antiphon check flow.yaml", "every mistake in it, with its place"),
    ("antiphon draw flow.yaml", "see how it hangs together"),
    ("antiphon resume last --approve gate", "answer what it asks and go on"),
    ("antiphon sessions show last --at 57", "the run as it was at event 57"),
    ("antiphon fork last --at 57 --run", "go another way from there"),
    ("antiphon verify last", "prove that nothing was changed since"),
    ("antiphon record last --to fixture", "make a run a test"),
    ("antiphon test fixture", "replay it offline"),
    ("antiphon view thread chat.jsonl", "read a conversation"),
    ("antiphon view dag --format svg chat.jsonl > chat.svg", "draw it"),
    ("antiphon view usage --json < chat.jsonl", "what it cost, for a program"),
    ("antiphon view tools --at 120 chat.jsonl", "the tools as they were at position 120"),
    ("tail -f live.jsonl | antiphon view runs --changes", "watch runs come and go"),
    ("antiphon why chat.jsonl 42", "what led to event 42"),
    ("antiphon diff before.jsonl after.jsonl", "what two runs did differently"),
    ("antiphon reduce chat.jsonl", "the conversation as a graph"),
];

/// Shows the tour.
pub(crate) fn run(output: &mut Output) -> Result<()> {
    let page = output.page();
    let title =
        Line::new().ink(Ink::Strong, "Antiphon").plain(" — conversations among many agents, as events");
    let mut lines = vec![title, Line::new()];
    let about = "Everything that happens is one JSON object a line; what you look at is folded from that. \
                 Run a flow, give it a file of events, or pipe events in.";
    lines.extend(Line::new().plain(about).wrap(page.width));
    lines.push(Line::new());
    let width = EXAMPLES.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    for (command, about) in EXAMPLES {
        let line = Line::new().plain("  ").ink(Ink::Tool, command).fill(width + 4).ink(Ink::Faint, about);
        lines.push(line.cut(page.width));
    }
    lines.push(Line::new());
    lines.push(Line::new().ink(Ink::Strong, "Views"));
    let width = VIEWS.iter().map(|view| view.name.len()).max().unwrap_or(0);
    for view in VIEWS {
        let name = Line::new().plain("  ").ink(Ink::Agent, view.name).fill(width + 4);
        lines.push(name.plain(view.about()).cut(page.width));
    }
    lines.push(Line::new());
    let more = "`antiphon --help` lists all commands, `antiphon view --help` all options of one.";
    lines.extend(Line::new().plain(more).wrap(page.width));
    output.text(&paint(&lines, page.palette))?;
    Ok(())
}
