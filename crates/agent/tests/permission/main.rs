//! Permissions, from the outside: rules and calls in, verdicts out.

mod bash;
mod call;
mod forms;
mod laws;
mod levels;
mod origins;
mod page;
mod rules;
mod shell;
