//! [`World`]: what nodes do, and what the outside remembers of it across the deaths of processes.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use antiphon_flow::function::Failure;
use antiphon_runtime::{Call, Function};
use serde_json::{Value, json};

/// What one node does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deed {
    /// How long it takes, in milliseconds of virtual time.
    pub(crate) takes: u64,
    /// How often it fails before it succeeds.
    pub(crate) fails: u32,
    /// Whether it may not be repeated unasked.
    pub(crate) writes: bool,
    /// What its output depends on beside its input.
    pub(crate) salt: u64,
}

/// What the outside remembers.
#[derive(Debug, Default)]
pub(crate) struct World {
    kept: Mutex<Kept>,
}

/// How far the outside is, to be gone back to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(usize);

/// Something that happened outside.
#[derive(Debug, Clone)]
enum Act {
    Started(String),
    Failed(String),
}

#[derive(Debug, Default)]
struct Kept {
    /// All that happened, in order.
    acts: Vec<Act>,
    /// Executions whose end is in the journal: none of them may run again.
    completed: HashSet<String>,
    /// How often each execution has failed.
    failed: HashMap<String, u32>,
    /// Attempts at writes that are allowed: the first, those after a failure, those a person asked for.
    allowed: HashMap<String, u32>,
    started: HashMap<String, u32>,
    wrong: Vec<String>,
}

impl World {
    /// The code of a node.
    pub(crate) fn function(self: &Arc<Self>, deed: Deed) -> Function {
        let world = Arc::clone(self);
        Function::new(move |call: Call| {
            let world = Arc::clone(&world);
            async move {
                world.begin(&call, deed);
                if deed.takes > 0 {
                    tokio::time::sleep(Duration::from_millis(deed.takes)).await;
                }
                world.end(&call, deed)
            }
        })
    }

    fn begin(&self, call: &Call, deed: Deed) {
        let mut kept = self.kept.lock().expect("nobody panics while holding it");
        let key = call.key();
        if kept.completed.contains(&key) {
            kept.wrong.push(format!("{key} ran again after it had completed"));
        }
        let started = kept.started.entry(key.clone()).or_default();
        *started += 1;
        let started = *started;
        let allowed =
            1 + kept.allowed.get(&key).copied().unwrap_or(0) + kept.failed.get(&key).copied().unwrap_or(0);
        if deed.writes && started > allowed {
            kept.wrong.push(format!("{key} writes and was repeated unasked"));
        }
        kept.acts.push(Act::Started(key));
    }

    fn end(&self, call: &Call, deed: Deed) -> Result<Value, Failure> {
        let mut kept = self.kept.lock().expect("nobody panics while holding it");
        if deed.fails > 0 {
            let key = call.key();
            let failed = kept.failed.entry(key.clone()).or_default();
            if *failed < deed.fails {
                *failed += 1;
                kept.acts.push(Act::Failed(key));
                return Err(Failure::new("not this time"));
            }
        }
        Ok(output(call.input.as_str(), deed.salt))
    }

    /// How far the outside is.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.kept.lock().expect("nobody panics while holding it").acts.len())
    }

    /// Goes back to a moment at which nobody had allowed anything; what had completed by then is to be told again.
    pub(crate) fn go_back(&self, mark: Mark) {
        let mut kept = self.kept.lock().expect("nobody panics while holding it");
        let mut acts = std::mem::take(&mut kept.acts);
        acts.truncate(mark.0);
        *kept = Kept::default();
        for act in &acts {
            match act {
                Act::Started(key) => *kept.started.entry(key.clone()).or_default() += 1,
                Act::Failed(key) => *kept.failed.entry(key.clone()).or_default() += 1,
            }
        }
        kept.acts = acts;
    }

    /// A person allows one more attempt.
    pub(crate) fn allow(&self, key: &str) {
        let mut kept = self.kept.lock().expect("nobody panics while holding it");
        *kept.allowed.entry(key.to_owned()).or_default() += 1;
    }

    /// The end of an execution is in the journal.
    pub(crate) fn complete(&self, key: String) {
        self.kept.lock().expect("nobody panics while holding it").completed.insert(key);
    }

    /// What went wrong.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.kept.lock().expect("nobody panics while holding it").wrong.clone()
    }
}

/// What a node makes of its input: a number, the same whenever it sees the same.
pub(crate) fn output(input: &str, salt: u64) -> Value {
    let mixed =
        input.bytes().fold(salt, |mixed, byte| (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    json!((mixed >> 11) % 1000)
}
