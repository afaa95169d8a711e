//! Guards.
use serde_json::Value;
/// Guard.
#[derive(Debug, Clone)]
pub struct Guard { /// id
 pub id: String, /// action
 pub action: Action }
/// Action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action { /// b
 Block, /// w
 Warn, /// s
 Sanitize, /// r
 Reroute(String) }
/// Verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict { /// p
 Passed, /// v
 Violated { /// m
 message: String, /// s
 sanitized: Option<Value> } }
impl Guard { /// i
 pub fn inspect(&self, _: &Value) -> Verdict { Verdict::Passed } }
impl Action { /// w
 pub fn word(&self) -> &'static str { "block" } }
