//! `todo`: a plan as it is shown.

use expect_test::expect;
use serde_json::json;

use super::Bench;

#[tokio::test]
async fn a_plan_is_shown_as_it_stands() {
    let item = |text: &str, status: &str| json!({"text": text, "status": status});
    let rows = [
        json!({"items": [item("look", "done"), item("think\n twice", "in_progress"), item("act", "pending"), item("rest", "cancelled")]}),
        json!({"items": [item("look", "done")]}),
        json!({"items": []}),
        json!({"items": [item(" ", "done")]}),
        json!({"items": [item("x", "half")]}),
        json!({"items": [{"text": "x"}]}),
    ];
    Bench::new().check(&rows.map(|row| ("todo", row)), expect![[r#"
        todo {"items":[{"text":"look","status":"done"},{"text":"think\n twice","status":"in_progress"},{"text":"act","status":"pending"},{"text":"rest","status":"cancelled"}]}
          [x] look
          [>] think twice
          [ ] act
          [-] rest
          2 of 4 open
        todo {"items":[{"text":"look","status":"done"}]}
          [x] look
          all 1 closed
        todo {"items":[]}
          the plan is empty
        todo {"items":[{"text":" ","status":"done"}]}
          failed: step 1 has 0 characters: 1 to 500
        todo {"items":[{"text":"x","status":"half"}]}
          schema: the arguments of `todo` do not fit: unknown variant `half`, expected one of `pending`, `in_progress`, `done`, `cancelled` at line 1 column 37
        todo {"items":[{"text":"x"}]}
          schema: the arguments of `todo` do not fit: missing field `status` at line 1 column 22
    "#]]).await;
    let many: Vec<_> = (0..101).map(|index| item(&index.to_string(), "done")).collect();
    assert_eq!(
        Bench::new().say("todo", json!({"items": many})).await,
        "failed: a plan of 101 steps: 100 at most"
    );
}
