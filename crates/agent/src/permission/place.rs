//! [`Place`]: where an agent works, which relative patterns are about; and [`Path`], the pattern of a rule for files.
//!
//! In: `src/**`, `~/notes`, `/etc`. Out: whether a resolved path fits. Start reading at [`Path::fits`].

use super::glob::Glob;

/// Where an agent works. Both with links resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The working folder: what a pattern without `/` or `~/` at its front is about.
    pub folder: Option<String>,
    /// The person's own folder, for patterns with `~/`.
    pub home: Option<String>,
}

impl Place {
    /// Whether a folder holds all of what somebody works on or owns.
    pub(super) fn is_in(&self, folder: &str) -> bool {
        let places = [&self.folder, &self.home].into_iter().flatten().filter_map(|place| normal(place));
        places.into_iter().any(|place| within(&place, folder).is_some())
    }
}

/// A pattern for paths; one for a folder covers what is inside.
#[derive(Debug, Clone)]
pub(super) struct Path {
    base: Base,
    glob: Glob,
}

#[derive(Debug, Clone, Copy)]
enum Base {
    Root,
    Home,
    Folder,
}

impl Path {
    pub(super) fn read(pattern: &str) -> Result<Self, String> {
        let (base, rest) = match pattern {
            "~" => (Base::Home, ""),
            _ if pattern.starts_with('/') => (Base::Root, pattern),
            _ => match pattern.strip_prefix("~/") {
                Some(rest) => (Base::Home, rest),
                None => (Base::Folder, pattern),
            },
        };
        if pattern.is_empty() {
            return Err("an empty path: write `.` for the working folder".to_owned());
        }
        if rest.split('/').any(|part| part == "..") {
            return Err("a path with `..`: write it from `/` or `~/`".to_owned());
        }
        let parts = rest.split('/').filter(|part| !part.is_empty() && *part != ".");
        let pattern: String = parts.flat_map(|part| ["/", part]).collect();
        Ok(Self { base, glob: Glob::path(&pattern) })
    }

    /// Whether a path fits; nothing if what the pattern is about is not known.
    pub(super) fn fits(&self, path: &str, place: &Place) -> Option<bool> {
        let base = self.base(place)?;
        Some(within(path, &base).is_some_and(|rest| self.glob.fits(rest)))
    }

    /// Whether it is about this very path and what is inside.
    pub(super) fn names(&self, path: &str, place: &Place) -> bool {
        let base = self.base(place);
        base.is_some_and(|base| within(path, &base).is_some_and(|rest| self.glob.is(rest)))
    }

    /// The folder that the pattern is about.
    fn base(&self, place: &Place) -> Option<String> {
        match self.base {
            Base::Root => Some("/".to_owned()),
            Base::Home => normal(place.home.as_deref()?),
            Base::Folder => normal(place.folder.as_deref()?),
        }
    }
}

/// What is left of a path below a folder: nothing if it is not in there.
fn within<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// The longest path that is looked at, in bytes.
const PATH_MAX: usize = 4096;

/// A path from `/` without `.`, `..` and doubled `/`; nothing if it is not from `/`, or too long to be one.
pub(super) fn normal(path: &str) -> Option<String> {
    if !path.starts_with('/') || path.len() > PATH_MAX || path.contains('\0') {
        return None;
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}
