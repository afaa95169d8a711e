//! What is wrong with a file, and where.

use std::fmt;

use super::tree::Place;
use crate::check::Level;

/// Something wrong with a file, or doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether it must be mended before the flow can run.
    pub level: Level,
    /// The file, as it was named.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    pub(super) fn error(file: &str, place: Place, message: impl Into<String>, help: Option<String>) -> Self {
        Self { level: Level::Error, file: file.to_owned(), place, message: message.into(), help }
    }

    /// Whether the flow cannot run because of it.
    pub fn is_error(&self) -> bool {
        self.level == Level::Error
    }
}

/// `report.yaml:12:5: error: what is wrong; what to do`
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.place.line > 0 {
            write!(f, ":{}:{}", self.place.line, self.place.column)?;
        }
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        write!(f, ": {level}: {}", self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// Why a file is no flow: never empty, in the order of places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Problems {}
