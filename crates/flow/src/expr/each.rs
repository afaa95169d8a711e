//! Loops: `all`, `exists`, `exists_one`, `map` and `filter`.
//!
//! In: a list, or a map whose keys are gone through. Out: a boolean or a list. Items are lent to the body, not
//! copied. Start reading at [`Machine::each`].

use std::borrow::Cow;

use serde_json::Value;

use super::Fault;
use super::evaluate::{Found, Frame, Machine, owned};
use super::kind::described;
use super::tree::{Loop, Node, Shape};

impl Machine<'_> {
    pub(super) fn each<'v>(
        &'v self,
        node: &'v Node,
        each: &'v Loop,
        frame: Option<&'v Frame<'v>>,
    ) -> Found<'v> {
        let over = self.value(&each.over, frame)?;
        let keys: Vec<Value>;
        let items = match &*over {
            Value::Array(items) => items,
            Value::Object(members) => {
                self.pay(node, members.len() as u64)?;
                keys = members.keys().map(|key| Value::from(key.as_str())).collect();
                &keys
            }
            other => {
                let message =
                    format!("only a list or a map can be gone through, this is {}", described(other));
                return Err(Fault::at(node.at, message));
            }
        };
        match each.shape {
            Shape::All => self.any(each, items, false, frame).map(owned),
            Shape::Exists => self.any(each, items, true, frame).map(owned),
            Shape::ExistsOne => {
                let mut count = 0;
                for item in items {
                    count += u64::from(self.truth(&each.body, Some(&Frame { value: item, outer: frame }))?);
                }
                Ok(owned(count == 1))
            }
            Shape::Map => self.mapped(each, items, frame).map(Cow::Owned),
            Shape::Filter => self.filtered(each, items, frame).map(Cow::Owned),
        }
    }

    /// Whether any item `decides`; as with `&&` and `||`, that passes over what goes wrong for others.
    fn any(
        &self,
        each: &Loop,
        items: &[Value],
        decides: bool,
        outer: Option<&Frame<'_>>,
    ) -> Result<bool, Fault> {
        let mut fault = None;
        for value in items {
            match self.truth(&each.body, Some(&Frame { value, outer })) {
                Ok(truth) if truth == decides => return Ok(decides),
                Ok(_) => {}
                Err(error) if self.is_spent() => return Err(error),
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        fault.map_or(Ok(!decides), Err)
    }

    fn mapped(&self, each: &Loop, items: &[Value], outer: Option<&Frame<'_>>) -> Result<Value, Fault> {
        let mut list = Vec::new();
        for value in items {
            let frame = Frame { value, outer };
            if let Some(only) = &each.only
                && !self.truth(only, Some(&frame))?
            {
                continue;
            }
            list.push(self.own(&each.body, self.value(&each.body, Some(&frame))?)?);
        }
        Ok(Value::Array(list))
    }

    fn filtered(&self, each: &Loop, items: &[Value], outer: Option<&Frame<'_>>) -> Result<Value, Fault> {
        let mut list = Vec::new();
        for value in items {
            if self.truth(&each.body, Some(&Frame { value, outer }))? {
                list.push(self.own(&each.body, Cow::Borrowed(value))?);
            }
        }
        Ok(Value::Array(list))
    }
}
