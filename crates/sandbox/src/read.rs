//! `read`: a file as text with numbered lines, or as a picture or document the model can look at; a folder as a list.
//!
//! What was read is noted: only that may be changed. Start reading at [`look`].

mod media;

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::Path;

use antiphon_agent::Class;
use antiphon_event::Provenance;
use antiphon_port::{Tool, ToolFault, ToolReply};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::file::{self, Entry};
use crate::seen::Earlier;
use crate::text::{self, count, cut};
use crate::{Workspace, blocking, typed};

const DESCRIPTION: &str = "Read a file: text comes with numbered lines, an image (PNG, JPEG, GIF, WebP) or a PDF is \
shown to you, a folder is listed. Read a file before you change it with `write` or `patch`.";

/// How many lines are given if the call does not say.
const LINES_MAX: usize = 2000;
/// How many characters of a line are given.
const LINE_CHARS_MAX: usize = 2000;
/// How many names of a folder are given.
const NAMES_MAX: usize = 1000;

/// What is to be read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file or folder, from the root of the workspace.
    path: String,
    /// The first line to give, counted from 1.
    #[serde(default)]
    offset: Option<usize>,
    /// How many lines to give; 2000 if absent.
    #[serde(default)]
    limit: Option<usize>,
}

pub(crate) fn tool(workspace: &Workspace) -> impl Tool + use<> {
    let (mine, theirs, before) = (workspace.clone(), workspace.clone(), workspace.clone());
    typed("read", DESCRIPTION, Class::Read, move |args: Args, _| {
        let workspace = mine.clone();
        blocking::run(move |_| look(&workspace, &args))
    })
    .touching(move |args| vec![theirs.subject(&args.path, false)])
    .recalling(move |args: Args, output| {
        before.seen.recall(args.path.clone(), Earlier::Read(args, output.to_owned()));
    })
}

/// What reading a text file like this gives, if it held this; nothing for other files.
pub(crate) fn gives(workspace: &Workspace, path: &Path, content: &[u8], args: &Args) -> Option<String> {
    let is_text = text::is_text(content) && media::kind(content).is_none();
    let shown = workspace.show(path);
    let rows = is_text.then(|| lines(&shown, content, args, workspace.bounds().result_chars))?;
    rows.ok().map(|rows| rows.join("\n"))
}

fn look(workspace: &Workspace, args: &Args) -> Result<ToolReply, ToolFault> {
    let path = workspace.resolve(&args.path)?;
    let shown = workspace.show(&path);
    let failed = |error| ToolFault::new(format!("cannot read `{shown}`: {error}"));
    let mut reply = match file::entry(&path).map_err(failed)? {
        Entry::Missing => Err(ToolFault::new(format!("`{shown}` does not exist"))),
        Entry::Other(what) => {
            Err(ToolFault::new(format!("`{shown}` is {what}: only files and folders are read")))
        }
        Entry::Folder => list(&path, &shown).map(|names| ToolReply::new(names.as_str())),
        Entry::File(metadata) => content(workspace, &path, &shown, &metadata, args),
    }?;
    reply.provenance = Some(Provenance::File);
    Ok(reply)
}

fn content(
    workspace: &Workspace,
    path: &Path,
    shown: &str,
    metadata: &Metadata,
    args: &Args,
) -> Result<ToolReply, ToolFault> {
    let bounds = workspace.bounds();
    let (bytes, whole) = file::read(path, bounds.file_bytes)
        .map_err(|error| ToolFault::new(format!("cannot read `{shown}`: {error}")))?;
    if whole {
        workspace.seen.note(path, &bytes);
    }
    if let Some(kind) = media::kind(&bytes) {
        let size = metadata.len().max(bytes.len() as u64);
        if size > bounds.media_bytes as u64 {
            let message =
                format!("`{shown}` is {} of {size} bytes: {} at most", kind.media_type, bounds.media_bytes);
            return Err(ToolFault::new(message));
        }
        return Ok(ToolReply::new(media::parts(kind, shown, &bytes)));
    }
    if !text::is_text(&bytes) {
        let message = format!("`{shown}` is no text: {} bytes; look at it with a command", metadata.len());
        return Err(ToolFault::new(message));
    }
    let mut rows = lines(shown, &bytes, args, bounds.result_chars)?;
    if !whole {
        rows.push(format!("(only the first {} of {} bytes were read)", bounds.file_bytes, metadata.len()));
    }
    Ok(ToolReply::new(rows.join("\n").as_str()))
}

/// Numbered lines from where the call says, and where to read on.
fn lines(shown: &str, bytes: &[u8], args: &Args, chars_max: usize) -> Result<Vec<String>, ToolFault> {
    let (text, broken) = text::decode(bytes);
    let total = text.lines().count();
    let first = args.offset.unwrap_or(1).max(1);
    if total == 0 {
        return Ok(vec![format!("(`{shown}` is empty)")]);
    }
    if first > total {
        let message = format!("`{shown}` has {}: there is none at offset {first}", count(total, "line"));
        return Err(ToolFault::new(message));
    }
    let wanted = args.limit.unwrap_or(LINES_MAX).max(1);
    let mut rows = Vec::new();
    let mut size = 0;
    let mut next = first;
    for line in text.lines().skip(first - 1).take(wanted) {
        let row = format!("{next:>4}\t{}", cut(line, LINE_CHARS_MAX.min(chars_max)));
        size += row.len() + 1;
        if next > first && size > chars_max {
            break;
        }
        rows.push(row);
        next += 1;
    }
    if next <= total {
        rows.push(format!("(lines {first} to {} of {total}; read on with offset {next})", next - 1));
    }
    if broken {
        rows.push("(bytes that are not UTF-8 are shown as \u{fffd})".to_owned());
    }
    Ok(rows)
}

/// The names in a folder, in order; folders end with `/`.
fn list(path: &Path, shown: &str) -> Result<String, ToolFault> {
    let failed = |error| ToolFault::new(format!("cannot list `{shown}`: {error}"));
    let mut names = BTreeSet::new();
    let mut total = 0;
    for entry in path.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let mark = if kind.is_dir() {
            "/"
        } else if kind.is_symlink() {
            "@"
        } else {
            ""
        };
        names.insert(format!("{}{mark}", entry.file_name().to_string_lossy()));
        total += 1;
        if names.len() > NAMES_MAX {
            names.pop_last();
        }
    }
    if total == 0 {
        return Ok(format!("(`{shown}` is an empty folder)"));
    }
    let mut list = names.into_iter().collect::<Vec<_>>();
    if total > list.len() {
        list.push(format!("(the first {} of {total})", list.len()));
    }
    Ok(list.join("\n"))
}
