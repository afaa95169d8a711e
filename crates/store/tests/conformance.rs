//! Both journals keep the contract.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use antiphon_port::Journal;
use antiphon_store::{Memory, Sqlite};
use antiphon_testkit::journal::conformance;

#[test]
fn memory_keeps_the_contract() {
    let kept: Mutex<HashMap<String, Arc<dyn Journal>>> = Mutex::default();
    conformance(&|name| {
        let mut kept = kept.lock().unwrap();
        Arc::clone(kept.entry(name.to_owned()).or_insert_with(|| Arc::new(Memory::new())))
    });
}

#[test]
fn a_file_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    conformance(&|name| {
        let path = folder.path().join("new/folder").join(name).with_extension("db");
        Arc::new(Sqlite::open(path).unwrap())
    });
}
