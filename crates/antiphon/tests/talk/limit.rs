//! What an agent that people talk with may spend.

use antiphon::{Agent, Body, Event, Outcome, scripted};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::stage::{Stage, answer, events};

/// One turn of an agent with three steps of 100 tokens each under a limit: what was counted.
async fn check(limits: Value, expect: Expect) {
    let step = |nth: u32| {
        let read = json!({"tool_call": {"name": "todo", "input": {"items": [{"text": format!("step {nth}"), "done": false}]}}});
        json!([read, {"usage": {"input": 60, "output": 40, "cost_usd": 0.01}}])
    };
    let agent = json!({
        "model": {"provider": "scripted", "replies": [
            step(1), step(2), [{"text": "done"}, {"usage": {"input": 60, "output": 40, "cost_usd": 0.01}}],
        ]},
        "tools": ["todo"], "permissions": [{"allow": "todo"}], "limits": limits,
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    let report = answer(&mut run, &[]).await;
    let mut lines: Vec<String> = events(&run).await.iter().filter_map(line).collect();
    lines.push(format!("{:?} {}", report.outcome, report.output.to_text()));
    expect.assert_eq(&(lines.join("\n") + "\n"));
}

fn line(event: &Event) -> Option<String> {
    Some(match &event.body {
        Body::BudgetReserved(reserved) => {
            format!("reserved {:?} {:?}", reserved.amounts.tokens, reserved.amounts.cost_usd)
        }
        Body::BudgetSettled(settled) => {
            format!("settled {:?} {:?}", settled.amounts.tokens, settled.amounts.cost_usd)
        }
        Body::HarnessEnd(end) => format!("end {:?}", end.reason),
        Body::Error(error) => format!("error {:?} {}", error.code, error.message),
        _ => return None,
    })
}

#[tokio::test]
async fn a_turn_within_its_bounds_is_counted() {
    check(
        json!({"max_tokens": 300}),
        expect![[r#"
        reserved Some(100) Some(0.01)
        settled Some(100) Some(0.01)
        reserved Some(100) Some(0.01)
        settled Some(100) Some(0.01)
        reserved Some(100) Some(0.01)
        settled Some(100) Some(0.01)
        end Some(Done)
        Completed done
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_call_that_would_not_fit_is_not_made() {
    check(
        json!({"max_tokens": 250}),
        expect![[r#"
        reserved Some(100) Some(0.01)
        settled Some(100) Some(0.01)
        reserved Some(100) Some(0.01)
        settled Some(100) Some(0.01)
        error Some("budget_exhausted") what it needs is more than is left: budget_tokens
        end Some(Budget)
        Failed {"error":"what it needs is more than is left: budget_tokens"}
    "#]],
    )
    .await;
    check(
        json!({"max_cost_usd": 0.015}),
        expect![[r#"
        reserved Some(100) Some(0.01)
        settled Some(100) Some(0.01)
        error Some("budget_exhausted") what it needs is more than is left: budget_cost
        end Some(Budget)
        Failed {"error":"what it needs is more than is left: budget_cost"}
    "#]],
    )
    .await;
    check(
        json!({"max_steps": 1}),
        expect![[r#"
        reserved Some(100) Some(0.01)
        settled Some(100) Some(0.01)
        error Some("budget_exhausted") what it needs is more than is left: budget_steps
        end Some(Budget)
        Failed {"error":"what it needs is more than is left: budget_steps"}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn without_bounds_nothing_is_counted() {
    check(
        json!({}),
        expect![[r#"
        end Some(Done)
        Completed done
    "#]],
    )
    .await;
}

#[tokio::test]
async fn the_next_turn_has_its_own() {
    let agent = json!({
        "model": {"provider": "scripted", "replies": [[{"text": "one"}, {"usage": {"input": 60, "output": 40}}]]},
        "limits": {"max_tokens": 150},
    });
    let mut stage = Stage::new();
    for _ in 0..2 {
        let mut run = stage.say(&agent, "go").await;
        assert_eq!(answer(&mut run, &[]).await.outcome, Outcome::Completed);
    }
}

#[tokio::test]
async fn in_rust_it_is_a_word() {
    let refused = Agent::new(scripted(["a long answer"])).max_tokens(1).run("go").await;
    let refused = refused.expect_err("one token is not enough").to_string();
    expect![[r#"the agent failed: {"error":"what it needs is more than is left: budget_tokens"}"#]]
        .assert_eq(&refused);
    let answered = Agent::new(scripted(["an answer"])).max_steps(1).max_cost_usd(0.1).run("go").await;
    assert_eq!(answered.expect("there is room").text(), "an answer");
}
