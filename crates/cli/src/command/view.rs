//! `antiphon view`: events in, a view of them out.
//!
//! As text for people, as JSON for programs, or as a stream of changes. Start reading at [`run`].

use antiphon_event::Event;
use antiphon_view::Changes;
use antiphon_view::thread::Options;
use anyhow::{Result, bail};

use crate::args::{Leaving, View};
use crate::input::{Input, Taker};
use crate::output::Output;
use crate::render::{Choices, Format, Screen};

/// Folds the events and shows the view.
pub(crate) fn run(args: &View, output: &mut Output) -> Result<()> {
    if let Some(pretty) = args.layout.choice() {
        output.set_pretty(pretty);
    }
    let choices = choices(args)?;
    let input = Input::new(&args.files, &args.reading);
    let mut screen = (args.view.open)(choices);
    if args.changes {
        return follow(input, &mut *screen, output);
    }
    let mut changes = Changes::unwanted();
    input.each(&mut |event: Event| {
        screen.apply(&event, &mut changes);
        Ok(())
    })?;
    if args.json || choices.format == Format::Json {
        screen.write_json(output)?;
        output.text("\n")?;
    } else {
        output.text(&screen.text(output.page()))?;
    }
    Ok(())
}

/// What was chosen, refused where the view knows no such choice.
fn choices(args: &View) -> Result<Choices> {
    let Leaving { hide_reasoning, collapse_tools } = args.thread;
    let thread = Options { hide_reasoning, collapse_tools };
    if thread != Options::default() && args.view.name != "thread" {
        bail!("--hide-reasoning and --collapse-tools are for the thread, not for {}", args.view.name);
    }
    let format = args.format.unwrap_or_default();
    if !matches!(format, Format::Text | Format::Json) && args.view.name != "dag" {
        bail!("only the dag can be drawn as a picture, not {}", args.view.name);
    }
    if args.json && args.format.is_some_and(|format| format != Format::Json) {
        bail!("--json gives JSON; leave out either it or --format");
    }
    Ok(Choices { thread, format })
}

/// Writes the empty snapshot, then every change as it happens.
fn follow(input: Input, screen: &mut dyn Screen, output: &mut Output) -> Result<()> {
    output.set_pretty(false);
    output.text("{\"snapshot\":")?;
    screen.write_json(output)?;
    output.text("}\n")?;
    output.flush()?;
    input.silent(output.is_terminal()).each(&mut Following { screen, output, changes: Changes::wanted() })
}

struct Following<'a> {
    screen: &'a mut dyn Screen,
    output: &'a mut Output,
    changes: Changes,
}

impl Taker for Following<'_> {
    fn event(&mut self, event: Event) -> Result<()> {
        self.screen.apply(&event, &mut self.changes);
        for change in self.changes.take() {
            self.output.json(&change)?;
            self.output.text("\n")?;
        }
        Ok(())
    }

    fn pause(&mut self) -> Result<()> {
        Ok(self.output.flush()?)
    }
}
