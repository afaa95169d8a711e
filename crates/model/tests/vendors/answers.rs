//! What vendors answer, and what is understood of it.

use antiphon_agent::Prompt;
use expect_test::{Expect, expect};
use serde_json::json;

use crate::server::Reply;
use crate::{prompt, say};

/// Events of OpenAI: each row is the data of one.
pub(crate) fn openai(rows: &[&str]) -> Vec<u8> {
    rows.iter().map(|row| format!("data: {row}\n\n")).collect::<String>().into_bytes()
}

/// Events of Anthropic: each row is the data of one, whose name is its type.
pub(crate) fn anthropic(rows: &[&str]) -> Vec<u8> {
    let event = |row: &&str| {
        let value: serde_json::Value = serde_json::from_str(row).expect("JSON");
        format!("event: {}\ndata: {row}\n\n", value["type"].as_str().unwrap_or_default())
    };
    rows.iter().map(event).collect::<String>().into_bytes()
}

#[track_caller]
fn check(provider: &str, body: Vec<u8>, expected: Expect) {
    check_prompt(provider, body, prompt("hello"), expected);
}

#[track_caller]
fn check_prompt(provider: &str, body: Vec<u8>, prompt: Prompt, expected: Expect) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    expected.assert_eq(&runtime.block_on(say(provider, Reply::events(vec![body]), prompt)));
}

#[test]
fn text_comes_in_pieces_and_usage_in_a_chunk_without_choices() {
    check(
        "openai",
        openai(&[
            r#"{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"Hé"},"finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"llo 😀"},"finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":16}}}"#,
            "[DONE]",
        ]),
        expect![[r#"
            text "Hé"
            text "llo 😀"
            usage 20 4 read 16
            stop Done
        "#]],
    );
}

#[test]
fn neither_done_nor_usage_nor_a_last_line_break_is_needed() {
    check(
        "openai",
        br#"data: {"choices":[{"delta":{"content":"four more words here"}}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#
            .to_vec(),
        expect![[r#"
            text "four more words here"
            usage 2 5
            stop Done
        "#]],
    );
}

#[test]
fn a_vendor_may_say_that_it_was_all_and_not_why() {
    let row = r#"{"choices":[{"delta":{"content":"x","reasoning":{"of":"another kind"}}}]}"#;
    check(
        "openai",
        openai(&[row, "[DONE]"]),
        expect![[r#"
            text "x"
            usage 2 1
            stop Done
        "#]],
    );
}

#[test]
fn lines_may_end_in_crlf_and_comments_keep_the_line_open() {
    let rows = ": OPENROUTER PROCESSING\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n\
                : keep-alive\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}],\
                \"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"cost\":0.25}}\r\n\r\ndata: [DONE]\r\n\r\n";
    check(
        "openai",
        rows.as_bytes().to_vec(),
        expect![[r#"
            text "a"
            text "b"
            usage 1 2 $0.25
            stop Done
        "#]],
    );
}

#[test]
fn reasoning_has_two_names_and_may_stand_among_parts() {
    check(
        "openai",
        openai(&[
            r#"{"choices":[{"delta":{"reasoning_content":"I ","content":null}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"think","content":""}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"once","reasoning_content":"once"}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"too"}]},{"type":"text","text":"so"}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"length"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":9}}}"#,
        ]),
        expect![[r#"
            reasoning "I "
            reasoning "think"
            reasoning "once"
            reasoning "too"
            text "so"
            usage 3 9
            stop Length
        "#]],
    );
}

#[test]
fn parallel_calls_are_put_together_by_their_number() {
    check(
        "openai",
        openai(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a1","type":"function","function":{"name":"read","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"pa"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a2","function":{"name":"list"}},{"index":0,"function":{"arguments":"th\":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"content":"late words"}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":7,"prompt_cache_hit_tokens":2}}"#,
            "[DONE]",
        ]),
        expect![[r#"
            text "late words"
            call a1 read {"path":1}
            call a2 list {}
            usage 5 7 read 2
            stop Calls
        "#]],
    );
}

#[test]
fn calls_may_lack_ids_and_numbers_or_share_them() {
    // Whole calls that are all numbered 0, as some servers do.
    check(
        "openai",
        openai(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"one","arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"y","function":{"name":"two","arguments":"{\"b\":2}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{}}"#,
        ]),
        expect![[r#"
            call x one {}
            call y two {"b":2}
            usage 2 3
            stop Calls
        "#]],
    );
    // No number; the arguments as an object; an id twice; no id at all.
    check(
        "openai",
        openai(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"x","function":{"name":"one","arguments":{"a":[1]}}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"","function":{"name":"two","arguments":null}},{"function":{"name":"three","arguments":"{\"c\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":3}"}}]},"finish_reason":"tool_calls"}],"usage":{}}"#,
        ]),
        expect![[r#"
            call x one {"a":[1]}
            call (made up) two {}
            call (made up) three {"c":3}
            usage 2 4
            stop Calls
        "#]],
    );
    check(
        "openai",
        openai(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"one"}},{"index":1,"id":"x","function":{"name":"two","arguments":"{broken"}}]},"finish_reason":"tool_calls"}],"usage":{}}"#,
        ]),
        expect![[r#"
            call x one {}
            call (made up) two {broken
            usage 2 2
            stop Calls
        "#]],
    );
}

#[test]
fn a_refusal_is_said_and_stops_as_one() {
    check(
        "openai",
        openai(&[
            r#"{"choices":[{"delta":{"refusal":"I must not."}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{}}"#,
        ]),
        expect![[r#"
            text "I must not."
            usage 2 3
            stop Filtered
        "#]],
    );
    check(
        "openai",
        openai(&[r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"content_filter"}],"usage":{}}"#]),
        expect![[r#"
            text "x"
            usage 2 1
            stop Filtered
        "#]],
    );
}

#[test]
fn an_answer_that_is_not_streamed_is_read_all_the_same() {
    check(
        "openai",
        br#" {"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"whole","reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#.to_vec(),
        expect![[r#"
            reasoning "hm"
            text "whole"
            call c f {"a":1}
            usage 1 2
            stop Calls
        "#]],
    );
    check(
        "anthropic",
        br#"{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"whole"},{"type":"tool_use","id":"t","name":"f","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}"#.to_vec(),
        expect![[r#"
            reasoning "hm"
            signature "s"
            text "whole"
            call t f {"a":1}
            usage 1 2
            stop Calls
        "#]],
    );
}

const MESSAGE: &[&str] = &[
    r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"small","stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hmm é"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Q="}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"opaque=="}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Let me 😀 look."}}"#,
    r#"{"type":"content_block_stop","index":2}"#,
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a"}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"b\"}"}}"#,
    r#"{"type":"content_block_stop","index":3}"#,
    r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"list","input":{}}}"#,
    r#"{"type":"content_block_stop","index":4}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}"#,
    r#"{"type":"message_stop"}"#,
];

#[test]
fn a_message_has_thoughts_words_and_calls() {
    check(
        "anthropic",
        anthropic(MESSAGE),
        expect![[r#"
            reasoning "Hmm é"
            signature "EqQ="
            signature "redacted:opaque=="
            text "Let me 😀 look."
            call toolu_1 read {"path": "ab"}
            call toolu_2 list {}
            usage 115 89 read 100 created 5
            stop Calls
        "#]],
    );
}

#[test]
fn what_a_later_version_says_is_passed_over() {
    check(
        "anthropic",
        anthropic(&[
            r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
            r#"{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"nowhere"}}"#,
            r#"{"type":"citation_hint","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"at once"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":5}}"#,
        ]),
        expect![[r#"
            text "at once"
            usage 3 5
            stop Length
        "#]],
    );
}

#[test]
fn an_answer_that_fits_a_schema_comes_out_as_text() {
    let asked = || Prompt { output: Some(json!({"type": "object"}).into()), ..prompt("hello") };
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}"#;
    let words =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Here it is."}}"#;
    let form = [
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"answer","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"ok\":"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"true}"}}"#,
    ];
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#;
    let filled = [&[start, words][..], &form, &[end]].concat();
    check_prompt(
        "anthropic",
        anthropic(&filled),
        asked(),
        expect![[r#"
            reasoning "Here it is."
            text "{\"ok\":"
            text "true}"
            usage 3 9
            stop Done
        "#]],
    );
    // An answer that is no object is a member of the arguments.
    let list = || Prompt { output: Some(json!({"type": "array"}).into()), ..prompt("hello") };
    let row = |json: &str| {
        let piece = json!({"type": "input_json_delta", "partial_json": json});
        json!({"type": "content_block_delta", "index": 1, "delta": piece}).to_string()
    };
    let wrapped = [row("{\"value\": ["), row("1, 2]}")];
    let wrapped = [start, form[0], &wrapped[0], &wrapped[1], end];
    check_prompt(
        "anthropic",
        anthropic(&wrapped),
        list(),
        expect![[r#"
            text "[1,2]"
            usage 3 9
            stop Done
        "#]],
    );
    // The model did without the form: what it said is the answer.
    check_prompt(
        "anthropic",
        anthropic(&[start, words, end]),
        asked(),
        expect![[r#"
            text "Here it is."
            usage 3 9
            stop Done
        "#]],
    );
}
