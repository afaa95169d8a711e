//! What all views have to say alike, as tables: of one history each of them says the same.

// The expected texts are written by the test runner, which always uses hashes.
#![allow(clippy::needless_raw_string_hashes, clippy::needless_pass_by_value)]

mod discarded;
mod lent;

use antiphon_testkit::history;
use antiphon_view::Changes;
use antiphon_view::catalogue::find;
use serde_json::Value;

/// The snapshot of a view; whoever heard of nothing but the changes has the same.
fn fold(view: &str, table: &str) -> Value {
    let mut fold = (find(view).expect("in the catalogue").make)();
    let mut kept = fold.snapshot();
    for event in history(table) {
        let mut changes = Changes::wanted();
        fold.apply(&event, &mut changes);
        for change in changes.take() {
            let said = format!("{view}: {change:?}");
            assert!(change.apply(&mut kept), "{said} leads nowhere");
        }
        assert_eq!(kept, fold.snapshot(), "{view} after {}", event.to_json());
    }
    kept
}
