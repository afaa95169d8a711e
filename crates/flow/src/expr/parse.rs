//! From tokens to a tree, by the precedences of CEL.
//!
//! In: text. Out: the tree and the paths it touches, or what is wrong and where. Recursion is bounded by
//! [`NESTING_MAX`], the tree by [`make::HEIGHT_MAX`]. Start reading at [`parse`].

use std::sync::Arc;

use antiphon_event::near::did_you_mean;
use serde_json::Value;

use super::function::Form;
use super::kind::NAMES;
use super::make;
use super::token::{Token, Word, tokens};
use super::tree::{Binary, Kind, Loop, Node, Shape};
use super::{LENGTH_MAX, ParseError, Path, Root};

/// How deep brackets, choices and signs may be nested.
const NESTING_MAX: u32 = 48;

/// Reads a whole expression, and tells every name and call in it that is wrong: in their place something stands of which
/// nothing is known.
pub(super) fn parse(text: &str) -> (Option<(Node, Vec<Path>)>, Vec<ParseError>) {
    let length = text.chars().count();
    if length > LENGTH_MAX {
        let message = format!("the expression is {length} characters long, at most {LENGTH_MAX} are allowed");
        return (None, vec![ParseError::at(0, &message)]);
    }
    let tokens = match tokens(text) {
        Ok(tokens) => tokens,
        Err(error) => return (None, vec![error]),
    };
    let mut parser = Parser {
        tokens,
        next: 0,
        nesting: 0,
        locals: Vec::new(),
        paths: Vec::new(),
        passed_over: Vec::new(),
    };
    let tree = parser.whole();
    let mut wrong = parser.passed_over;
    match tree {
        Ok(tree) => (Some((tree, parser.paths)), wrong),
        Err(error) => {
            wrong.push(error);
            (None, wrong)
        }
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    nesting: u32,
    /// The variables of the loops around, outermost first.
    locals: Vec<String>,
    paths: Vec<Path>,
    /// What is wrong so far.
    passed_over: Vec<ParseError>,
}

pub(super) type Parsed = Result<Node, ParseError>;

impl Parser {
    fn whole(&mut self) -> Parsed {
        let tree = self.expression()?;
        match &self.peek().word {
            Word::End => Ok(tree),
            other => {
                Err(self.wrong(&format!("expected an operator or the end, found {}", make::shown(other))))
            }
        }
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.next]
    }

    fn take(&mut self) -> Token {
        let token = self.tokens[self.next].clone();
        // The last token is the end, which is never passed.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, mark: &str) -> bool {
        matches!(&self.peek().word, Word::Mark(found) if *found == mark)
    }

    /// Passes over a mark if it comes next.
    fn pass(&mut self, mark: &str) -> bool {
        let is = self.is(mark);
        if is {
            self.take();
        }
        is
    }

    /// Goes on behind a mistake, with something of which nothing is known.
    fn pass_over(&mut self, at: u32, error: ParseError) -> Parsed {
        self.passed_over.push(error);
        make::bounded(at, Kind::Path(self.path(Root::Memory, Some("?"))))
    }

    /// A call; what is wrong with it is passed over, what it is given is still looked at.
    fn call(&mut self, at: u32, form: Form, name: &str, arguments: Vec<Node>) -> Parsed {
        match make::callee(at, form, name, &arguments) {
            Ok((function, pattern)) => make::bounded(at, Kind::Call { function, arguments, pattern }),
            Err(error) => {
                self.passed_over.push(error);
                // Of a member of a map whose keys are no texts nothing is known.
                let key = || Node::new(at, Kind::Literal(Value::Null));
                let entries = arguments.into_iter().map(|argument| (key(), argument));
                let entries = entries.chain([(key(), key())]).collect();
                let of = Box::new(make::bounded(at, Kind::Map(entries))?);
                make::bounded(at, Kind::Member { of, name: name.to_owned() })
            }
        }
    }

    fn expect(&mut self, mark: &str) -> Result<(), ParseError> {
        if self.pass(mark) {
            return Ok(());
        }
        Err(self.wrong(&format!("expected `{mark}`, found {}", make::shown(&self.peek().word))))
    }

    fn wrong(&self, message: &str) -> ParseError {
        ParseError::at(self.peek().at, message)
    }

    /// Goes one level down, and back.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.nesting == NESTING_MAX {
            return Err(self.wrong(&format!("nested too deep, at most {NESTING_MAX} levels are allowed")));
        }
        self.nesting += 1;
        let node = read(self);
        self.nesting -= 1;
        node
    }

    fn expression(&mut self) -> Parsed {
        self.nested(|parser| {
            let condition = parser.either()?;
            let at = parser.peek().at;
            if !parser.pass("?") {
                return Ok(condition);
            }
            let yes = parser.either()?;
            parser.expect(":")?;
            let no = parser.expression()?;
            make::bounded(at, Kind::Choice(Box::new([condition, yes, no])))
        })
    }

    fn either(&mut self) -> Parsed {
        self.joined("||", Self::both, Kind::Or)
    }

    fn both(&mut self) -> Parsed {
        self.joined("&&", Self::relation, Kind::And)
    }

    fn joined(&mut self, mark: &str, read: fn(&mut Self) -> Parsed, make: fn(Vec<Node>) -> Kind) -> Parsed {
        let first = read(self)?;
        if !self.is(mark) {
            return Ok(first);
        }
        let at = self.peek().at;
        let mut parts = vec![first];
        while self.pass(mark) {
            parts.push(read(self)?);
        }
        make::bounded(at, make(parts))
    }

    fn relation(&mut self) -> Parsed {
        use Binary::{Equal, Greater, GreaterEqual, In, Less, LessEqual, Unequal};
        let marks = [Equal, Unequal, LessEqual, GreaterEqual, Less, Greater, In];
        self.chain(&marks, Self::sum)
    }

    fn sum(&mut self) -> Parsed {
        self.chain(&[Binary::Add, Binary::Subtract], Self::product)
    }

    fn product(&mut self) -> Parsed {
        self.chain(&[Binary::Multiply, Binary::Divide, Binary::Remainder], Self::unary)
    }

    /// Operators of one precedence, from left to right.
    fn chain(&mut self, operators: &[Binary], read: fn(&mut Self) -> Parsed) -> Parsed {
        let mut left = read(self)?;
        loop {
            let word = &self.peek().word;
            let is_next = |operator: &&Binary| match word {
                Word::Mark(mark) => *mark == operator.mark(),
                Word::Name(name) => name == operator.mark(),
                _ => false,
            };
            let Some(operator) = operators.iter().find(is_next).copied() else {
                return Ok(left);
            };
            let at = self.take().at;
            let right = read(self)?;
            left = make::bounded(at, Kind::Binary(operator, Box::new([left, right])))?;
        }
    }

    fn unary(&mut self) -> Parsed {
        let at = self.peek().at;
        if self.pass("!") {
            let of = self.nested(Self::unary)?;
            return make::bounded(at, Kind::Not(Box::new(of)));
        }
        if !self.pass("-") {
            return self.postfix();
        }
        if let Word::Int(digits) = self.peek().word {
            self.take();
            let number = 0_i64.checked_sub_unsigned(digits).expect("the tokens are no larger");
            let literal = make::bounded(at, Kind::Literal(number.into()))?;
            return self.continued(literal);
        }
        let of = self.nested(Self::unary)?;
        make::bounded(at, Kind::Negate(Box::new(of)))
    }

    fn postfix(&mut self) -> Parsed {
        let first = self.primary()?;
        self.continued(first)
    }

    /// Members, indices and calls on what was read.
    fn continued(&mut self, mut node: Node) -> Parsed {
        loop {
            let at = self.peek().at;
            if self.pass(".") {
                if self.is("?") {
                    return Err(self.wrong("optional members are not supported: use `has(…)`"));
                }
                node = self.member(at, node)?;
            } else if self.pass("[") {
                let by = self.expression()?;
                self.expect("]")?;
                node = make::indexed(at, node, by)?;
            } else {
                return Ok(node);
            }
        }
    }

    fn member(&mut self, at: u32, of: Node) -> Parsed {
        let token = self.take();
        let name = match token.word {
            Word::Name(name) | Word::Quoted(name) => name,
            other => {
                let message = format!("expected a name after the dot, found {}", make::shown(&other));
                return Err(ParseError::at(token.at, &message));
            }
        };
        if self.pass("(") {
            return self.method(token.at, &name, of);
        }
        make::bounded(at, Kind::Member { of: Box::new(of), name })
    }

    /// Takes `.name` or `["name"]` if that comes next and is no call.
    fn pass_member(&mut self) -> Option<String> {
        let words = self.tokens[self.next..].iter().map(|token| &token.word);
        let [first, second, third]: [&Word; 3] = words.take(3).collect::<Vec<_>>().try_into().ok()?;
        let (name, length) = match (first, second, third) {
            (Word::Mark("."), Word::Name(_) | Word::Quoted(_), Word::Mark("(")) => return None,
            (Word::Mark("."), Word::Name(name) | Word::Quoted(name), _) => (name.clone(), 2),
            (Word::Mark("["), Word::Text(name), Word::Mark("]")) => (name.clone(), 3),
            _ => return None,
        };
        self.next += length;
        Some(name)
    }

    /// The number of a path, a new one if it was not touched before.
    fn path(&mut self, root: Root, member: Option<&str>) -> usize {
        let same = |path: &Path| path.root == root && path.member.as_deref() == member;
        self.paths.iter().position(same).unwrap_or_else(|| {
            self.paths.push(Path { root, member: member.map(Arc::from) });
            self.paths.len() - 1
        })
    }

    fn method(&mut self, at: u32, name: &str, of: Node) -> Parsed {
        // A loop is known by its first argument, which is a name of its own.
        let names_variable = matches!(self.peek().word, Word::Name(_))
            && matches!(self.tokens[(self.next + 1).min(self.tokens.len() - 1)].word, Word::Mark(","));
        if names_variable && [2, 3].into_iter().any(|count| Shape::of(name, count).is_some()) {
            return self.looped(at, name, of);
        }
        let mut arguments = vec![of];
        self.arguments(")", &mut arguments)?;
        self.call(at, Form::Member, name, arguments)
    }

    /// The rest of a loop, after its opening bracket.
    fn looped(&mut self, at: u32, name: &str, over: Node) -> Parsed {
        let Word::Name(variable) = self.take().word else {
            return Err(ParseError::at(at, "a loop begins with the name of its variable"));
        };
        self.expect(",")?;
        self.locals.push(variable);
        let mut parts = Vec::new();
        let read = self.arguments(")", &mut parts);
        self.locals.pop();
        read?;
        let shape = Shape::of(name, parts.len() + 1)
            .ok_or_else(|| ParseError::at(at, &format!("`{name}` has a wrong number of arguments")))?;
        let body = parts.pop().expect("every loop has a body");
        let each = Loop { shape, over, only: parts.pop(), body };
        make::bounded(at, Kind::Loop(Box::new(each)))
    }

    fn arguments(&mut self, close: &str, found: &mut Vec<Node>) -> Result<(), ParseError> {
        while !self.pass(close) {
            found.push(self.expression()?);
            if !self.pass(",") {
                return self.expect(close);
            }
        }
        Ok(())
    }

    fn primary(&mut self) -> Parsed {
        let token = self.take();
        let at = token.at;
        match token.word {
            Word::Text(text) => make::bounded(at, Kind::Literal(text.into())),
            Word::Double(number) => make::bounded(at, Kind::Literal(number.into())),
            Word::Int(digits) => {
                let number = i64::try_from(digits)
                    .map_err(|_| ParseError::at(at, "the integer does not fit 64 bits"))?;
                make::bounded(at, Kind::Literal(number.into()))
            }
            Word::Name(name) => self.name(at, &name),
            Word::Mark("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Word::Mark("[") => {
                let mut items = Vec::new();
                self.arguments("]", &mut items)?;
                make::bounded(at, Kind::List(items))
            }
            Word::Mark("{") => self.map(at),
            other => Err(ParseError::at(at, &format!("expected a value, found {}", make::shown(&other)))),
        }
    }

    fn map(&mut self, at: u32) -> Parsed {
        let mut entries = Vec::new();
        while !self.pass("}") {
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.pass(",") {
                self.expect("}")?;
                break;
            }
        }
        make::bounded(at, Kind::Map(entries))
    }

    fn name(&mut self, at: u32, name: &str) -> Parsed {
        let literal = match name {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            _ => None,
        };
        if let Some(literal) = literal {
            return make::bounded(at, Kind::Literal(literal));
        }
        if let Some(inwards) = self.locals.iter().rev().position(|local| local == name) {
            return make::bounded(at, Kind::Local(inwards));
        }
        if name == "math" && self.pass(".") {
            let Word::Name(function) = self.take().word else {
                return Err(ParseError::at(at, "expected a function of `math`"));
            };
            self.expect("(")?;
            let mut arguments = Vec::new();
            self.arguments(")", &mut arguments)?;
            return self.call(at, Form::Math, &function, arguments);
        }
        if self.pass("(") {
            if name == "has" {
                return self.has(at);
            }
            let mut arguments = Vec::new();
            self.arguments(")", &mut arguments)?;
            return self.call(at, Form::Global, name, arguments);
        }
        if let Some(name) = NAMES.iter().find(|known| **known == name) {
            return make::bounded(at, Kind::Literal(Value::from(*name)));
        }
        let Some(root) = Root::ALL.iter().copied().find(|root| root.as_str() == name) else {
            let error = ParseError::at(at, &self.unknown(name));
            return self.pass_over(at, error);
        };
        let member = if root.has_members() { self.pass_member() } else { None };
        let path = Kind::Path(self.path(root, member.as_deref()));
        make::bounded(at, path)
    }

    /// What to say about a name, just taken, that nobody knows.
    fn unknown(&self, name: &str) -> String {
        let before = self.tokens[..self.next].iter().rev().map(|token| &token.word);
        if let [_, Word::Mark("-"), Word::Name(first), Word::Mark("."), Word::Name(of)] =
            before.take(5).collect::<Vec<_>>()[..]
        {
            return format!(
                "unknown name `{name}`; a name with a dash stands in brackets: `{of}[\"{first}-{name}\"]`"
            );
        }
        let known = Root::ALL.iter().map(|root| root.as_str());
        let near = did_you_mean(name, known.chain(self.locals.iter().map(String::as_str)));
        format!("unknown name `{name}`{near} (known are {})", make::roots())
    }

    /// The rest of `has(…)`, after its opening bracket.
    fn has(&mut self, at: u32) -> Parsed {
        let of = self.expression()?;
        self.expect(")")?;
        match of.kind {
            Kind::Path(number) => make::bounded(at, Kind::HasPath(number)),
            Kind::Member { of, name } => make::bounded(at, Kind::Has { of, name }),
            _ => Err(ParseError::at(at, "`has` asks for a member: `has(state.draft)`")),
        }
    }
}
