//! Flow files from disk, and what is wrong with them as people read it.
//!
//! Start reading at [`load`].

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use antiphon_event::near::nearest;
use antiphon_flow::check::Level;
use antiphon_flow::file::{Problem, Read, SIZE_MAX, read_inspected};

use crate::render::{Ink, Line, Page, harmless, paint};

/// Reads a flow file and those it names; every problem if it is none.
pub(crate) fn load(path: &Path) -> Result<Read, Vec<Problem>> {
    let name = path.display().to_string();
    match open(&name) {
        Ok(text) => read_inspected(&name, &text, &open, &antiphon::inspect).map_err(|problems| problems.0),
        Err(message) => Err(vec![Problem {
            level: Level::Error,
            file: name,
            place: antiphon_flow::file::Place::default(),
            message,
            help: Some(advice(path)),
        }]),
    }
}

/// What to do about a file that cannot be opened.
fn advice(path: &Path) -> String {
    if path.is_dir() {
        return "name a file in it".to_owned();
    }
    if path.exists() {
        return format!("a flow is text in UTF-8 of at most {SIZE_MAX} bytes that you may read");
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(NEIGHBOURS_MAX);
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match nearest(&name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{}`?", path.with_file_name(near).display()),
        None => "paths begin at the folder you are in".to_owned(),
    }
}

/// How many names of a folder are looked at.
const NEIGHBOURS_MAX: usize = 1000;

/// The text of a file; bounded, as anything may be named.
pub(crate) fn open(name: &str) -> Result<String, String> {
    let data = fs::metadata(name).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })?;
    if data.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if data.len() > SIZE_MAX as u64 {
        return Err(format!("it has {} bytes, and {SIZE_MAX} are read", data.len()));
    }
    fs::read_to_string(name).map_err(|error| format!("it cannot be read: {error}"))
}

/// Problems, each with the line it is about, a caret under the place, and what to do.
pub(crate) fn told(problems: &[Problem], page: Page) -> String {
    let mut sources: HashMap<&str, Vec<String>> = HashMap::new();
    let mut lines = Vec::new();
    for problem in problems {
        let source = sources.entry(&problem.file).or_insert_with(|| {
            open(&problem.file).map(|text| text.lines().map(str::to_owned).collect()).unwrap_or_default()
        });
        lines.extend(one(problem, source, page));
    }
    paint(&lines, page.palette)
}

fn one(problem: &Problem, source: &[String], page: Page) -> Vec<Line> {
    let (word, ink) = match problem.level {
        Level::Error => ("error", Ink::Bad),
        Level::Warning => ("warning", Ink::Waiting),
    };
    let place = problem.place;
    let place = if place.line > 0 { format!(":{}:{}", place.line, place.column) } else { String::new() };
    let head =
        Line::new().ink(Ink::Strong, format!("{}{place}: ", problem.file)).ink(ink, format!("{word}: "));
    let mut lines = vec![head.plain(&problem.message)];
    let line = problem.place.line.checked_sub(1).and_then(|line| source.get(line as usize));
    if let Some(line) = line {
        let number = problem.place.line.to_string();
        let margin = " ".repeat(number.len());
        let column = (problem.place.column as usize).saturating_sub(1);
        let (shown, caret) = crate::input::window(line, column, page.width.saturating_sub(margin.len() + 4));
        lines.push(Line::new().ink(Ink::Faint, format!(" {number} | ")).plain(shown));
        lines.push(
            Line::new().ink(Ink::Faint, format!(" {margin} | ")).plain(" ".repeat(caret)).ink(ink, "^"),
        );
    }
    if let Some(help) = &problem.help {
        lines.push(
            Line::new().ink(Ink::Faint, "  help: ").plain(help.chars().map(harmless).collect::<String>()),
        );
    }
    lines
}
