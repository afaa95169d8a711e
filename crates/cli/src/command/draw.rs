//! `antiphon draw`: a flow file in, a picture of it out.

use anyhow::Result;

use crate::args::flows::{Draw, Picture};
use crate::exit::Exit;
use crate::output::Output;
use crate::render::flow;

/// Draws the flow.
pub(crate) fn run(args: &Draw, output: &mut Output) -> Result<Exit> {
    let Some(flow) = super::run::load(&args.flow, output) else { return Ok(Exit::Refused) };
    let drawn = match args.format {
        Picture::Text => flow::text(&flow, output.page()),
        Picture::Mermaid => flow::mermaid(&flow),
        Picture::Dot => flow::dot(&flow),
        Picture::Svg => flow::svg(&flow),
    };
    output.text(&drawn)?;
    Ok(Exit::Done)
}
