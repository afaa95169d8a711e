//! What is written is what was read: every type, every member, and all that nobody knows.

use antiphon_event::{Body, Event, Kind, schema};
use jsonschema::Validator;
use serde_json::Value;

/// One line for each type of the vocabulary, in its order, with all members it may have.
const EVERY_TYPE: &str = include_str!("wire/every_type.jsonl");

fn read(line: &str) -> Event {
    Event::from_json(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}

/// A line that comes out as it went in.
#[track_caller]
fn same(line: &str) {
    assert_eq!(read(line).to_json(), line);
}

/// A line that comes out in another form, which then stays as it is.
#[track_caller]
fn becomes(line: &str, written: &str) {
    assert_eq!(read(line).to_json(), written);
    same(written);
}

#[test]
fn there_is_an_example_of_every_type() {
    let examples: Vec<Kind> = EVERY_TYPE.lines().map(|line| read(line).kind()).collect();
    assert_eq!(examples, Kind::ALL);
}

#[test]
fn every_type_is_written_as_it_was_read() {
    EVERY_TYPE.lines().for_each(same);
}

#[test]
fn every_type_conforms_to_the_schema() {
    let validator = Validator::new(&schema()).expect("the schema is a schema");
    for line in EVERY_TYPE.lines() {
        let value = serde_json::from_str(line).expect("JSON");
        let problems: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{line}: {problems:?}");
    }
}

#[test]
fn the_schema_refuses_what_is_refused_when_it_is_read() {
    let schema = schema();
    let validator = Validator::new(&schema).expect("the schema is a schema");
    let values =
        ["null", "-1", "0", "4294967295", "4294967296", "18446744073709551615", "18446744073709551616"];
    for line in EVERY_TYPE.lines() {
        let example: Value = serde_json::from_str(line).expect("JSON");
        let members = &schema["$defs"][read(line).body.tag()]["properties"];
        let names = members.as_object().expect("a type has members").keys().filter(|name| *name != "type");
        for (name, value) in names.flat_map(|name| values.map(|value| (name, value))) {
            let mut changed = example.clone();
            changed[name] = serde_json::from_str(value).expect("JSON");
            let accepted = Event::from_json(&changed.to_string()).is_ok();
            assert_eq!(validator.is_valid(&changed), accepted, "{name}: {value} in {line}");
        }
    }
}

#[test]
fn the_examples_use_every_member_the_schema_knows() {
    let schema = schema();
    for line in EVERY_TYPE.lines() {
        let tag = read(line).body.tag().to_owned();
        let used: Value = serde_json::from_str(line).expect("JSON");
        let known = schema["$defs"][&tag]["properties"].as_object().expect("a type has members");
        let head = schema["$defs"]["resumed"]["properties"].as_object().expect("a type has members");
        let body = known.keys().filter(|name| !head.contains_key(*name));
        let missing: Vec<&String> = body.filter(|name| used.get(name.as_str()).is_none()).collect();
        assert!(missing.is_empty(), "{tag} has no example of {missing:?}");
    }
}

#[test]
fn an_event_goes_through_serde_unchanged() {
    for line in EVERY_TYPE.lines() {
        let event: Event = serde_json::from_str(line).expect("an event");
        assert_eq!(serde_json::to_string(&event).expect("writable"), line);
    }
}

#[test]
fn every_member_but_the_type_may_stand_anywhere() {
    for line in EVERY_TYPE.lines() {
        let (tag, members) = line.split_once(',').unwrap_or((line.trim_end_matches('}'), "}"));
        let tag = tag.trim_start_matches('{');
        let members = members.trim_end_matches('\n').strip_suffix('}').expect("an object");
        let comma = if members.is_empty() { "" } else { "," };
        becomes(&format!("{{{members}{comma}{tag}}}"), line);
    }
}

#[test]
fn members_nobody_knows_are_kept_to_the_letter() {
    same(
        r#"{"type":"resumed","runId":"r","big":123456789012345678901234567890.10,"tiny":1e-400,"huge":1E+999}"#,
    );
    same(r#"{"type":"resumed","runId":"r","deep":{"a":[1,{"b":[[],{}]}],"z":null,"a2":-0.0},"none":null}"#);
    same(r#"{"type":"resumed","runId":"r","spaced":{ "a" : 1 , "b":[ 1, 2 ] }}"#);
    same(r#"{"type":"resumed","runId":"r","text":"\u00e9\ud83d\ude00\/","":0}"#);
    same(r#"{"type":"resumed","runId":"r","b":2,"a":1,"c":3}"#);
}

#[test]
fn types_nobody_knows_are_kept_with_all_they_have() {
    let line = r#"{"type":"later:thing","seq":7,"runId":"r","id":"x","content":{"n":1.50},"reason":null}"#;
    same(line);
    let event = read(line);
    assert_eq!(event.body, Body::Unknown("later:thing".into()));
    assert_eq!(event.kind(), Kind::Unknown);
    assert_eq!(event.head.seq, Some(7));
    let names: Vec<&str> = event.extra.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["id", "content", "reason"]);
    same(r#"{"type":""}"#);
}

#[test]
fn words_nobody_knows_are_kept() {
    same(r#"{"type":"harness_end","runId":"r","reason":"bored"}"#);
    same(r#"{"type":"cancel_requested","by":"user","mode":"gently"}"#);
    same(r#"{"type":"tool_call","runId":"r","id":"c","name":"n","input":1,"callType":"psychic"}"#);
}

/// A value with all its numbers as JSON writes those that need not be whole.
fn as_fractions(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::from(number.as_f64().expect("a number that is not too large")),
        Value::Array(items) => items.into_iter().map(as_fractions).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, as_fractions(value))).collect()
        }
        other => other,
    }
}

#[test]
fn a_whole_number_may_be_written_with_a_fraction_or_an_exponent() {
    becomes(
        r#"{"type":"usage","seq":7.0,"runId":"r","inputTokens":1e3,"outputTokens":-0.0,"cacheReadTokens":9007199254740991.0}"#,
        r#"{"type":"usage","seq":7,"runId":"r","inputTokens":1000,"outputTokens":0,"cacheReadTokens":9007199254740991}"#,
    );
    same(r#"{"type":"tool_call","runId":"r","id":"c","name":"n","input":{"n":1.0,"m":1e3}}"#);
    for line in EVERY_TYPE.lines() {
        let fractions = as_fractions(serde_json::from_str(line).expect("an object"));
        let written = serde_json::from_str(&read(&fractions.to_string()).to_json()).expect("an object");
        assert_eq!(as_fractions(written), fractions, "{line}");
    }
}

#[test]
fn null_is_absent_where_no_value_can_be_null() {
    becomes(
        r#"{"type":"text","seq":null,"at":null,"runId":"r","parentId":null,"agent":null,"nodePath":null,"id":"t","content":"x","provenance":null}"#,
        r#"{"type":"text","runId":"r","id":"t","content":"x"}"#,
    );
}

#[test]
fn null_is_a_value_where_any_value_can_be() {
    same(r#"{"type":"tool_call","runId":"r","id":"c","name":"n","input":null}"#);
    same(r#"{"type":"node_start","runId":"r","nodeId":"n","attempt":1,"execution":1,"input":null}"#);
    same(r#"{"type":"relay_resolved","relayId":"q","answer":null,"input":null,"by":"user"}"#);
    same(
        r#"{"type":"node_end","runId":"r","nodeId":"n","status":"COMPLETED","execution":1,"attempt":1,"output":null,"durationMs":0,"writes":{"k":null},"edges":[]}"#,
    );
}

#[test]
fn escapes_in_names_are_understood() {
    becomes(
        r#"{"\u0074ype":"te\u0078t","run\u0049d":"r","\u0069d":"t","content":"\u0041"}"#,
        r#"{"type":"text","runId":"r","id":"t","content":"A"}"#,
    );
    becomes(r#"{"type":"x","a\u0022b":1,"\n":2}"#, r#"{"type":"x","a\"b":1,"\n":2}"#);
}

#[test]
fn white_space_between_members_means_nothing() {
    becomes(
        " { \"type\" :\t\"text\" , \"runId\": \"r\",\"id\":\"t\" , \"content\" : \"x\" } ",
        r#"{"type":"text","runId":"r","id":"t","content":"x"}"#,
    );
}

#[test]
fn payloads_keep_their_white_space_but_stay_on_one_line() {
    becomes(
        "{\"type\":\"tool_call\",\"runId\":\"r\",\"id\":\"c\",\"name\":\"n\",\"input\":{\n  \"a\": 1\r\n}}",
        r#"{"type":"tool_call","runId":"r","id":"c","name":"n","input":{  "a": 1}}"#,
    );
}

#[test]
fn parts_of_a_later_version_are_kept() {
    same(
        r#"{"type":"user","runId":"u","content":[{"type":"hologram","data":"x"},{"type":"text","later":1}]}"#,
    );
}
