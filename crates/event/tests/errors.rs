//! Lines that are no events: each is refused with the place and the reason, and nothing else is lost.

// The expected texts are written by the test runner, which always uses hashes.
#![allow(clippy::needless_raw_string_hashes, clippy::needless_pass_by_value)]

use antiphon_event::{Event, Lines, schema};
use expect_test::{Expect, expect};
use jsonschema::Validator;

/// Reads all of the bytes at once and shows what became of each line.
fn show(bytes: &[u8]) -> String {
    let mut shown = String::new();
    let mut note = |event: Result<Event, antiphon_event::Error>| {
        shown.push_str(&event.map_or_else(|error| error.to_string(), |event| event.to_json()));
        shown.push('\n');
    };
    let mut lines = Lines::new();
    lines.feed(bytes, &mut note);
    lines.finish(&mut note);
    shown
}

#[track_caller]
fn check(bytes: impl AsRef<[u8]>, expected: Expect) {
    expected.assert_eq(&show(bytes.as_ref()));
}

#[test]
fn a_cut_line_says_so() {
    check(
        concat!(
            "{\n",
            r#"{"type":"te"#,
            "\n",
            r#"{"type""#,
            "\n",
            r#"{"type":"text","runId":"r","id":"t","content":"x""#,
            "\n",
            r#"{"type":"text","runId":"r","id":"t","content":"é\"#,
            "\n",
            r#"{"type":"tool_call","runId":"r","id":"c","name":"n","input":{"a":[1,"#,
        ),
        expect![[r#"
            line 1, column 1: the line is cut off: EOF while parsing an object
            line 2, column 11: the line is cut off: EOF while parsing a string
            line 3, column 7: the line is cut off: EOF while parsing an object
            line 4, column 49: the line is cut off: EOF while parsing an object
            line 5, column 49: the line is cut off: EOF while parsing a string
            line 6, column 68: the line is cut off: EOF while parsing a value
        "#]],
    );
}

#[test]
fn a_line_that_is_no_object_says_what_it_is() {
    check(
        "[]\n\"text\"\n7\nnull\ntrue\nhello\n{\"type\":\"x\"} {\"type\":\"y\"}\n{\"type\":\"x\"},\n{'type':'x'}\n{\"type\":nope}\n{\"type\":\"x\",}\n{\"type\":\"x\",\"a\":[1,]}\n  no event\n",
        expect![[r#"
            line 1, column 1: invalid type: sequence, expected an event as a JSON object
            line 2, column 6: invalid type: string "text", expected an event as a JSON object
            line 3, column 1: invalid type: integer `7`, expected an event as a JSON object
            line 4, column 4: invalid type: null, expected an event as a JSON object
            line 5, column 4: invalid type: boolean `true`, expected an event as a JSON object
            line 6, column 1: expected an event as a JSON object
            line 7, column 14: expected the end of the line, as an event is one object
            line 8, column 13: expected the end of the line, as an event is one object
            line 9, column 2: expected the name of a member in quotation marks
            line 10, column 10: `type`: expected a JSON value
            line 11, column 13: expected something after the comma
            line 12, column 20: expected a JSON value
            line 13, column 3: expected an event as a JSON object
        "#]],
    );
}

#[test]
fn a_line_without_a_type_or_with_a_strange_one_says_so() {
    check(
        concat!(
            "{}\n",
            r#"{"runId":"r","id":"t","content":"x"}"#,
            "\n",
            r#"{"type":null}"#,
            "\n",
            r#"{"type":7}"#,
            "\n",
            r#"{"type":["text"]}"#,
            "\n",
        ),
        expect![[r#"
            line 1, column 1: the event has no `type`
            line 2, column 1: the event has no `type`
            line 3, column 12: `type`: invalid type: null, expected a string
            line 4, column 9: `type`: invalid type: integer `7`, expected a string
            line 5, column 8: `type`: invalid type: sequence, expected a string
        "#]],
    );
}

#[test]
fn a_missing_member_is_named() {
    check(
        concat!(
            r#"{"type":"text","id":"t","content":"x"}"#,
            "\n",
            r#"{"type":"text","runId":"r","content":"x"}"#,
            "\n",
            r#"{"type":"text","runId":"r","id":"t"}"#,
            "\n",
            r#"{"type":"node_start","runId":"r"}"#,
            "\n",
            r#"{"type":"node_start","nodeId":"n"}"#,
            "\n",
            r#"{"type":"node_end","runId":"r","nodeId":"n","output":1}"#,
            "\n",
            r#"{"type":"usage","runId":"r","inputTokens":1}"#,
            "\n",
            r#"{"type":"relay_resolved","relayId":"q"}"#,
            "\n",
            r#"{"type":"tool_call","runId":null,"id":"c","name":"n","input":1}"#,
            "\n",
            r#"{"type":"branch_created","from":{"seq":1}}"#,
            "\n",
        ),
        expect![[r#"
            line 1, column 1: a `text` event needs `runId`
            line 2, column 1: a `text` event: `id` is missing
            line 3, column 1: a `text` event: `content` is missing
            line 4, column 1: a `node_start` event needs `nodeId`
            line 5, column 1: a `node_start` event needs `runId`
            line 6, column 1: a `node_end` event: `durationMs` is missing
            line 7, column 1: a `usage` event: `outputTokens` is missing
            line 8, column 1: a `relay_resolved` event: `by` is missing
            line 9, column 1: a `tool_call` event needs `runId`
            line 10, column 41: a `branch_created` event: `from`: missing field `branchId`
        "#]],
    );
}

#[test]
fn a_member_of_the_wrong_kind_is_named_with_its_place() {
    check(
        concat!(
            r#"{"type":"text","runId":7,"id":"t","content":"x"}"#,
            "\n",
            r#"{"type":"text","runId":"r","id":7,"content":"x"}"#,
            "\n",
            r#"{"id":7,"type":"text","runId":"r","content":"x"}"#,
            "\n",
            r#"{"type":"text","runId":"r","id":"t","content":{}}"#,
            "\n",
            r#"{"type":"text","runId":"r","id":"t","content":null}"#,
            "\n",
            r#"{"type":"user","runId":"r","content":7}"#,
            "\n",
            r#"{"type":"user","runId":"r","content":{"type":"text"}}"#,
            "\n",
            r#"{"type":"user","runId":"r","content":["x",5,null]}"#,
            "\n",
            r#"{"type":"user","runId":"r","content":[{"type":"later"},{"text":"x"}]}"#,
            "\n",
            r#"{"type":"user","runId":"r","content":[["text","x"]]}"#,
            "\n",
            r#"{"type":"user","runId":"r","content":[{"type":"text","text":"x"},{"type":7}]}"#,
            "\n",
            r#"{"type":"tool_result","runId":"r","id":"c","name":"n","output":1,"isError":"yes"}"#,
            "\n",
            r#"{"type":"tool_call","runId":"r","id":"c","name":null,"input":1}"#,
            "\n",
            r#"{"type":"node_end","runId":"r","nodeId":"é","status":"FAILED","output":"é","durationMs":1,"edges":{}}"#,
            "\n",
            r#"{"type":"node_end","runId":"r","nodeId":"n","status":"FAILED","output":1,"durationMs":1,"edges":[{"to":"x"}]}"#,
            "\n",
            r#"{"type":"text","runId":"r","nodePath":"a/b","id":"t","content":"x"}"#,
            "\n",
            r#"{"type":"text","runId":"r","agent":"coder","id":"t","content":"x"}"#,
            "\n",
            r#"{"type":"text","runId":"r","agent":{"name":"coder"},"id":"t","content":"x"}"#,
            "\n",
            r#"{"type":"text","at":"yesterday","runId":"r","id":"t","content":"x"}"#,
            "\n",
            r#"{"type":"text","at":1731672000000,"runId":"r","id":"t","content":"x"}"#,
            "\n",
            r#"{"type":"relay","runId":"r","id":"q","kind":"permission","expiresAt":"2026-13-01T00:00:00Z"}"#,
            "\n",
        ),
        expect![[r#"
            line 1, column 24: `runId`: invalid type: integer `7`, expected a string
            line 2, column 33: `id`: invalid type: integer `7`, expected a string
            line 3, column 7: a `text` event: `id`: invalid type: integer `7`, expected a string
            line 4, column 46: `content`: invalid type: map, expected a string
            line 5, column 50: `content`: invalid type: null, expected a string
            line 6, column 38: a `user` event: `content`: invalid type: integer `7`, expected a string or a list of parts
            line 7, column 38: a `user` event: `content`: invalid type: map, expected a string or a list of parts
            line 8, column 42: a `user` event: `content`: expected a part as an object with a `type`
            line 9, column 68: a `user` event: `content`: expected a part as an object with a `type`
            line 10, column 51: a `user` event: `content`: expected a part as an object with a `type`
            line 11, column 76: a `user` event: `content`: expected a part as an object with a `type`
            line 12, column 80: a `tool_result` event: `isError`: invalid type: string "yes", expected a boolean
            line 13, column 52: a `tool_call` event: `name`: invalid type: null, expected a string
            line 14, column 99: a `node_end` event: `edges`: invalid type: map, expected a sequence
            line 15, column 107: a `node_end` event: `edges`: missing field `live`
            line 16, column 43: `nodePath`: invalid type: string "a/b", expected a sequence
            line 17, column 42: `agent`: invalid type: string "coder", expected an object
            line 18, column 51: `agent`: missing field `id`
            line 19, column 31: `at`: `yesterday` is not an RFC 3339 moment such as 2026-11-15T12:00:00.000Z
            line 20, column 33: `at`: invalid type: integer `1731672000000`, expected a string
            line 21, column 70: a `relay` event: `expiresAt`: `2026-13-01T00:00:00Z` is not an RFC 3339 moment such as 2026-11-15T12:00:00.000Z
        "#]],
    );
}

#[test]
fn a_number_out_of_range_is_refused_where_it_stands() {
    check(
        concat!(
            r#"{"type":"resumed","seq":-1,"runId":"r"}"#,
            "\n",
            r#"{"type":"resumed","seq":1.5,"runId":"r"}"#,
            "\n",
            r#"{"type":"resumed","seq":18446744073709551616,"runId":"r"}"#,
            "\n",
            r#"{"type":"layer_start","runId":"r","layer":4294967296}"#,
            "\n",
            r#"{"type":"usage","runId":"r","inputTokens":1e-3,"outputTokens":1}"#,
            "\n",
            r#"{"type":"layer_start","runId":"r","layer":4294967296.0}"#,
            "\n",
            r#"{"type":"resumed","seq":-1.0,"runId":"r"}"#,
            "\n",
            r#"{"type":"resumed","seq":9007199254740993.0,"runId":"r"}"#,
            "\n",
            r#"{"type":"usage","runId":"r","inputTokens":1,"outputTokens":1,"costUsd":1e999}"#,
            "\n",
            r#"{"type":"usage","runId":"r","inputTokens":01,"outputTokens":1}"#,
            "\n",
            r#"{"type":"usage","runId":"r","inputTokens":NaN,"outputTokens":1}"#,
            "\n",
            r#"{"type":"resumed","seq":18446744073709551615,"runId":"r"}"#,
            "\n",
        ),
        expect![[r#"
            line 1, column 26: `seq`: invalid value: integer `-1`, expected a whole number from 0 to 18446744073709551615
            line 2, column 27: `seq`: invalid value: floating point `1.5`, expected a whole number from 0 to 18446744073709551615
            line 3, column 44: `seq`: invalid value: floating point `1.8446744073709552e+19`, expected a whole number from 0 to 18446744073709551615
            line 4, column 52: a `layer_start` event: `layer`: invalid value: integer `4294967296`, expected a whole number from 0 to 4294967295
            line 5, column 46: a `usage` event: `inputTokens`: invalid value: floating point `0.001`, expected a whole number from 0 to 18446744073709551615
            line 6, column 54: a `layer_start` event: `layer`: invalid value: floating point `4294967296.0`, expected a whole number from 0 to 4294967295
            line 7, column 28: `seq`: invalid value: floating point `-1.0`, expected a whole number from 0 to 18446744073709551615
            line 8, column 42: `seq`: a number above 9007199254740991 is exact only without fraction and exponent, found 9.007199254740992e15
            line 9, column 76: a `usage` event: `costUsd`: number out of range
            line 10, column 44: invalid number
            line 11, column 43: expected a JSON value
            {"type":"resumed","seq":18446744073709551615,"runId":"r"}
        "#]],
    );
}

#[test]
fn a_member_given_twice_is_refused() {
    check(
        concat!(
            r#"{"type":"resumed","type":"resumed","runId":"r"}"#,
            "\n",
            r#"{"type":"resumed","runId":"r","runId":"r"}"#,
            "\n",
            r#"{"type":"resumed","runId":null,"runId":"r"}"#,
            "\n",
            r#"{"type":"resumed","runId":"r","runId":null}"#,
            "\n",
            r#"{"type":"text","runId":"r","id":"t","content":"x","content":"y"}"#,
            "\n",
            r#"{"type":"resumed","runId":"r","later":1,"la\u0074er":2}"#,
            "\n",
            r#"{"type":"resumed","runId":"r","agent":{"id":"a"},"agent":{"id":"b"}}"#,
            "\n",
        ),
        expect![[r#"
            line 1, column 34: `type` is given twice
            line 2, column 42: `runId` is given twice
            line 3, column 43: `runId` is given twice
            line 4, column 43: `runId` is given twice
            line 5, column 64: `content` is given twice
            line 6, column 55: `later` is given twice
            line 7, column 68: `agent` is given twice
        "#]],
    );
}

#[test]
fn depth_is_bounded_and_said_so() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let call = |depth| {
        format!(
            "{{\"type\":\"tool_call\",\"runId\":\"r\",\"id\":\"c\",\"name\":\"n\",\"input\":{}}}\n",
            nested(depth)
        )
    };
    let later = |depth| format!("{{\"type\":\"resumed\",\"runId\":\"r\",\"later\":{}}}\n", nested(depth));
    assert!(Event::from_json(&call(100)).is_ok());
    assert!(Event::from_json(&later(100)).is_ok());
    let agent = |depth| {
        let agent = format!("{{\"id\":\"a\",\"later\":{}}}", nested(depth));
        format!("{{\"type\":\"resumed\",\"runId\":\"r\",\"agent\":{agent}}}\n")
    };
    let ended = |name: &str, value: &str| {
        let head = "{\"type\":\"node_end\",\"runId\":\"r\",\"nodeId\":\"n\",\"output\":1,\"durationMs\":1";
        format!("{head},\"{name}\":{value}}}\n")
    };
    let telemetry = |depth| ended("telemetry", &format!("{{\"later\":{}}}", nested(depth)));
    let edges =
        |depth| ended("edges", &format!("[{{\"to\":\"m\",\"live\":true,\"later\":{}}}]", nested(depth)));
    assert!(Event::from_json(&agent(99)).is_ok());
    assert!(Event::from_json(&telemetry(99)).is_ok());
    assert!(Event::from_json(&edges(98)).is_ok());
    check(
        call(101)
            + &later(101)
            + &later(1_000_000)
            + &agent(100)
            + &agent(100_000)
            + &telemetry(100)
            + &edges(99),
        expect![[r#"
            line 1, column 61: a `tool_call` event: `input`: nested deeper than 100 levels
            line 2, column 39: `later`: nested deeper than 100 levels
            line 3, column 39: `later`: nested deeper than 100 levels
            line 4, column 259: `agent`: nested deeper than 100 levels
            line 5, column 200059: `agent`: nested deeper than 100 levels
            line 6, column 83: a `node_end` event: `telemetry`: nested deeper than 100 levels
            line 7, column 79: a `node_end` event: `edges`: nested deeper than 100 levels
        "#]],
    );
}

#[test]
fn the_number_of_members_is_bounded_and_said_so() {
    let event = |members: usize| {
        let members: String = (0..members).map(|n| format!(",\"m{n}\":0")).collect();
        format!("{{\"type\":\"resumed\",\"runId\":\"r\"{members}}}\n")
    };
    assert!(Event::from_json(&event(1000)).is_ok());
    check(
        event(1001) + &event(1_000_000),
        expect![[r#"
        line 1, column 8930: an event has at most 1000 members of its own
        line 2, column 8929: an event has at most 1000 members of its own
    "#]],
    );
}

#[test]
fn bytes_that_are_no_text_are_named() {
    check(
        b"{\"type\":\"x\",\"a\":\"\xff\"}\n{\"type\":\"x\",\"\xc3\xa9\":\"\xc3\"}\n\xff\xfe\n{\"type\":\"x\",\"a\":\"\xed\xa0\x80\"}\n",
        expect![[r#"
            line 1, column 18: the byte 0xff is not UTF-8
            line 2, column 18: the byte 0xc3 is not UTF-8
            line 3, column 1: the byte 0xff is not UTF-8
            line 4, column 18: the byte 0xed is not UTF-8
        "#]],
    );
    check(
        concat!(
            r#"{"type":"text","runId":"r","id":"t","content":"\ud83d"}"#,
            "\n",
            r#"{"type":"text","runId":"r","id":"t","content":"\x41"}"#,
            "\n",
        ),
        expect![[r#"
            line 1, column 54: `content`: unexpected end of hex escape
            line 2, column 49: `content`: invalid escape
        "#]],
    );
}

#[test]
fn nul_bytes_and_control_characters_are_refused() {
    check(
        b"\0\n{\"type\":\"x\"}\0\n{\"type\":\"x\",\"a\":\"b\0c\"}\n{\"type\":\"te\txt\"}\n\0\0\0\0",
        expect![[r#"
            line 1, column 1: expected an event as a JSON object
            line 2, column 13: expected the end of the line, as an event is one object
            line 3, column 18: control character (\u0000-\u001F) found while parsing a string
            line 4, column 12: `type`: control character (\u0000-\u001F) found while parsing a string
            line 5, column 1: expected an event as a JSON object
        "#]],
    );
}

#[test]
fn line_ends_of_either_kind_and_blank_lines_are_passed_over() {
    check(
        "\u{feff}{\"type\":\"a\"}\r\n\r\n  \t\n\n{\"type\":\"b\"}\r\n{\"type\":\"c\"}\r",
        expect![[r#"
            {"type":"a"}
            {"type":"b"}
            {"type":"c"}
        "#]],
    );
}

#[test]
fn a_byte_order_mark_counts_only_at_the_very_start() {
    check(
        "\u{feff}\n{\"type\":\"a\"}\n\u{feff}{\"type\":\"b\"}\n",
        expect![[r#"
            {"type":"a"}
            line 3, column 1: expected an event as a JSON object
        "#]],
    );
    check(
        "\u{feff}{\"typ\":\"a\"}",
        expect![[r#"
        line 1, column 1: the event has no `type`
    "#]],
    );
    check(
        "\u{feff}\u{feff}{\"type\":\"a\"}",
        expect![[r#"
            line 1, column 1: expected an event as a JSON object
        "#]],
    );
}

#[test]
fn the_line_break_is_no_part_of_the_length() {
    let line = r#"{"type":"later"}"#;
    for (end, read) in [("\n", true), ("\r\n", true), (" \n", false), (" \r\n", false), ("\r\r\n", false)] {
        let input = format!("{line}{end}{{}}\n");
        for cut in 0..=input.len() {
            let (first, rest) = input.as_bytes().split_at(cut);
            let mut seen = Vec::new();
            let mut lines = Lines::new().line_max(line.len());
            lines.feed(first, |event| seen.push(event.is_ok()));
            lines.feed(rest, |event| seen.push(event.is_ok()));
            lines.finish(|event| seen.push(event.is_ok()));
            assert_eq!(seen, [read, false], "{end:?} cut at {cut}");
        }
    }
}

#[test]
fn a_line_too_long_is_refused_once_without_being_held() {
    let mut lines = Lines::new().line_max(64 * 1024);
    let mut seen = Vec::new();
    let mut note =
        |event: Result<Event, antiphon_event::Error>| seen.push(event.map_err(|error| error.to_string()));
    lines.feed(b"{\"type\":\"before\"}\n{\"type\":\"text\",\"content\":\"", &mut note);
    let chunk = vec![b'x'; 16 * 1024];
    for _ in 0..100 * 1024 * 1024 / chunk.len() {
        lines.feed(&chunk, &mut note);
    }
    assert!(format!("{lines:?}").len() < 8 * 1024, "nothing of the line is held");
    lines.feed(b"\"}\n{\"type\":\"after\"}\n", &mut note);
    lines.finish(&mut note);
    let shown: Vec<String> =
        seen.into_iter().map(|seen| seen.map_or_else(|error| error, |event| event.to_json())).collect();
    assert_eq!(
        shown,
        [
            r#"{"type":"before"}"#,
            "line 2, column 65537: the line is longer than 65536 bytes",
            r#"{"type":"after"}"#,
        ]
    );
}

#[test]
fn what_is_quoted_is_cut() {
    let long = "é".repeat(2000);
    check(
        format!(
            "{{\"type\":\"text\",\"runId\":\"r\",\"id\":\"t\",\"content\":\"x\",\"seq\":\"{long}\"}}\n{{\"type\":\"x\",\"{long}\":1,\"{long}\":1}}\n"
        ),
        expect![[r#"
            line 1, column 2058: `seq`: invalid type: string "ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé … ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé", expected a whole number from 0 to 18446744073709551615
            line 2, column 4022: `ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé … éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé` is given twice
        "#]],
    );
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let validator = Validator::new(&schema()).expect("the schema is a schema");
    for line in [
        r#"{"runId":"r"}"#,
        r#"{"type":"text","id":"t","content":"x"}"#,
        r#"{"type":"text","runId":"r","id":"t"}"#,
        r#"{"type":"text","runId":"r","id":7,"content":"x"}"#,
        r#"{"type":"resumed","runId":"r","seq":-1}"#,
        r#"{"type":"resumed","runId":"r","agent":{"name":"coder"}}"#,
        r#"{"type":"node_start","runId":"r"}"#,
        r#"{"type":"user","runId":"r","content":7}"#,
        r#"{"type":"user","runId":"r","content":["x"]}"#,
        r#"{"type":"user","runId":"r","content":[{"text":"x"}]}"#,
    ] {
        let value = serde_json::from_str(line).expect("JSON");
        assert!(!validator.is_valid(&value), "{line}");
        assert!(Event::from_json(line).is_err(), "{line}");
    }
}
