//! `antiphon why`: events and a position in, what led to the event there out.

use antiphon_event::{Event, Kind};
use antiphon_view::why::Causes;
use antiphon_view::{Changes, Fold};
use anyhow::{Result, bail};

use crate::args::Why;
use crate::input::Input;
use crate::output::Output;
use crate::render::{paint, why};

/// Explains the event.
pub(crate) fn run(args: &Why, output: &mut Output) -> Result<()> {
    if let Some(pretty) = args.layout.choice() {
        output.set_pretty(pretty);
    }
    let mut fold = Fold::new(Causes::default());
    let mut changes = Changes::unwanted();
    let mut numbered = false;
    // Events of types nobody knows have a position, but no place among those that the view takes in.
    let (mut read, mut taken_in) = (0, 0);
    let (mut nth, mut is_unknown) = (None, false);
    Input::new(args.file.as_slice(), &args.reading).each(&mut |event: Event| {
        numbered |= event.head.seq.is_some();
        read += 1;
        let known = event.kind() != Kind::Unknown;
        if event.head.seq.unwrap_or(read) == args.seq {
            nth = known.then_some(taken_in);
            is_unknown = !known;
        }
        taken_in += usize::from(known);
        fold.apply(&event, &mut changes);
        Ok(())
    })?;
    let answer =
        if numbered { fold.view().why(args.seq) } else { nth.and_then(|nth| fold.view().why_nth(nth)) };
    let Some(answer) = answer else {
        if is_unknown {
            bail!("nobody knows the type of the event at position {}, or what caused it", args.seq);
        }
        bail!("there is no event at position {}", args.seq);
    };
    if args.json {
        output.json(&answer)?;
        output.text("\n")?;
    } else {
        let page = output.page();
        output.text(&paint(&why::lines(&answer, page), page.palette))?;
    }
    Ok(())
}
