//! What a program gets as its environment.

use std::collections::BTreeMap;

use antiphon_event::secret;

/// Variables with those of our own environment in the place of references to them, `$NAME`; what is missing is told.
pub fn environment(variables: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    let resolve = |(name, value): (&String, &String)| {
        let value = match secret::reference(value) {
            None => value.clone(),
            Some(ours) => std::env::var(ours).map_err(|_| {
                format!("the environment has no variable `{ours}`, which `env.{name}` is to be taken from")
            })?,
        };
        Ok((name.clone(), value))
    };
    variables.iter().map(resolve).collect()
}
