//! What a server says of a tool, as a [`Spec`], within bounds.

use antiphon_agent::{Class, Spec};
use antiphon_event::{CallType, Json};
use rmcp::model::Tool;
use serde_json::{Map, Value};

use super::fault::cut;

/// The longest description, in bytes.
const DESCRIPTION_MAX: usize = 8 * 1024;

/// The largest schema, in bytes.
const SCHEMA_MAX: usize = 128 * 1024;

/// The longest name a server may give a tool, in bytes.
const NAME_MAX: usize = 256;

/// A tool under its new name; or why it cannot be offered.
pub(super) fn spec(tool: &Tool, name: String) -> Result<Spec, String> {
    Ok(Spec {
        name,
        description: description(tool),
        input: schema(&tool.input_schema)?,
        class: class(tool),
        call_type: Some(CallType::Mcp),
    })
}

/// Why a tool cannot be called by the name its server gives it.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    match name.len() {
        0 => Err("it has no name".to_owned()),
        length if length > NAME_MAX => Err(format!("its name has {length} bytes, more than {NAME_MAX}")),
        _ => Ok(()),
    }
}

fn description(tool: &Tool) -> String {
    let annotated = || tool.annotations.as_ref().and_then(|notes| notes.title.as_deref());
    let text = tool.description.as_deref().or(tool.title.as_deref()).or_else(annotated).unwrap_or_default();
    let text: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    cut(&text, DESCRIPTION_MAX)
}

fn schema(schema: &Map<String, Value>) -> Result<Json, String> {
    let mut schema = schema.clone();
    let kind = schema.entry("type").or_insert_with(|| "object".into());
    if kind != "object" {
        return Err(format!("its arguments are no object, but {}", cut(&kind.to_string(), 60)));
    }
    let text = Value::from(schema).to_string();
    if text.len() > SCHEMA_MAX {
        return Err(format!("its schema has {} bytes, more than {SCHEMA_MAX}", text.len()));
    }
    serde_json::from_str(&text).map_err(|error| format!("its schema cannot be used: {error}"))
}

/// What a server says a tool changes. It is believed: it is also believed to do what it says.
fn class(tool: &Tool) -> Class {
    let hint = |is: fn(&rmcp::model::ToolAnnotations) -> Option<bool>| {
        tool.annotations.as_ref().and_then(is).unwrap_or(false)
    };
    if hint(|notes| notes.read_only_hint) {
        Class::Read
    } else if hint(|notes| notes.idempotent_hint) {
        Class::Idempotent
    } else {
        Class::Write
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use rmcp::model::Tool;
    use serde_json::{Value, json};

    use super::{check_name, spec};

    fn check(tool: Value, expected: Expect) {
        let tool: Tool = serde_json::from_value(tool).expect("the test writes tools");
        let found = check_name(&tool.name).and_then(|()| spec(&tool, "it".to_owned()));
        let text = match found {
            Ok(spec) => {
                let description: String = spec.description.chars().take(40).collect();
                let (length, class) = (spec.description.len(), spec.class);
                format!("{class:?} {description:?} ({length} bytes) {}", spec.input)
            }
            Err(why) => format!("left out: {why}"),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn hints_say_what_a_call_changes() {
        let tool =
            |notes: Value| json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": notes});
        check(tool(json!({})), expect![[r#"Write "" (0 bytes) {"type":"object"}"#]]);
        check(tool(json!({"readOnlyHint": true})), expect![[r#"Read "" (0 bytes) {"type":"object"}"#]]);
        check(
            tool(json!({"readOnlyHint": false, "idempotentHint": true, "title": "T"})),
            expect![[r#"Idempotent "T" (1 bytes) {"type":"object"}"#]],
        );
        check(
            tool(json!({"destructiveHint": false, "openWorldHint": false})),
            expect![[r#"Write "" (0 bytes) {"type":"object"}"#]],
        );
    }

    #[test]
    fn what_a_server_says_is_cut_or_left_out() {
        check(
            json!({"name": "t", "inputSchema": {}, "description": "a\u{1b}[31mred\nx"}),
            expect![[r#"Write "a[31mred\nx" (10 bytes) {"type":"object"}"#]],
        );
        check(
            json!({"name": "t", "inputSchema": {"type": "object"}, "description": "é".repeat(100_000)}),
            expect![[r#"Write "éééééééééééééééééééééééééééééééééééééééé" (8195 bytes) {"type":"object"}"#]],
        );
        check(
            json!({"name": "t", "inputSchema": {"type": "array"}}),
            expect![[r#"left out: its arguments are no object, but "array""#]],
        );
        check(
            json!({"name": "t", "inputSchema": {"x": "y".repeat(200_000)}}),
            expect!["left out: its schema has 200024 bytes, more than 131072"],
        );
        check(json!({"name": "", "inputSchema": {}}), expect!["left out: it has no name"]);
        let deep = (0..110).fold(json!({}), |inner, _| json!({"x": inner}));
        check(
            json!({"name": "t", "inputSchema": {"x": deep}}),
            expect!["left out: its schema cannot be used: nested deeper than 100 levels"],
        );
    }
}
