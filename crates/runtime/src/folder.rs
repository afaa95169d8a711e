//! The folder that a run works in: said by the event that it begins with, or by the one with which somebody went on with it
//! elsewhere.
//!
//! In: a folder. Out: the [`Parts`] of a run that works there, so that whatever is begun by its driver is begun there.
//! Start reading at [`Parts::in_folder`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::driver::Driver;
use crate::engine::{Parts, Refused};

impl Parts {
    /// What a run has that is started: in the folder that was said, else in that of the engine, or its agents, or the
    /// process.
    pub(crate) fn for_start(self: &Arc<Self>, said: Option<&Path>) -> Result<Arc<Self>, Refused> {
        let of_agents = || self.outfitter.as_deref().and_then(|outfitter| outfitter.folder());
        if let Some(folder) = said.or(self.folder.as_deref()).or_else(of_agents) {
            return self.in_folder(folder);
        }
        // One that was removed has no name, and work that needs none goes on there.
        std::env::current_dir().map_or_else(|_| Ok(Arc::clone(self)), |folder| self.there(folder))
    }

    /// What a run has that works in a folder.
    pub(crate) fn in_folder(self: &Arc<Self>, folder: &Path) -> Result<Arc<Self>, Refused> {
        let wrong = |error: io::Error| Refused::Folder { folder: folder.into(), why: error.to_string() };
        let real = folder.canonicalize().map_err(wrong)?;
        if !real.is_dir() {
            return Err(wrong(io::ErrorKind::NotADirectory.into()));
        }
        self.there(real)
    }

    fn there(self: &Arc<Self>, real: PathBuf) -> Result<Arc<Self>, Refused> {
        let mut parts = Self::clone(self);
        if let Some(here) = &self.outfitter
            && let Some(there) = here.at(&real).map_err(Refused::Agent)?
        {
            for (name, tool) in &mut parts.tools {
                let is_same = here.tool(name).is_some_and(|own| Arc::ptr_eq(&own, tool));
                if let Some(other) = there.tool(name).filter(|_| is_same) {
                    *tool = other;
                }
            }
            parts.outfitter = Some(there);
        }
        parts.folder = Some(real.into());
        Ok(Arc::new(parts))
    }
}

impl Driver {
    /// Says where the run works, in the event with which it is about to begin or to be gone on with. A path that is no
    /// text cannot be said.
    pub(crate) fn say_folder(&mut self) {
        let folder = self.parts.folder.as_deref().and_then(Path::to_str);
        let run = self.tree.machines[0].mind.run();
        let mut events = self.batch.iter_mut().filter(|event| event.head.run_id.as_ref() == Some(run));
        let place = events.find_map(|event| event.body.folder_mut());
        *place.expect("a run begins, or is gone on with, with an event of its own") = folder.map(Into::into);
        self.tree.folder = folder.map(Into::into);
    }
}
