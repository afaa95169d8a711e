//! Rust files as tokens: enough to find paths and modules, inside macros too, without knowing types.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The tokens of a file; none if it is no Rust, which the compiler will say better.
pub(super) fn tokens(text: &str) -> Vec<TokenTree> {
    text.parse::<TokenStream>().map(|stream| stream.into_iter().collect()).unwrap_or_default()
}

/// What is inside a group.
pub(super) fn inside(token: &TokenTree) -> Option<Vec<TokenTree>> {
    match token {
        TokenTree::Group(group) => Some(group.stream().into_iter().collect()),
        _ => None,
    }
}

/// The line a token begins on.
pub(super) fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

/// The word of an identifier, without the mark of a raw one.
pub(super) fn word(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(ident) => Some(ident.to_string().trim_start_matches("r#").to_owned()),
        _ => None,
    }
}

/// Whether this is that punctuation character.
pub(super) fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Whether this is a `{…}`.
pub(super) fn is_braces(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// The tokens cut into items, each with whether `#[cfg(test)]` stands before it. An item ends with a `;`,
/// a `,` or a `{…}`; that cuts too often, which makes the rules stricter and does no harm.
pub(super) fn items(tokens: &[TokenTree]) -> impl Iterator<Item = (&[TokenTree], bool)> {
    let ends =
        |token: &TokenTree| is_braces(token) || is_punct(Some(token), ';') || is_punct(Some(token), ',');
    tokens.split_inclusive(ends).map(|item| (item, is_for_tests(item)))
}

fn is_for_tests(item: &[TokenTree]) -> bool {
    item.windows(2)
        .any(|pair| is_punct(Some(&pair[0]), '#') && pair[1].to_string().replace(' ', "") == "[cfg(test)]")
}
