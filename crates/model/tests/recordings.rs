//! Exchanges that are kept, and answered from again.

use std::path::Path;
use std::sync::Arc;

use antiphon_agent::{Content, Delta, Fault, Message, ModelUse, Prompt, Said};
use antiphon_model::{Recorder, Replay, Script, Step};
use antiphon_port::Model;
use expect_test::expect;
use futures_util::StreamExt;

const KEY: &str = "sk-live-0123456789abcdef";

fn prompt(text: &str, call: u32) -> Arc<Prompt> {
    let messages = Said::from_iter([Message::User { content: Content::Text(text.to_owned()) }]);
    Arc::new(Prompt { system: "Be brief.".to_owned(), messages, call, ..Prompt::default() })
}

/// Asks as an agent does that has not asked before.
async fn ask(model: &dyn Model, text: &str) -> Vec<Result<Delta, Fault>> {
    model.call(prompt(text, 0)).collect().await
}

/// Records a conversation of three prompts, one of them twice.
async fn record(folder: &Path) -> Vec<Vec<Result<Delta, Fault>>> {
    let model = Script::new()
        .reply([Step::reasoning("hm"), Step::chunks(["a", "b"]), Step::call("read", "{}"), Step::usage(3, 4)])
        .reply([Step::text("again")])
        .reply([Step::text("half"), Step::error("went wrong")])
        .reply([Step::chunks(["your key is sk-live-01234", "56789abcdef, keep it"])])
        .model();
    let recorder = Recorder::new(Arc::new(model), folder);
    let mut said = Vec::new();
    for (text, call) in ["hello", "hello", "fail", &format!("my key is {KEY}")].into_iter().zip(0..) {
        said.push(recorder.call(prompt(text, call)).collect().await);
    }
    said
}

#[tokio::test]
async fn what_was_recorded_is_said_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let recorded = record(folder.path()).await;
    let replay = Replay::open(folder.path()).expect("opened");
    assert_eq!(ask(&replay, "fail").await, recorded[2]);
    assert_eq!(ask(&replay, "hello").await, recorded[0]);
    assert_eq!(ask(&replay, "hello").await, recorded[1]);
    assert_eq!(ask(&replay, "hello").await, recorded[1], "the last answer is given from then on");
    let settings = ModelUse {
        provider: "replay".to_owned(),
        fixtures: Some(folder.path().to_string_lossy().into_owned()),
        ..ModelUse::default()
    };
    let opened = antiphon_model::open(&settings).expect("opened");
    assert_eq!(ask(&*opened, "hello").await, recorded[0]);
}

#[tokio::test]
async fn secrets_are_not_kept_and_make_no_difference() {
    let folder = tempfile::tempdir().expect("a folder");
    record(folder.path()).await;
    let files: Vec<_> = std::fs::read_dir(folder.path())
        .expect("a folder")
        .map(|file| file.expect("a file").path())
        .collect();
    assert_eq!(files.len(), 4);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        assert!(!text.contains("0123456789abcdef") && !text.contains("56789abcdef"), "{text}");
    }
    let replay = Replay::open(folder.path()).expect("opened");
    let said = ask(&replay, "my key is sk-another-one-0123456789").await;
    assert_eq!(said[0], Ok(Delta::Text("your key is [secret], keep it".to_owned())));
}

#[tokio::test]
async fn another_prompt_is_refused_with_what_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    record(folder.path()).await;
    let replay = Replay::open(folder.path()).expect("opened");
    let said = ask(&replay, "hullo").await;
    let [Err(fault)] = &said[..] else { panic!("{said:?}") };
    assert_eq!((fault.code, fault.retryable), ("script", false));
    let told = fault.message.replace(&*folder.path().to_string_lossy(), "…");
    expect![[r#"
        no exchange in `…` was recorded for this prompt; of 3, the nearest is `15c413855b191c19ad7fcde777df258d-000.json`, and what is asked now (+) differs from it (-) in line 6 of the prompt:
                "role": "user",
        -       "content": "hello"
        -     }
        -   ],
        -   "tools": []
        +       "content": "hullo"
        +     }
        +   ],
        +   "tools": []
    "#]].assert_eq(&told);
}

#[tokio::test]
async fn an_answer_that_is_dropped_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = Script::new().reply([Step::chunks(["a", "b"])]).model();
    let recorder = Recorder::new(Arc::new(model), folder.path().join("new"));
    let mut stream = recorder.call(prompt("hello", 0));
    assert!(stream.next().await.is_some());
    drop(stream);
    assert!(!folder.path().join("new").exists());
}

#[test]
fn files_that_are_none_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut told = String::new();
    for text in [
        "{",
        r#"{"antiphon":2,"model":"m","digest":"d","prompt":{},"deltas":[]}"#,
        r#"{"antiphon":1,"model":"m","digest":"d","prompt":{},"deltas":[{"text":"a"}]}"#,
    ] {
        std::fs::write(folder.path().join("a.json"), text).expect("written");
        let refused = Replay::open(folder.path()).err().expect("refused").to_string();
        told += &refused.replace(&*folder.path().to_string_lossy(), "…");
        told.push('\n');
    }
    expect![[r#"
        `fixtures` of a model: `…/a.json`: EOF while parsing an object at line 1 column 1
        `fixtures` of a model: `…/a.json`: it is of version 2; this program reads version 1
        `fixtures` of a model: `…/a.json`: its answer has no end: the last of its `deltas` is no `stop` and no `fault`
    "#]].assert_eq(&told);
}
