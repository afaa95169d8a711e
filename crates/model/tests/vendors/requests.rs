//! What vendors are asked.

use antiphon_agent::{Call, Class, Content, Message, ModelUse, Prompt, Said, Spec, Thought};
use antiphon_event::body::content::Part;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::server::{Reply, Server};
use crate::{KEY, ask, open, prompt, settings};

/// The head and the body of a request, without what differs from run to run.
async fn asked(settings: impl FnOnce(&mut ModelUse), provider: &str, prompt: Prompt) -> (String, Value) {
    let mut server = Server::start(Reply::text("500 No", "")).await;
    let mut used = crate::settings(provider, server.address);
    settings(&mut used);
    ask(&*open(&used), prompt).await;
    let request = server.request().await;
    let (head, body) = request.split_once("\r\n\r\n").expect("a head and a body");
    let body = serde_json::from_str(body).expect("JSON");
    (head.replace(&server.address.port().to_string(), "PORT"), body)
}

#[track_caller]
fn check(provider: &str, prompt: Prompt, change: impl FnOnce(&mut ModelUse), expected: Expect) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (_, body) = runtime.block_on(asked(change, provider, prompt));
    // A member in a line.
    let rows = body.as_object().expect("an object").iter().map(|(name, value)| match value {
        Value::Array(list) => {
            let items: String = list.iter().map(|item| format!("  {item}\n")).collect();
            format!("{name}:\n{items}")
        }
        other => format!("{name}: {other}\n"),
    });
    expected.assert_eq(&rows.collect::<String>());
}

fn part(value: Value) -> Part {
    serde_json::from_value(value).expect("a part")
}

fn tool(name: &str) -> Spec {
    let input = json!({"type": "object", "properties": {"path": {"type": "string"}}}).into();
    let description = format!("To {name}.");
    Spec { name: name.to_owned(), description, input, class: Class::Read, call_type: None }
}

/// A turn with all there is: media, reasoning, two calls, results of which one shows an image and one failed.
fn turn() -> Prompt {
    let image = || part(json!({"type": "image", "mediaType": "image/png", "data": "iVBORw=="}));
    let user = Content::Parts(vec![
        part(json!({"type": "text", "text": "look"})),
        image(),
        part(
            json!({"type": "document", "mediaType": "application/pdf", "data": "JVBERg==", "name": "a.pdf"}),
        ),
        part(json!({"type": "document", "mediaType": "text/plain", "data": "aGVsbG8=", "name": "a.txt"})),
        part(json!({"type": "image", "mediaType": "image/png"})),
        part(json!({"type": "hologram"})),
    ]);
    let thought = |text: &str, signature: Option<&str>| Thought {
        text: text.to_owned(),
        signature: signature.map(str::to_owned),
    };
    let call = |id: &str, name: &str, arguments: Value| Call {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.into(),
    };
    let result = |id: &str, content: Content, is_error: Option<bool>| Message::Tool {
        tool_call_id: id.to_owned(),
        name: "read".to_owned(),
        content,
        is_error,
    };
    Prompt {
        system: "Be brief.".to_owned(),
        messages: Said::from_iter([
            Message::User { content: user },
            Message::Assistant {
                content: Some("I look.".to_owned()),
                reasoning: Some(vec![
                    thought("hm", Some("c2ln")),
                    thought("", Some("redacted:b3BhcXVl")),
                    thought("unsigned", None),
                ]),
                tool_calls: Some(vec![
                    call("t.1", "read", json!({"path": "a"})),
                    call("t2", "read", json!("not an object")),
                ]),
            },
            result("t.1", Content::Parts(vec![part(json!({"type": "text", "text": "seen"})), image()]), None),
            result("t2", Content::Text(String::new()), Some(true)),
            Message::User { content: Content::Text("go on".to_owned()) },
        ]),
        tools: vec![tool("read"), tool("list")],
        max_tokens: Some(100),
        temperature: Some(0.5),
        ..Prompt::default()
    }
}

/// A turn of words, a call and its result, and nothing else.
pub(crate) fn calls() -> Prompt {
    let call = Call { id: "t1".to_owned(), name: "read".to_owned(), arguments: json!({"path": "a"}).into() };
    let mut messages = prompt("What is in the file a?").messages;
    messages.push(Message::Assistant { content: None, reasoning: None, tool_calls: Some(vec![call]) });
    messages.push(Message::Tool {
        tool_call_id: "t1".to_owned(),
        name: "read".to_owned(),
        content: Content::Text("the word hello".to_owned()),
        is_error: None,
    });
    Prompt { messages, tools: vec![tool("read")], ..Prompt::default() }
}

#[test]
fn openai_is_asked_for_a_completion() {
    check(
        "openai",
        turn(),
        |_| {},
        expect![[r#"
            model: "small"
            messages:
              {"role":"system","content":"Be brief."}
              {"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}},{"type":"text","text":"a.txt:\nhello"},{"type":"text","text":"[image/png without its data]"},{"type":"text","text":"[a part that cannot be shown]"}]}
              {"role":"assistant","content":"I look.","tool_calls":[{"id":"t.1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"t2","type":"function","function":{"name":"read","arguments":"\"not an object\""}}]}
              {"role":"tool","tool_call_id":"t.1","content":"seen\n[shown below]"}
              {"role":"tool","tool_call_id":"t2","content":""}
              {"role":"user","content":[{"type":"text","text":"What the tool read showed:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}]}
              {"role":"user","content":"go on"}
            stream: true
            stream_options: {"include_usage":true}
            tools:
              {"type":"function","function":{"name":"read","description":"To read.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
              {"type":"function","function":{"name":"list","description":"To list.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
            max_tokens: 100
            temperature: 0.5
        "#]],
    );
}

#[test]
fn anthropic_is_asked_for_a_message() {
    check(
        "anthropic",
        turn(),
        |_| {},
        expect![[r#"
            model: "small"
            max_tokens: 100
            stream: true
            system:
              {"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}
            messages:
              {"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw=="}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="},"title":"a.pdf"},{"type":"text","text":"a.txt:\nhello"},{"type":"text","text":"[image/png without its data]"},{"type":"text","text":"[a part that cannot be shown]"}]}
              {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"b3BhcXVl"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t_1","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"t2","name":"read","input":{"value":"not an object"}}]}
              {"role":"user","content":[{"type":"tool_result","tool_use_id":"t_1","content":[{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw=="}}]},{"type":"tool_result","tool_use_id":"t2","is_error":true},{"type":"text","text":"go on","cache_control":{"type":"ephemeral"}}]}
            tools:
              {"name":"read","description":"To read.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}
              {"name":"list","description":"To list.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}},"cache_control":{"type":"ephemeral"}}
            temperature: 0.5
        "#]],
    );
}

#[test]
fn an_answer_may_have_to_fit_a_schema() {
    let strict = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false});
    let loose = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
    let asked = |schema: Value| Prompt { output: Some(schema.into()), ..prompt("hello") };
    check(
        "openai",
        asked(strict.clone()),
        |_| {},
        expect![[r#"
            model: "small"
            messages:
              {"role":"user","content":"hello"}
            stream: true
            stream_options: {"include_usage":true}
            response_format: {"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}}}
        "#]],
    );
    check(
        "openai",
        asked(loose),
        |_| {},
        expect![[r#"
            model: "small"
            messages:
              {"role":"user","content":"hello"}
            stream: true
            stream_options: {"include_usage":true}
            response_format: {"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}
        "#]],
    );
    check(
        "anthropic",
        asked(strict.clone()),
        |_| {},
        expect![[r#"
            model: "small"
            max_tokens: 4096
            stream: true
            messages:
              {"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}
            tools:
              {"name":"answer","description":"Give your final answer with this, and only with this.","input_schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false},"cache_control":{"type":"ephemeral"}}
            tool_choice: {"type":"tool","name":"answer"}
        "#]],
    );
    check(
        "anthropic",
        asked(json!({"type": "array"})),
        |_| {},
        expect![[r#"
            model: "small"
            max_tokens: 4096
            stream: true
            messages:
              {"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}
            tools:
              {"name":"answer","description":"Give your final answer with this, and only with this.","input_schema":{"type":"object","properties":{"value":{"type":"array"}},"required":["value"]},"cache_control":{"type":"ephemeral"}}
            tool_choice: {"type":"tool","name":"answer"}
        "#]],
    );
    let with_tools = Prompt { tools: vec![tool("answer")], ..asked(strict) };
    check(
        "anthropic",
        with_tools.clone(),
        |_| {},
        expect![[r#"
            model: "small"
            max_tokens: 4096
            stream: true
            messages:
              {"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}
            tools:
              {"name":"answer","description":"To answer.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}
              {"name":"answer_","description":"Give your final answer with this, and only with this.","input_schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false},"cache_control":{"type":"ephemeral"}}
            tool_choice: {"type":"any"}
        "#]],
    );
    let thinking = Prompt { thinking_tokens: Some(2000), ..with_tools };
    check(
        "anthropic",
        thinking,
        |_| {},
        expect![[r#"
            model: "small"
            max_tokens: 4096
            stream: true
            messages:
              {"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}
            tools:
              {"name":"answer","description":"To answer.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}
              {"name":"answer_","description":"Give your final answer with this, and only with this.","input_schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false},"cache_control":{"type":"ephemeral"}}
            tool_choice: {"type":"auto"}
            thinking: {"type":"enabled","budget_tokens":2000}
        "#]],
    );
}

#[test]
fn later_models_are_told_less_and_the_form_of_their_answer() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}});
    let asked = Prompt {
        output: Some(schema.into()),
        temperature: Some(0.5),
        tools: vec![tool("read")],
        ..prompt("hello")
    };
    let thinking = Prompt { thinking_tokens: Some(2000), ..asked.clone() };
    let named = |name: &str| {
        let name = name.to_owned();
        move |settings: &mut ModelUse| {
            settings.model = Some(name);
            settings.extra.insert("output_config".to_owned(), json!({"effort": "low"}).into());
        }
    };
    check(
        "anthropic",
        thinking.clone(),
        named("claude-sonnet-4-5"),
        expect![[r#"
        model: "claude-sonnet-4-5"
        max_tokens: 4096
        stream: true
        messages:
          {"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}
        tools:
          {"name":"read","description":"To read.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}},"cache_control":{"type":"ephemeral"}}
        output_config: {"format":{"type":"json_schema","schema":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}},"effort":"low"}
        thinking: {"type":"enabled","budget_tokens":2000}
    "#]],
    );
    check(
        "anthropic",
        thinking,
        named("claude-opus-5-5"),
        expect![[r#"
        model: "claude-opus-5-5"
        max_tokens: 16384
        stream: true
        messages:
          {"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}
        tools:
          {"name":"read","description":"To read.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}},"cache_control":{"type":"ephemeral"}}
        output_config: {"format":{"type":"json_schema","schema":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}},"effort":"low"}
        thinking: {"type":"adaptive","display":"summarized"}
    "#]],
    );
    let free = Prompt { output: Some(json!({"type": "array"}).into()), ..asked };
    check(
        "anthropic",
        free,
        named("claude-opus-5-5"),
        expect![[r#"
        model: "claude-opus-5-5"
        max_tokens: 16384
        stream: true
        messages:
          {"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}
        tools:
          {"name":"read","description":"To read.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}
          {"name":"answer","description":"Give your final answer with this, and only with this.","input_schema":{"type":"object","properties":{"value":{"type":"array"}},"required":["value"]},"cache_control":{"type":"ephemeral"}}
        tool_choice: {"type":"auto"}
        output_config: {"effort":"low"}
    "#]],
    );
}

#[test]
fn settings_stand_in_for_what_a_prompt_does_not_say_and_extra_above_all() {
    let change = |settings: &mut ModelUse| {
        settings.max_tokens = Some(7000);
        settings.temperature = Some(0.1);
        settings.thinking_tokens = Some(9);
        settings.extra.insert("temperature".to_owned(), json!(2).into());
        settings.extra.insert("seed".to_owned(), json!(7).into());
        settings.extra.insert("stream_options".to_owned(), json!(null).into());
    };
    check(
        "openai",
        prompt("hello"),
        change,
        expect![[r#"
            model: "small"
            messages:
              {"role":"user","content":"hello"}
            stream: true
            max_tokens: 7000
            temperature: 2
            seed: 7
        "#]],
    );
    check(
        "anthropic",
        prompt(" "),
        change,
        expect![[r#"
            model: "small"
            max_tokens: 7000
            stream: true
            messages:
              {"role":"user","content":[{"type":"text","text":"(nothing)","cache_control":{"type":"ephemeral"}}]}
            thinking: {"type":"enabled","budget_tokens":1024}
            seed: 7
            temperature: 2
        "#]],
    );
}

#[tokio::test]
async fn the_key_is_in_the_head_and_nowhere_else() {
    let (head, body) = asked(|_| {}, "openai", prompt("hello")).await;
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {KEY}")), "{head}");
    assert!(!body.to_string().contains(KEY));
    let (head, body) = asked(|_| {}, "anthropic", prompt("hello")).await;
    assert!(head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}")), "{head}");
    assert!(head.contains("anthropic-version: 2023-06-01"), "{head}");
    assert!(!body.to_string().contains(KEY));
}

#[tokio::test]
async fn a_server_on_this_machine_is_not_sent_the_usual_key() {
    let mut server = Server::start(Reply::text("500 No", "")).await;
    let mut used = settings("openai", server.address);
    used.api_key_env = None;
    let model =
        antiphon_model::Models::new().environment(|_| Some(KEY.to_owned())).open(&used).expect("opened");
    ask(&*model, prompt("hello")).await;
    let request = server.request().await;
    assert!(!request.contains(KEY), "{request}");
}

#[test]
fn tools_that_were_called_are_declared_where_none_may_be_called() {
    let prompt = Prompt { tools: Vec::new(), ..turn() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (_, body) = runtime.block_on(asked(|_| {}, "anthropic", prompt));
    let names: Vec<&Value> =
        body["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
    let called = turn().messages.iter().find_map(|message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.clone(),
        Message::User { .. } | Message::Tool { .. } => None,
    });
    let called: std::collections::BTreeSet<String> =
        called.expect("calls").into_iter().map(|call| call.name).collect();
    assert_eq!(names, called.iter().map(|name| json!(name)).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}
