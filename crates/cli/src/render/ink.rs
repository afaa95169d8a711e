//! [`Ink`]: what a piece of text means, and [`Palette`], which colour that has.

use anstyle::{AnsiColor, Style};

/// What a piece of text is, as far as its colour is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// The text itself.
    Plain,
    /// Titles, names.
    Strong,
    /// What somebody stressed.
    Emphasis,
    /// What can be passed over: times, ids, guides.
    Faint,
    /// A person.
    Person,
    /// A model or an agent.
    Agent,
    /// A tool.
    Tool,
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
    /// Somebody has to do something about it.
    Waiting,
}

/// Colours, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Palette {
    /// Text only.
    Plain,
    /// The sixteen colours every terminal has.
    Coloured,
}

impl Palette {
    /// How an ink looks.
    pub(crate) fn style(self, ink: Ink) -> Style {
        if self == Self::Plain {
            return Style::new();
        }
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match ink {
            Ink::Plain => Style::new(),
            Ink::Strong => Style::new().bold(),
            Ink::Emphasis => Style::new().italic(),
            Ink::Faint => Style::new().dimmed(),
            Ink::Person => colour(AnsiColor::Blue).bold(),
            Ink::Agent => colour(AnsiColor::Magenta).bold(),
            Ink::Tool => colour(AnsiColor::Cyan),
            Ink::Good => colour(AnsiColor::Green),
            Ink::Bad => colour(AnsiColor::Red),
            Ink::Waiting => colour(AnsiColor::Yellow).bold(),
        }
    }
}
