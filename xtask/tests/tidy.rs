//! The repository is tidy.

use std::path::Path;

#[test]
fn the_repository_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let findings = xtask::tidy::check(root).expect("the repository can be read");
    let list: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} to put right:\n{}", list.len(), list.join("\n"));
}
