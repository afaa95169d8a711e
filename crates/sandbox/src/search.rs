//! `search`: files by their names and by what they hold, without those that ignore files leave out.
//!
//! In: a regular expression, a glob, a folder. Out: paths, or lines with their numbers, in the order of paths. Start
//! reading at [`find`].

mod hits;

use std::path::{Path, PathBuf};
use std::time::Instant;

use antiphon_agent::Class;
use antiphon_agent::permission::Subject;
use antiphon_event::Provenance;
use antiphon_port::{Reach, Tool, ToolFault, ToolReply};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{Walk, WalkBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::Wanted;
use crate::file::{self, Entry};
use crate::{Workspace, blocking, typed};
use hits::{Bounds, Hits};

const DESCRIPTION: &str = "Search files. With `pattern`, a regular expression, lines that fit are given with their \
numbers; without it, the names of files. `files` is a glob for names, such as `*.rs` or `src/**/*.{ts,tsx}`. What \
ignore files such as .gitignore leave out is not searched, nor are files that a person would have to be asked about: \
name such a file with `path`.";

/// How many hits are given if the call does not say, and at most.
const HITS: usize = 200;
const HITS_MAX: usize = 2000;
/// How many bytes a pattern may take up once it is understood.
const PATTERN_BYTES_MAX: usize = 8 << 20;
/// How many lines around a hit are given at most.
const CONTEXT_MAX: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The regular expression that lines have to fit.
    #[serde(default)]
    pattern: Option<String>,
    /// The glob that paths have to fit, from the folder that is searched.
    #[serde(default)]
    files: Option<String>,
    /// The folder or file to search, from the root of the workspace; the root if absent.
    #[serde(default)]
    path: Option<String>,
    /// Whether `a` fits `A`.
    #[serde(default)]
    ignore_case: bool,
    /// How many lines before and after each hit to give; none if absent, 20 at most.
    #[serde(default)]
    context: Option<usize>,
    /// How many hits to give; 200 if absent, 2000 at most.
    #[serde(default)]
    limit: Option<usize>,
}

pub(crate) fn tool(workspace: &Workspace) -> impl Tool + use<> {
    let (mine, theirs) = (workspace.clone(), workspace.clone());
    typed("search", DESCRIPTION, Class::Read, move |args: Args, call| {
        let workspace = mine.clone();
        blocking::run(move |wanted| find(&workspace, &args, &call.reach, wanted))
    })
    .touching(move |args| vec![theirs.subject(args.path.as_deref().unwrap_or_default(), false)])
}

fn find(workspace: &Workspace, args: &Args, reach: &Reach, wanted: &Wanted) -> Result<ToolReply, ToolFault> {
    let start = workspace.resolve(args.path.as_deref().unwrap_or_default())?;
    let folder = folder(workspace, &start)?;
    let globs = args.files.as_deref().map(|glob| globs(&folder, glob)).transpose()?;
    let matcher = args.pattern.as_deref().map(|pattern| matcher(pattern, args.ignore_case)).transpose()?;
    let mut hits = Hits::new(Bounds {
        until: Instant::now() + workspace.bounds().search_time,
        wanted: wanted.clone(),
        hits_max: args.limit.unwrap_or(HITS).clamp(1, HITS_MAX),
        chars_max: workspace.bounds().result_chars,
        context: args.context.unwrap_or(0).min(CONTEXT_MAX),
        line_bytes_max: workspace.bounds().file_bytes,
    });
    for path in files(&start) {
        if globs.as_ref().is_some_and(|globs| globs.matched(&path, false).is_ignore()) {
            continue;
        }
        let shown = workspace.show(&path);
        if !reach.covers(&found(&path, &shown)) {
            hits.leave_out();
            continue;
        }
        match &matcher {
            None => hits.name(&shown),
            Some(matcher) => hits.lines(matcher, &path, &shown),
        }
        if hits.is_over() {
            break;
        }
    }
    wanted.check()?;
    Ok(ToolReply { output: hits.render().as_str().into(), provenance: Some(Provenance::File) })
}

/// A file as rules look at it. Links are not followed, so it is where it seems to be.
fn found(path: &Path, shown: &str) -> Subject {
    Subject::Path { given: shown.to_owned(), resolved: path.to_string_lossy().into_owned(), writes: false }
}

/// The folder that is searched, or the one of the file.
fn folder(workspace: &Workspace, start: &Path) -> Result<PathBuf, ToolFault> {
    let shown = workspace.show(start);
    match file::entry(start) {
        Ok(Entry::Folder) => Ok(start.to_owned()),
        Ok(Entry::File(_)) => Ok(start.parent().unwrap_or(start).to_owned()),
        Ok(Entry::Missing) => Err(ToolFault::new(format!("`{shown}` does not exist"))),
        Ok(Entry::Other(what)) => {
            Err(ToolFault::new(format!("`{shown}` is {what}: only files are searched")))
        }
        Err(error) => Err(ToolFault::new(format!("cannot search `{shown}`: {error}"))),
    }
}

/// Every file that nothing leaves out, in the order of paths; what cannot be read is passed over.
fn files(start: &Path) -> impl Iterator<Item = PathBuf> {
    let mut walk = WalkBuilder::new(start);
    walk.hidden(false).require_git(false).follow_links(false).sort_by_file_path(Path::cmp);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    let walk: Walk = walk.build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.map(ignore::DirEntry::into_path)
}

fn globs(folder: &Path, glob: &str) -> Result<Override, ToolFault> {
    let built = OverrideBuilder::new(folder).add(glob).and_then(|builder| builder.build());
    built.map_err(|error| ToolFault::new(format!("`{glob}` is no glob: {error}")))
}

fn matcher(pattern: &str, ignore_case: bool) -> Result<RegexMatcher, ToolFault> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(ignore_case).multi_line(true).crlf(true);
    builder.size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    let built = builder.build(pattern);
    built.map_err(|error| {
        ToolFault::new(format!("`{pattern}` is no regular expression for one line: {error}"))
    })
}
