//! Standard output: buffered, aware of whether a person is watching, and calm when its reader goes away.
//!
//! Start reading at [`Output`].

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use crate::args::Colour;
use crate::render::{Page, Palette, harmless};

/// Columns when nobody says how wide the page is.
const WIDTH: usize = 100;
/// The narrowest page that is laid out; a narrower terminal has to wrap.
const WIDTH_MIN: usize = 40;

/// Where results go.
pub(crate) struct Output {
    out: BufWriter<Stdout>,
    page: Page,
    is_cut: bool,
    pretty: bool,
    colour: Colour,
}

/// Something could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output: {0}")]
pub(crate) struct Unwritable(io::Error);

impl From<io::Error> for Unwritable {
    fn from(error: io::Error) -> Self {
        Self(error)
    }
}

impl Unwritable {
    /// Whether the reader has had enough, which is its right.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

impl Output {
    /// Standard output, in the colours and of the width that were asked for or that its terminal has.
    pub(crate) fn new(colour: Colour, width: Option<usize>) -> Self {
        let stdout = io::stdout();
        let palette = palette(colour, &stdout);
        let is_cut = width.is_some() || stdout.is_terminal();
        let width = width.unwrap_or_else(|| terminal_width(&stdout)).max(WIDTH_MIN);
        let pretty = stdout.is_terminal();
        Self {
            out: BufWriter::with_capacity(64 * 1024, stdout),
            page: Page { width, palette },
            is_cut,
            pretty,
            colour,
        }
    }

    /// Whether a person is watching.
    pub(crate) fn is_terminal(&self) -> bool {
        self.out.get_ref().is_terminal()
    }

    /// Whether what is too wide for the page is cut off: a program that reads it wants all of it.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The page text is laid out for.
    pub(crate) fn page(&self) -> Page {
        self.page
    }

    /// The page that progress and problems are laid out for, which is that of standard error as it is now.
    pub(crate) fn error_page(&self) -> Page {
        Page { width: error_width().max(WIDTH_MIN), palette: palette(self.colour, &io::stderr()) }
    }

    /// Writes JSON on several lines, or on one, whoever reads it.
    pub(crate) fn set_pretty(&mut self, pretty: bool) {
        self.pretty = pretty;
    }

    /// Writes text as it is; it is clean already.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Unwritable> {
        self.out.write_all(text.as_bytes()).map_err(Unwritable)
    }

    /// Writes a value as JSON, for a person on several lines, otherwise on one; without a line break behind it.
    pub(crate) fn json(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Unwritable> {
        if self.is_terminal() {
            let json =
                if self.pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
            return json.map_err(io::Error::from).and_then(|json| self.shown(&json)).map_err(Unwritable);
        }
        let written = if self.pretty {
            serde_json::to_writer_pretty(&mut self.out, value)
        } else {
            serde_json::to_writer(&mut self.out, value)
        };
        written.map_err(|error| Unwritable(error.into()))
    }

    /// JSON escapes most control characters; a terminal must not be given the others either.
    fn shown(&mut self, json: &str) -> io::Result<()> {
        let mut rest = json;
        while let Some(at) = rest.find(|c: char| harmless(c) != c && c != '\n') {
            let c = rest[at..].chars().next().expect("one was found there");
            write!(self.out, "{}\\u{:04x}", &rest[..at], u32::from(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        self.out.write_all(rest.as_bytes())
    }

    /// Lets go of everything written so far.
    pub(crate) fn flush(&mut self) -> Result<(), Unwritable> {
        self.out.flush().map_err(Unwritable)
    }
}

/// Whether what stands on standard error can be drawn over: it is a terminal, and one that moves its cursor.
pub(crate) fn is_drawable() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|kind| kind != "dumb")
}

/// Writes to standard error; if nobody can read it, so be it.
pub(crate) fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// The colours of a stream.
fn palette(colour: Colour, stream: &impl RawStream) -> Palette {
    match colour {
        Colour::Never => Palette::Plain,
        Colour::Auto if AutoStream::choice(stream) == ColorChoice::Never => Palette::Plain,
        Colour::Auto | Colour::Always => Palette::Coloured,
    }
}

fn terminal_width(stdout: &Stdout) -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    match terminal_size::terminal_size_of(stdout) {
        Some((width, _)) => usize::from(width.0),
        None => columns().unwrap_or(WIDTH),
    }
}

/// Writes a line for the person at the terminal; if nobody can read it, so be it.
pub(crate) fn notice(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", clean(line));
}

/// The same for what went wrong, in colours if there is a terminal.
pub(crate) fn complain(what: &str) {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{red}error:{red:#} {}", clean(what));
}

/// The words of a model or a flow may be part of any message, and must not move a cursor.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { harmless(c) }).collect()
}

/// Columns of the terminal that errors go to.
pub(crate) fn error_width() -> usize {
    terminal_size::terminal_size_of(io::stderr()).map_or(WIDTH, |(width, _)| usize::from(width.0))
}
