//! [`Generation`]: what models of a vendor can be told, by their name.
//!
//! The format grew with the models, and later ones refuse what earlier ones need. Others who speak the format speak it as it
//! was first. Start reading at [`Generation::of`].

/// What a model can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    /// How much to think, a temperature, and which tool to call.
    Early,
    /// The same, and what form its answer has.
    Formed,
    /// What form its answer has. How much to think it decides by itself; a temperature or a tool it must call is refused.
    Adaptive,
}

impl Generation {
    /// Of `claude-sonnet-4-5-20250929`, `claude-3-5-haiku`, `anthropic/claude-opus-5.5` …
    pub(super) fn of(model: &str) -> Self {
        let Some((_, name)) = model.split_once("claude-") else {
            return Self::Early;
        };
        let number = |part: &str| part.parse::<u32>().ok().filter(|_| part.len() <= 2);
        let mut parts =
            name.split(|c: char| !c.is_ascii_alphanumeric()).skip_while(|part| number(part).is_none());
        let Some(major) = parts.next().and_then(number) else {
            return Self::Adaptive;
        };
        // What follows may be a date.
        let version = (major, parts.next().and_then(number).unwrap_or(0));
        let adaptive = if name.starts_with("opus") { (4, 7) } else { (5, 0) };
        match version {
            later if later >= adaptive => Self::Adaptive,
            later if later >= (4, 5) => Self::Formed,
            _ => Self::Early,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::Generation;

    #[test]
    fn a_name_says_which_it_is() {
        let names = [
            "claude-3-5-haiku-20241022",
            "claude-sonnet-4-20250514",
            "anthropic.claude-opus-4-20250514-v1:0",
            "claude-opus-4-1",
            "claude-haiku-4-5",
            "claude-sonnet-4-5-20250929",
            "claude-opus-4-6",
            "claude-sonnet-4-6",
            "claude-opus-4-7",
            "claude-sonnet-5",
            "anthropic/claude-opus-5.5",
            "claude-fable-5-1",
            "claude-next",
            "kimi-k3",
        ];
        let told = names.map(|name| format!("{name}: {:?}\n", Generation::of(name)));
        expect![[r#"
            claude-3-5-haiku-20241022: Early
            claude-sonnet-4-20250514: Early
            anthropic.claude-opus-4-20250514-v1:0: Early
            claude-opus-4-1: Early
            claude-haiku-4-5: Formed
            claude-sonnet-4-5-20250929: Formed
            claude-opus-4-6: Formed
            claude-sonnet-4-6: Formed
            claude-opus-4-7: Adaptive
            claude-sonnet-5: Adaptive
            anthropic/claude-opus-5.5: Adaptive
            claude-fable-5-1: Adaptive
            claude-next: Adaptive
            kimi-k3: Early
        "#]]
        .assert_eq(&told.concat());
    }
}
