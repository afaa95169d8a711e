//! [`Wardrobe`]: gives agents their models, tools and rules.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use antiphon_agent::permission::Policy;
use antiphon_agent::{Definition, Harness, ModelUse, Outfit, Rlm};
use antiphon_event::Json;
use antiphon_model::Models;
use antiphon_port::{Future, Model, Sandbox, Tool};
use antiphon_runtime::{Kit, Outfitter};
use antiphon_sandbox::Workspace;
use antiphon_sandbox::repl::JavaScript;

use crate::rules::Rules;
use crate::tools::{Shelf, chosen};

/// Gives agents what they need: models by their settings, the tools of a workspace, MCP servers, skills, tools of your
/// own, and the rules for all of them. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct Wardrobe(Arc<Parts>);

struct Parts {
    models: Arc<Models>,
    /// Models that were opened, by their settings.
    open: Arc<Mutex<Vec<(ModelUse, Arc<dyn Model>)>>>,
    /// Models of your own, by name.
    own: BTreeMap<String, Arc<dyn Model>>,
    rules: Rules,
    shelf: Shelf,
    /// The same for runs that work in other folders, as long as one does.
    elsewhere: Arc<Mutex<Vec<Weak<Parts>>>>,
}

impl Wardrobe {
    /// Agents work in a folder, and are asked about everything that is not harmless.
    pub fn new(workspace: Workspace) -> Self {
        let rules = Rules { home: std::env::var_os("HOME").map(Into::into), ..Rules::default() };
        Self(Arc::new(Parts {
            models: Arc::new(Models::new()),
            open: Arc::default(),
            own: BTreeMap::new(),
            rules,
            shelf: Shelf::new(workspace),
            elsewhere: Arc::default(),
        }))
    }

    fn change(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        let parts = Arc::get_mut(&mut self.0).expect("a wardrobe is put together before it is shared");
        change(parts);
        self
    }

    /// Opens models another way: with other prices, or keys from elsewhere.
    #[must_use]
    pub fn models(self, models: Models) -> Self {
        self.change(|parts| parts.models = Arc::new(models))
    }

    /// A model of your own, for agents whose model is of the provider `own` and has this name.
    #[must_use]
    pub fn model(self, name: impl Into<String>, model: Arc<dyn Model>) -> Self {
        self.change(|parts| {
            parts.own.insert(name.into(), model);
        })
    }

    /// A tool of your own, which agents may use by its name.
    #[must_use]
    pub fn tool(self, tool: Arc<dyn Tool>) -> Self {
        self.change(|parts| parts.shelf.add(tool))
    }

    /// Where rules are kept.
    #[must_use]
    pub fn rules(self, rules: Rules) -> Self {
        self.change(|parts| parts.rules = rules)
    }

    /// The folder in which agents work.
    pub fn folder(&self) -> &Path {
        self.0.shelf.folder()
    }

    /// The names of all tools that need no server.
    pub fn tool_names(&self) -> Vec<String> {
        self.0.shelf.names()
    }

    /// Every tool that needs no server.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.0.shelf.all()
    }
}

impl Parts {
    /// The same in another folder.
    fn at(&self, folder: &Path) -> io::Result<Arc<Self>> {
        let mut elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        elsewhere.retain(|parts| parts.strong_count() > 0);
        let known = elsewhere.iter().filter_map(Weak::upgrade).find(|parts| parts.shelf.folder() == folder);
        if let Some(parts) = known {
            return Ok(parts);
        }
        let parts = Arc::new(Self {
            models: Arc::clone(&self.models),
            open: Arc::clone(&self.open),
            own: self.own.clone(),
            rules: self.rules.at(self.shelf.folder(), folder),
            shelf: self.shelf.at(folder)?,
            elsewhere: Arc::clone(&self.elsewhere),
        });
        elsewhere.push(Arc::downgrade(&parts));
        Ok(parts)
    }

    fn open(&self, settings: &ModelUse) -> Result<Arc<dyn Model>, String> {
        if settings.provider == OWN {
            let name = settings.model.as_deref().unwrap_or_default();
            return self
                .own
                .get(name)
                .cloned()
                .ok_or_else(|| format!("there is no model `{name}` of your own"));
        }
        let mut open = self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, model)) = open.iter().find(|(known, _)| known == settings) {
            return Ok(Arc::clone(model));
        }
        let model = self.models.open(settings).map_err(|refused| refused.to_string())?;
        open.push((settings.clone(), Arc::clone(&model)));
        Ok(model)
    }

    async fn outfit(&self, definition: &Definition, within: Option<Policy>) -> Result<Kit, String> {
        let model = self.open(&definition.model)?;
        let offered = self.shelf.offer(definition).await?;
        let own = definition.permissions.clone();
        let policy = match within {
            Some(caller) => caller.inside(own),
            None => self.rules.policy(self.shelf.folder(), own)?,
        };
        let (tools, specs) = chosen(definition, &offered)?;
        let mut outfit = Outfit::new(specs, policy, offered.notes, definition.output.as_ref());
        let mut sandbox: Option<Arc<dyn Sandbox>> = None;
        if definition.harness == Harness::Rlm {
            outfit.context = context(self.shelf.folder(), Rlm::of(definition)?)?;
            sandbox = Some(Arc::new(JavaScript));
        }
        Ok(Kit { outfit: Arc::new(outfit), model, tools, sandbox })
    }
}

/// The text of the file that is the context of an agent whose model writes code.
fn context(folder: &Path, options: Rlm) -> Result<Option<Arc<str>>, String> {
    let Some(file) = options.context_file else { return Ok(None) };
    let path = folder.join(&file);
    let wrong = |error: io::Error| format!("its context `{file}` cannot be read: {error}");
    let size = std::fs::metadata(&path).map_err(wrong)?.len();
    if size > CONTEXT_MAX {
        return Err(format!("its context `{file}` has {size} bytes, at most {CONTEXT_MAX} are read"));
    }
    let bytes = std::fs::read(&path).map_err(wrong)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into()))
}

/// How many bytes of a context are read: what fits into the largest memory that code may have.
const CONTEXT_MAX: u64 = 256 << 20;

/// The provider of models that are handed over in Rust.
pub(crate) const OWN: &str = "own";

impl Outfitter for Wardrobe {
    fn outfit(&self, definition: Arc<Definition>, within: Option<Policy>) -> Future<Result<Kit, String>> {
        let parts = Arc::clone(&self.0);
        Box::pin(async move { parts.outfit(&definition, within).await })
    }

    fn folder(&self) -> Option<&Path> {
        Some(self.0.shelf.folder())
    }

    fn at(&self, folder: &Path) -> Result<Option<Arc<dyn Outfitter>>, String> {
        if folder == self.0.shelf.folder() {
            return Ok(None);
        }
        let wrong = |error| format!("it cannot work in the folder {}: {error}", folder.display());
        Ok(Some(Arc::new(Self(self.0.at(folder).map_err(wrong)?))))
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.0.shelf.get(name)
    }

    fn keep(&self, rule: &Json) -> Result<(), String> {
        self.0.rules.keep(rule)
    }
}
