//! The files that are made from the code and checked in.
//!
//! In: the types. Out: files. Adding one is a row in [`FILES`]; `tidy` then checks that it is fresh.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

/// A file made from the code: where it lies and what makes it.
pub type Generated = (&'static str, fn() -> String);

/// Every generated file.
pub const FILES: &[Generated] = &[
    ("schema/event.schema.json", event_schema),
    ("schema/flow.schema.json", flow_schema),
    ("schema/agent.schema.json", agent_schema),
];

/// Writes every generated file that is missing or stale.
pub fn write(root: &Path) -> anyhow::Result<()> {
    for (path, make) in FILES {
        let (file, fresh) = (root.join(path), make());
        if fs::read_to_string(&file).is_ok_and(|old| old == fresh) {
            println!("{path} is fresh");
            continue;
        }
        let folder = file.parent().expect("a file lies in a folder");
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        fs::write(&file, fresh).with_context(|| format!("writing {path}"))?;
        println!("{path} written");
    }
    Ok(())
}

fn event_schema() -> String {
    pretty(&antiphon_event::schema())
}

fn flow_schema() -> String {
    pretty(&antiphon_flow::file::schema())
}

fn agent_schema() -> String {
    pretty(&antiphon_flow::file::agent_schema())
}

fn pretty(schema: &Value) -> String {
    let text = serde_json::to_string_pretty(schema).expect("a schema is JSON");
    text + "\n"
}
