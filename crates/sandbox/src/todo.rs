//! `todo`: the plan of an agent. It holds nothing: the plan is what was said last, and the journal has it.

use antiphon_agent::Class;
use antiphon_port::{Tool, ToolFault};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed;

const DESCRIPTION: &str = "Write down or update your plan for work that takes several steps. Always give the whole \
list: it replaces the one before. Mark a step `in_progress` when you begin it and `done` as soon as it is done.";

/// How many steps a plan may have.
const ITEMS_MAX: usize = 100;
/// How long a step may be.
const TEXT_MAX: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The whole plan, in order.
    items: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    /// What is to be done, in one line.
    text: String,
    /// How far it is.
    status: Status,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Done,
    Cancelled,
}

pub(crate) fn tool() -> impl Tool + use<> {
    typed("todo", DESCRIPTION, Class::Idempotent, |args: Args, _| async move { render(&args.items) })
}

fn render(items: &[Item]) -> Result<String, ToolFault> {
    if items.len() > ITEMS_MAX {
        return Err(ToolFault::new(format!("a plan of {} steps: {ITEMS_MAX} at most", items.len())));
    }
    let mut lines = Vec::new();
    for (index, Item { text, status }) in items.iter().enumerate() {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let chars = text.chars().count();
        if chars == 0 || chars > TEXT_MAX {
            let message = format!("step {} has {chars} characters: 1 to {TEXT_MAX}", index + 1);
            return Err(ToolFault::new(message));
        }
        let mark = match status {
            Status::Pending => ' ',
            Status::InProgress => '>',
            Status::Done => 'x',
            Status::Cancelled => '-',
        };
        lines.push(format!("[{mark}] {text}"));
    }
    let open =
        items.iter().filter(|item| matches!(item.status, Status::Pending | Status::InProgress)).count();
    lines.push(match (items.len(), open) {
        (0, _) => "the plan is empty".to_owned(),
        (all, 0) => format!("all {all} closed"),
        (all, open) => format!("{open} of {all} open"),
    });
    Ok(lines.join("\n"))
}
