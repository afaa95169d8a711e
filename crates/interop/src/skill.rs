//! Skills: folders with instructions for particular tasks, read when they are needed.
//!
//! In: folders that hold skills, each a folder with a file `SKILL.md`. Out: what there is, for the prompt, and a tool
//! that loads one. A skill that is broken is left out with a warning, and hides no other. Start reading at
//! [`discover`].

mod front;
mod listing;
mod read;
mod tool;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use listing::prompt;
pub use tool::SkillTool;

/// The file that makes a folder a skill.
const FILE: &str = "SKILL.md";

/// How many entries of one folder are looked at.
const ENTRIES_MAX: usize = 1000;

/// How many skills there may be.
const SKILLS_MAX: usize = 200;

/// A skill, as its file introduces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What it is called: letters, digits, `-` and `_`, at most 64.
    pub name: String,
    /// What it is good for, and when.
    pub description: String,
    /// Its folder, with links resolved.
    pub folder: PathBuf,
}

/// What was found in folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The skills, in the order of the folders, then by the names of theirs.
    pub skills: Vec<Skill>,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

/// Why something was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file or folder.
    pub path: PathBuf,
    /// The line in the file, counted from 1, if it is about one.
    pub line: Option<u32>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Warning {
    fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " {}", self.message)
    }
}

/// Looks for skills: in each folder, and in the folders right in it. Of two with one name, the first is taken.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # std::fs::create_dir(dir.path().join("tea"))?;
/// std::fs::write(dir.path().join("tea/SKILL.md"), "---\nname: tea\ndescription: How to make tea.\n---\nBoil water.")?;
///
/// let found = antiphon_interop::skill::discover(&[dir.path()]);
/// assert_eq!(found.skills[0].name, "tea");
/// assert!(found.warnings.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn discover(folders: &[impl AsRef<Path>]) -> Found {
    let mut found = Found::default();
    let mut seen = BTreeMap::new();
    for folder in folders {
        for place in places(folder.as_ref(), &mut found.warnings) {
            match open(&place) {
                Ok(skill) => add(skill, &mut seen, &mut found),
                Err(warning) => found.warnings.push(warning),
            }
        }
    }
    found
}

fn add(skill: Skill, seen: &mut BTreeMap<String, PathBuf>, found: &mut Found) {
    let file = skill.folder.join(FILE);
    if let Some(first) = seen.get(&skill.name) {
        // Folders may be named twice, which does no harm.
        if *first != skill.folder {
            let message = format!("`{}` is there already: {}", skill.name, first.display());
            found.warnings.push(Warning::new(&file, message));
        }
    } else if found.skills.len() == SKILLS_MAX {
        found.warnings.push(Warning::new(&file, format!("there are more than {SKILLS_MAX} skills")));
    } else {
        seen.insert(skill.name.clone(), skill.folder.clone());
        found.skills.push(skill);
    }
}

/// The folders that are skills: this one, or those in it.
fn places(folder: &Path, warnings: &mut Vec<Warning>) -> Vec<PathBuf> {
    if folder.join(FILE).symlink_metadata().is_ok() {
        return vec![folder.to_owned()];
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            warnings.push(Warning::new(folder, format!("cannot be read: {error}")));
            return Vec::new();
        }
    };
    let mut entries: Vec<_> =
        entries.take(ENTRIES_MAX + 1).filter_map(|entry| Some(entry.ok()?.path())).collect();
    if entries.len() > ENTRIES_MAX {
        warnings
            .push(Warning::new(folder, format!("has more than {ENTRIES_MAX} entries, some are left out")));
        entries.truncate(ENTRIES_MAX);
    }
    entries.retain(|entry| entry.join(FILE).symlink_metadata().is_ok());
    entries.sort();
    entries
}

fn open(place: &Path) -> Result<Skill, Warning> {
    let file = place.join(FILE);
    let folder =
        place.canonicalize().map_err(|error| Warning::new(place, format!("cannot be read: {error}")))?;
    let text = read::text(&folder, FILE).map_err(|message| Warning::new(&file, message))?;
    let front = front::parse(&text)
        .map_err(|wrong| Warning { line: Some(wrong.line), ..Warning::new(&file, wrong.message) })?;
    Ok(Skill { name: front.name, description: front.description, folder })
}
