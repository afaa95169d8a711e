//! [`Prompt`]: what a model is asked, in nobody's dialect.

use antiphon_event::Json;

use crate::{Said, Spec};

/// One call of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prompt {
    /// Its instructions; empty for none.
    pub system: String,
    /// What was said so far, the oldest first. Ids are the vendor's own.
    pub messages: Said,
    /// The tools it may call.
    pub tools: Vec<Spec>,
    /// The JSON Schema its answer has to fit.
    pub output: Option<Json>,
    /// How many tokens it may write; the vendor's own bound if absent.
    pub max_tokens: Option<u64>,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
    /// How much it may think, in tokens, where a vendor can be told so.
    pub thinking_tokens: Option<u64>,
    /// How many times the agent has asked before: scripts go by it, vendors are not told.
    pub call: u32,
}

impl Prompt {
    /// About how many tokens it is: a quarter of its bytes, and a thousand for each image or document.
    pub fn tokens_estimated(&self) -> u64 {
        let offered: usize = self.tools.iter().map(Spec::weight).sum();
        let schema = self.output.as_ref().map_or(0, |schema| schema.as_str().len());
        ((self.system.len() + self.messages.weight() + offered + schema) as u64).div_ceil(4)
    }
}
