//! The functions an expression may call: names, forms and numbers of arguments.
//!
//! What they do is in [`super::call`]; adding one is a case and a row here, and a case there.

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Int,
    Double,
    String,
    Bool,
    Type,
    Dyn,
    Matches,
    Contains,
    StartsWith,
    EndsWith,
    LowerAscii,
    UpperAscii,
    Trim,
    Replace,
    Split,
    Join,
    Substring,
    IndexOf,
    Distinct,
    Sort,
    Reverse,
    Flatten,
    Slice,
    Greatest,
    Least,
    Abs,
    Ceil,
    Floor,
    Round,
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `f(x)`
    Global,
    /// `x.f()`
    Member,
    /// Either way.
    Both,
    /// `math.f(x)`
    Math,
}

/// A function's name, form, and least and greatest number of arguments, what it is called on included.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) function: Function,
    pub(super) least: usize,
    pub(super) most: usize,
}

const fn row(name: &'static str, form: Form, function: Function, least: usize, most: usize) -> Row {
    Row { name, form, function, least, most }
}

/// Every function.
pub(super) const ROWS: &[Row] = &[
    row("size", Form::Both, Function::Size, 1, 1),
    row("int", Form::Global, Function::Int, 1, 1),
    row("double", Form::Global, Function::Double, 1, 1),
    row("string", Form::Global, Function::String, 1, 1),
    row("bool", Form::Global, Function::Bool, 1, 1),
    row("type", Form::Global, Function::Type, 1, 1),
    row("dyn", Form::Global, Function::Dyn, 1, 1),
    row("matches", Form::Both, Function::Matches, 2, 2),
    row("contains", Form::Member, Function::Contains, 2, 2),
    row("startsWith", Form::Member, Function::StartsWith, 2, 2),
    row("endsWith", Form::Member, Function::EndsWith, 2, 2),
    row("lowerAscii", Form::Member, Function::LowerAscii, 1, 1),
    row("upperAscii", Form::Member, Function::UpperAscii, 1, 1),
    row("trim", Form::Member, Function::Trim, 1, 1),
    row("replace", Form::Member, Function::Replace, 3, 3),
    row("split", Form::Member, Function::Split, 2, 2),
    row("join", Form::Member, Function::Join, 1, 2),
    row("substring", Form::Member, Function::Substring, 2, 3),
    row("indexOf", Form::Member, Function::IndexOf, 2, 2),
    row("distinct", Form::Member, Function::Distinct, 1, 1),
    row("sort", Form::Member, Function::Sort, 1, 1),
    row("reverse", Form::Member, Function::Reverse, 1, 1),
    row("flatten", Form::Member, Function::Flatten, 1, 1),
    row("slice", Form::Member, Function::Slice, 3, 3),
    row("greatest", Form::Math, Function::Greatest, 1, usize::MAX),
    row("least", Form::Math, Function::Least, 1, usize::MAX),
    row("abs", Form::Math, Function::Abs, 1, 1),
    row("ceil", Form::Math, Function::Ceil, 1, 1),
    row("floor", Form::Math, Function::Floor, 1, 1),
    row("round", Form::Math, Function::Round, 1, 1),
];

impl Function {
    /// The name, for errors.
    pub(super) fn name(self) -> &'static str {
        let row = ROWS.iter().find(|row| row.function == self);
        row.expect("every function has a row").name
    }
}

impl Form {
    /// Whether a function of this form may be called in that form.
    pub(super) fn allows(self, form: Form) -> bool {
        self == form || (self == Form::Both && form != Form::Math)
    }
}
