//! What the functions take and give, for the check of types.

use super::function::Function;
use super::kind::Type;

/// What a function wants to be called on; `Texts` is for all its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Anything,
    Number,
    NumberOrText,
    BoolOrText,
    Text,
    Texts,
    List,
    TextOrList,
    Sized,
}

impl Takes {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Anything => "anything",
            Self::Number => "a number",
            Self::NumberOrText => "a number or a text",
            Self::BoolOrText => "true or false, or a text",
            Self::Text => "a text",
            Self::Texts => "texts",
            Self::List => "a list",
            Self::TextOrList => "a text or a list",
            Self::Sized => "a text, a list or an object",
        }
    }

    pub(super) fn fits(self, found: &Type) -> bool {
        let (is_text, is_list) = (*found == Type::String, matches!(found, Type::List(_)));
        match self {
            Self::Anything => true,
            Self::Number => found.is_number(),
            Self::NumberOrText => found.is_number() || is_text,
            Self::BoolOrText => *found == Type::Bool || is_text,
            Self::Text | Self::Texts => is_text,
            Self::List => is_list,
            Self::TextOrList => is_text || is_list,
            Self::Sized => is_text || is_list || matches!(found, Type::Map { .. }),
        }
    }
}

/// What comes out of a function.
pub(super) enum Gives {
    Always(Type),
    /// A list of what was in the list it is called on.
    SameList,
}

/// What a function takes and gives.
pub(super) fn signature(function: Function) -> (Takes, Gives) {
    let (takes, gives) = match function {
        Function::Size => (Takes::Sized, Type::Int),
        Function::Int => (Takes::NumberOrText, Type::Int),
        Function::Double => (Takes::NumberOrText, Type::Number),
        Function::Greatest | Function::Least => (Takes::Anything, Type::Number),
        Function::String | Function::Type => (Takes::Anything, Type::String),
        Function::Bool => (Takes::BoolOrText, Type::Bool),
        Function::Dyn => (Takes::Anything, Type::Dyn),
        Function::Contains => (Takes::TextOrList, Type::Bool),
        Function::Matches | Function::StartsWith | Function::EndsWith => (Takes::Texts, Type::Bool),
        Function::LowerAscii | Function::UpperAscii | Function::Trim | Function::Replace => {
            (Takes::Texts, Type::String)
        }
        Function::Substring => (Takes::Text, Type::String),
        Function::IndexOf => (Takes::Text, Type::Int),
        Function::Split => (Takes::Text, Type::List(Box::new(Type::String))),
        Function::Join => (Takes::List, Type::String),
        Function::Flatten => (Takes::List, Type::any_list()),
        Function::Abs | Function::Ceil | Function::Floor | Function::Round => (Takes::Number, Type::Number),
        Function::Distinct | Function::Sort | Function::Reverse | Function::Slice => {
            return (Takes::List, Gives::SameList);
        }
    };
    (takes, Gives::Always(gives))
}
