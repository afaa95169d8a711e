//! Which settings open a model, and what is said about those that do not.

use antiphon_agent::{ModelUse, PriceUse};
use antiphon_model::Models;
use expect_test::{Expect, expect};
use serde_json::json;

#[track_caller]
fn check(settings: serde_json::Value, expected: Expect) {
    let settings: ModelUse = serde_json::from_value(settings).expect("settings");
    let models = Models::new().environment(|name| (name == "SHORT").then(|| "two words".to_owned()));
    let told = match models.open(&settings) {
        Ok(model) => format!("{} {:?}", model.name(), model.price().map(|price| price.output)),
        Err(refused) => refused.to_string(),
    };
    expected.assert_eq(&told);
}

#[test]
fn settings_that_do_not_make_sense_are_refused_with_what_to_do() {
    check(
        json!({"provider": "antropic"}),
        expect![
            "there is no provider `antropic`, did you mean `anthropic`?; there are openai, anthropic, scripted, replay"
        ],
    );
    check(
        json!({"provider": "something else"}),
        expect!["there is no provider `something else`; there are openai, anthropic, scripted, replay"],
    );
    check(
        json!({"provider": "openai"}),
        expect!["the provider `openai` needs `model`: the name of the model, as its vendor calls it"],
    );
    check(
        json!({"provider": "openai", "model": "x"}),
        expect![
            "no key for the provider `openai`: set `OPENAI_API_KEY`, or name a variable with `api_key_env` or a file with `api_key_file`"
        ],
    );
    check(
        json!({"provider": "anthropic", "model": "x", "api_key_env": "OTHER"}),
        expect!["no key for the provider `anthropic`: the variable `OTHER` of the environment is not set"],
    );
    check(
        json!({"provider": "anthropic", "model": "x", "api_key_env": "SHORT"}),
        expect![
            "no key for the provider `anthropic`: what was found is empty, or not one word of plain ASCII"
        ],
    );
    check(
        json!({"provider": "openai", "model": "x", "api_key_file": "no/such/file"}),
        expect![
            "no key for the provider `openai`: the file `no/such/file`: No such file or directory (os error 2)"
        ],
    );
    check(
        json!({"provider": "openai", "model": "x", "base_url": "ftp://x"}),
        expect!["`base_url` of a model: expected an address that begins with `http://` or `https://`"],
    );
    check(
        json!({"provider": "openai", "model": "x", "base_url": "here"}),
        expect!["`base_url` of a model: it is no address: relative URL without a base"],
    );
    check(
        json!({"provider": "openai", "model": "x", "base_url": "http://a:b@c"}),
        expect!["`base_url` of a model: it has a name or a password in it; name a key with `api_key_env`"],
    );
    check(
        json!({"provider": "openai", "model": "x", "base_url": "http://[::1]:1", "idle_timeout": "1d"}),
        expect!["`idle_timeout` of a model: `1d` is no time; expected one such as `250ms`, `5s` or `2m`"],
    );
    check(
        json!({"provider": "scripted", "replies": "hello"}),
        expect!["`replies` of a model: expected a list of replies"],
    );
    check(
        json!({"provider": "scripted", "replies": [[{"text": "a"}, {"texts": "b"}]]}),
        expect![
            "`replies` of a model: reply 1, step 2: unknown variant `texts`, expected one of `text`, `reasoning`, `signature`, `tool_call`, `usage`, `error`, `delay`, `output`, `stop`"
        ],
    );
    check(
        json!({"provider": "scripted", "replies": [{"when": "/(/", "steps": []}]}),
        expect![[r#"
            `replies` of a model: reply 1: `when` is no pattern: regex parse error:
                (
                ^
            error: unclosed group"#]],
    );
    check(
        json!({"provider": "scripted", "replies": [[], 7]}),
        expect!["`replies` of a model: reply 2: expected a list of steps, or `{when, steps}`"],
    );
    check(
        json!({"provider": "scripted", "replies": [[{"error": {"message": "m", "code": "x"}}]]}),
        expect![
            "`replies` of a model: reply 1, step 1: no code `x`; there are rate_limited, overloaded, timeout, connection, authentication, invalid_request, context_length, malformed, script"
        ],
    );
    check(
        json!({"provider": "replay"}),
        expect!["`fixtures` of a model: the provider `replay` needs a folder with recorded exchanges"],
    );
    check(
        json!({"provider": "replay", "fixtures": "no/such/folder"}),
        expect!["`fixtures` of a model: `no/such/folder`: No such file or directory (os error 2)"],
    );
}

#[test]
fn a_model_has_a_name_and_a_price() {
    let local = "http://localhost:1/v1";
    check(json!({"provider": "openai", "model": "gpt-4.1", "base_url": local}), expect!["gpt-4.1 Some(8.0)"]);
    check(json!({"provider": "openai", "model": "unknown", "base_url": local}), expect!["unknown None"]);
    check(json!({"provider": "scripted"}), expect!["scripted Some(0.0)"]);
    let price = PriceUse { input: 1.0, output: 2.5, cache_read: None, cache_creation: None };
    check(json!({"provider": "scripted", "model": "mine", "price": price}), expect!["mine Some(2.5)"]);
}

#[test]
fn a_key_comes_from_a_file_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("key");
    std::fs::write(&file, "sk-0123456789abcdef\n").expect("written");
    check(
        json!({"provider": "anthropic", "model": "claude-sonnet-5", "api_key_file": file}),
        expect!["claude-sonnet-5 Some(10.0)"],
    );
    std::fs::write(&file, "\n").expect("written");
    check(
        json!({"provider": "anthropic", "model": "claude-sonnet-5", "api_key_file": file}),
        expect![
            "no key for the provider `anthropic`: what was found is empty, or not one word of plain ASCII"
        ],
    );
}
