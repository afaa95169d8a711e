//! [`typed`]: a tool made of a Rust function whose arguments are a type.
//!
//! In: a function and a type that can be read from JSON and says its schema. Out: a [`Tool`].

use antiphon_agent::permission::Subject;
use antiphon_agent::{Class, Spec};
use antiphon_event::{ErrorCode, Json};
use antiphon_port::{Future, Tool, ToolCall, ToolFault, ToolReply};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How long the name of a tool may be.
const NAME_MAX: usize = 64;

/// What a tool made by [`typed`] may give: text, a value, or a whole reply.
pub trait Answer {
    /// The reply of the tool.
    fn into_reply(self) -> ToolReply;
}

impl Answer for ToolReply {
    fn into_reply(self) -> ToolReply {
        self
    }
}

impl Answer for Json {
    fn into_reply(self) -> ToolReply {
        ToolReply::new(self)
    }
}

impl Answer for Value {
    fn into_reply(self) -> ToolReply {
        ToolReply::new(self)
    }
}

impl Answer for String {
    fn into_reply(self) -> ToolReply {
        ToolReply::new(self.as_str())
    }
}

impl Answer for &str {
    fn into_reply(self) -> ToolReply {
        ToolReply::new(self)
    }
}

type Run<Args> = Box<dyn Fn(Args, ToolCall) -> Future<Result<ToolReply, ToolFault>> + Send + Sync>;
type Subjects<Args> = Box<dyn Fn(&Args) -> Vec<Subject> + Send + Sync>;
type Recall<Args> = Box<dyn Fn(Args, &str) + Send + Sync>;

/// A tool made by [`typed`].
pub struct Typed<Args> {
    spec: Spec,
    run: Run<Args>,
    subjects: Subjects<Args>,
    recall: Recall<Args>,
}

/// Makes a tool of a function. The schema of its arguments comes from their type; arguments that do not fit the type
/// are refused before the function is called.
///
/// ```
/// use antiphon_agent::Class;
/// use antiphon_port::{Tool, ToolFault};
/// use antiphon_sandbox::typed;
///
/// /// What is to be added.
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Add {
///     /// The first number.
///     a: i64,
///     /// The second number.
///     b: i64,
/// }
///
/// let add = typed("add", "Adds two numbers.", Class::Pure, |args: Add, _call| async move {
///     let sum = args.a.checked_add(args.b).ok_or_else(|| ToolFault::new("the sum is too large"))?;
///     Ok(sum.to_string())
/// });
/// assert_eq!(add.spec().name, "add");
/// assert_eq!(add.spec().input.value()["required"], serde_json::json!(["a", "b"]));
/// # struct Silent;
/// # impl antiphon_port::Progress for Silent {
/// #     fn say(&self, _: antiphon_event::Json) -> antiphon_port::Future<()> { Box::pin(async {}) }
/// # }
/// # let input = serde_json::json!({"a": 2, "b": 40}).into();
/// # let (key, progress, reach) = ("k".into(), std::sync::Arc::new(Silent), antiphon_port::Reach::everything());
/// # let call = antiphon_port::ToolCall { input, key, progress, reach };
/// # let reply = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(add.call(call)).unwrap();
/// assert_eq!(reply.output.to_text(), "42");
/// ```
///
/// # Panics
/// If the name is not one: letters, digits, `_` and `-`, at most 64.
pub fn typed<Args, Ended, Reply>(
    name: &str,
    description: &str,
    class: Class,
    run: impl Fn(Args, ToolCall) -> Ended + Send + Sync + 'static,
) -> Typed<Args>
where
    Args: DeserializeOwned + JsonSchema + 'static,
    Ended: std::future::Future<Output = Result<Reply, ToolFault>> + Send + 'static,
    Reply: Answer,
{
    assert!(is_name(name), "`{name}` is no name of a tool: letters, digits, `_` and `-`, at most {NAME_MAX}");
    let spec = Spec {
        name: name.to_owned(),
        description: description.to_owned(),
        input: schema::<Args>(),
        class,
        call_type: None,
    };
    let run: Run<Args> = Box::new(move |args, call| {
        let ended = run(args, call);
        Box::pin(async move { ended.await.map(Answer::into_reply) })
    });
    Typed { spec, run, subjects: Box::new(|_| Vec::new()), recall: Box::new(|_, _| ()) }
}

impl<Args> Typed<Args> {
    /// Says what a call touches, for rules to look at; nothing by default.
    #[must_use]
    pub fn touching(mut self, subjects: impl Fn(&Args) -> Vec<Subject> + Send + Sync + 'static) -> Self {
        self.subjects = Box::new(subjects);
        self
    }

    /// Takes note of earlier calls and the text that each gave; of none by default.
    #[must_use]
    pub fn recalling(mut self, recall: impl Fn(Args, &str) + Send + Sync + 'static) -> Self {
        self.recall = Box::new(recall);
        self
    }
}

impl<Args: DeserializeOwned + 'static> Tool for Typed<Args> {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Nothing for arguments that do not fit: a call with them does nothing either.
    fn subjects(&self, input: &Json) -> Vec<Subject> {
        serde_json::from_str(input.as_str()).map_or_else(|_| Vec::new(), |args| (self.subjects)(&args))
    }

    fn recall(&self, input: &Json, output: &str) {
        if let Ok(args) = serde_json::from_str(input.as_str()) {
            (self.recall)(args, output);
        }
    }

    fn call(&self, call: ToolCall) -> Future<Result<ToolReply, ToolFault>> {
        match serde_json::from_str(call.input.as_str()) {
            Ok(args) => (self.run)(args, call),
            Err(error) => {
                let message = format!("the arguments of `{}` do not fit: {error}", self.spec.name);
                Box::pin(async { Err(ToolFault { code: ErrorCode::Schema, message }) })
            }
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(is_part)
}

/// The schema of a type as models are shown it: in one piece, without what is there for programs only.
fn schema<Args: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<Args>();
    schema.remove("title");
    // What a type is for stands in the description of the tool.
    schema.remove("description");
    RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
    })
    .transform(&mut schema);
    Value::from(schema).into()
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn a_name_is_short_and_plain() {
        let long = "x".repeat(65);
        for (name, fits) in
            [("bash", true), ("a-b_9", true), ("", false), ("a b", false), ("ä", false), (&long, false)]
        {
            assert_eq!(is_name(name), fits, "{name:?}");
        }
    }
}
