//! A real small model, spoken to in both formats: only where one is served and `ANTIPHON_REAL_MODEL` says where.
//!
//! `ANTIPHON_REAL_MODEL=http://127.0.0.1:18080/v1 cargo test -p antiphon-model --test vendors real -- --nocapture`

use antiphon_agent::{Delta, Fault, ModelUse, Prompt, Stop};
use serde_json::{Value, json};

use crate::{ask, lines, prompt};

fn models() -> Vec<ModelUse> {
    let Ok(base) = std::env::var("ANTIPHON_REAL_MODEL") else {
        return Vec::new();
    };
    let model = |provider: &str| ModelUse {
        provider: provider.to_owned(),
        model: Some("real".to_owned()),
        base_url: Some(base.clone()),
        ..ModelUse::default()
    };
    vec![model("openai"), model("anthropic")]
}

/// What it said: the text, and why it stopped. That it says what it used is checked on the way.
fn told(said: &[Result<Delta, Fault>]) -> (String, Stop) {
    let all: Vec<_> = said.iter().map(|delta| delta.as_ref().expect("no fault")).collect();
    let [.., Delta::Usage(tokens), Delta::Stop(stop)] = all[..] else {
        panic!("no end: {}", lines(said));
    };
    assert!(tokens.input > 0 && tokens.output > 0, "{tokens:?}");
    let texts = all.iter().filter_map(|delta| match delta {
        Delta::Text(text) => Some(text.as_str()),
        _ => None,
    });
    (texts.collect(), *stop)
}

#[tokio::test]
async fn a_real_model_answers() {
    for settings in models() {
        let model = antiphon_model::open(&settings).expect("opened");
        let asked = Prompt {
            system: "You answer in one short sentence.".to_owned(),
            max_tokens: Some(60),
            temperature: Some(0.0),
            ..prompt("What is the capital of France?")
        };
        let (text, stop) = told(&ask(&*model, asked).await);
        println!("{}: {stop:?} {text}", settings.provider);
        assert!(!text.is_empty());
    }
}

#[tokio::test]
async fn a_real_model_is_stopped_at_its_bound() {
    for settings in models() {
        let model = antiphon_model::open(&settings).expect("opened");
        let asked = Prompt { max_tokens: Some(5), ..prompt("Tell me a very long story about the sea.") };
        let (text, stop) = told(&ask(&*model, asked).await);
        println!("{}: {stop:?} {text}", settings.provider);
        assert_eq!(stop, Stop::Length);
    }
}

#[tokio::test]
async fn a_real_model_is_asked_too_much() {
    for settings in models() {
        let model = antiphon_model::open(&settings).expect("opened");
        let said = ask(&*model, prompt(&"a b c d ".repeat(10_000))).await;
        let [Err(fault)] = &said[..] else { panic!("{}", lines(&said)) };
        println!("{}", fault.message);
        assert_eq!((fault.code, fault.retryable), ("context_length", false));
    }
}

#[tokio::test]
async fn a_real_server_takes_a_turn_with_calls() {
    for settings in models() {
        let model = antiphon_model::open(&settings).expect("opened");
        let (text, stop) =
            told(&ask(&*model, Prompt { max_tokens: Some(20), ..crate::requests::calls() }).await);
        println!("{}: {stop:?} {text}", settings.provider);
    }
}

#[tokio::test]
async fn a_real_model_fits_a_schema() {
    // A server may ignore that a tool has to be called, so only the format with a grammar is held to it.
    for settings in models().into_iter().filter(|settings| settings.provider == "openai") {
        let model = antiphon_model::open(&settings).expect("opened");
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false});
        let asked = Prompt {
            output: Some(schema.into()),
            max_tokens: Some(60),
            ..prompt("Which city is the capital of France? Answer as JSON.")
        };
        let (text, stop) = told(&ask(&*model, asked).await);
        println!("{}: {stop:?} {text}", settings.provider);
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert!(value["city"].is_string(), "{value}");
    }
}
