//! `antiphon reduce`: events in, the conversation graph out, as JSON.

use antiphon_event::Event;
use antiphon_graph::{Conversation, Reducer};
use anyhow::Result;

use crate::args::Reduce;
use crate::input::Input;
use crate::output::Output;

/// Reduces the events and writes the graph.
pub(crate) fn run(args: &Reduce, output: &mut Output) -> Result<()> {
    if let Some(pretty) = args.layout.choice() {
        output.set_pretty(pretty);
    }
    let input = Input::new(&args.files, &args.reading);
    if args.hyper {
        let mut conversation = Conversation::default();
        input.each(&mut |event: Event| {
            conversation.apply(&event);
            Ok(())
        })?;
        output.json(&conversation.snapshot())?;
    } else {
        let mut reducer = Reducer::default();
        input.each(&mut |event: Event| {
            reducer.apply(&event);
            Ok(())
        })?;
        output.json(reducer.graph())?;
    }
    Ok(output.text("\n")?)
}
