//! `antiphon why`: events and a position in, what led to the event there out.

use antiphon_event::Event;
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
    Input::new(args.file.as_slice(), &args.reading).each(&mut |event: Event| {
        numbered |= event.head.seq.is_some();
        fold.apply(&event, &mut changes);
        Ok(())
    })?;
    let answer = if numbered {
        fold.view().why(args.seq)
    } else {
        usize::try_from(args.seq).ok().and_then(|seq| fold.view().why_nth(seq.checked_sub(1)?))
    };
    let Some(answer) = answer else {
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
