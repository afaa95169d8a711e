//! [`Rules`]: where a project and a person keep what agents may do.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use antiphon_agent::permission::{File, Place, Policy, Rule, Sources};
use antiphon_event::Json;

/// The files with rules. A file that is not there holds none.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The person's own.
    pub user: Option<PathBuf>,
    /// The project's.
    pub project: Option<PathBuf>,
    /// What people granted for the project, which is added to.
    pub grants: Option<PathBuf>,
    /// The person's own folder, for paths with `~/`.
    pub home: Option<PathBuf>,
}

impl Rules {
    /// The usual places: `antiphon/permissions.json` among the person's settings, `.antiphon/permissions.json` in the
    /// project, and `.antiphon/grants.json` for what is granted there.
    pub fn usual(project: &Path) -> Self {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let settings = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let settings = settings.or_else(|| home.as_ref().map(|home| home.join(".config")));
        Self {
            user: settings.map(|settings| settings.join("antiphon/permissions.json")),
            project: Some(project.join(".antiphon/permissions.json")),
            grants: Some(project.join(".antiphon/grants.json")),
            home,
        }
    }

    /// The same for another folder: files in the one before are looked for there.
    pub(crate) fn at(&self, before: &Path, folder: &Path) -> Self {
        let moved = |path: &PathBuf| match path.strip_prefix(before) {
            Ok(inside) => folder.join(inside),
            Err(_) => path.clone(),
        };
        Self {
            user: self.user.clone(),
            project: self.project.as_ref().map(moved),
            grants: self.grants.as_ref().map(moved),
            home: self.home.clone(),
        }
    }

    /// The policy of an agent that works in a folder and has these rules of its own.
    pub(crate) fn policy(&self, folder: &Path, agent: Vec<Rule>) -> Result<Policy, String> {
        let text = |path: &Path| Some(path.to_str()?.to_owned());
        let place = Place { folder: text(folder), home: self.home.as_deref().and_then(text) };
        let sources = Sources {
            user: read(self.user.as_deref())?,
            project: read(self.project.as_deref())?,
            agent,
            grants: read(self.grants.as_deref())?,
            place,
        };
        Ok(sources.policy())
    }

    /// Keeps a rule for the project.
    pub(crate) fn keep(&self, rule: &Json) -> Result<(), String> {
        let Some(path) = &self.grants else {
            return Err("there is no file for what is granted".to_owned());
        };
        let rule: Rule = serde_json::from_str(rule.as_str()).map_err(|error| error.to_string())?;
        let mut file = File { permissions: read(Some(path))? };
        if file.permissions.contains(&rule) {
            return Ok(());
        }
        file.permissions.push(rule);
        let text = serde_json::to_string_pretty(&file).map_err(|error| error.to_string())?;
        let wrong = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(wrong)?;
        }
        // Whole or not at all: a file cut off in the middle would lock everybody out.
        let fresh = path.with_extension("json.new");
        fs::write(&fresh, text + "\n").and_then(|()| fs::rename(&fresh, path)).map_err(wrong)
    }
}

fn read(path: Option<&Path>) -> Result<Vec<Rule>, String> {
    let Some(path) = path else { return Ok(Vec::new()) };
    match fs::read_to_string(path) {
        Ok(text) => {
            let file: File =
                serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(file.permissions)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}
