//! Links between the pages of the repository lead somewhere, to the heading if they name one.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{Finding, Repository, Tree};

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.tree.ending(".md") {
        for (event, span) in Parser::new(text).into_offset_iter() {
            let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else {
                continue;
            };
            if let Some(what) = broken(&repository.tree, path, &dest_url) {
                let line = text[..span.start].matches('\n').count() + 1;
                findings.push(Finding::at(path, line, what));
            }
        }
    }
    findings
}

/// What is wrong with a link on a page, if anything.
fn broken(tree: &Tree, page: &str, link: &str) -> Option<String> {
    if link.contains(':') {
        return None;
    }
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    let target = if file.is_empty() { Some(page.to_owned()) } else { resolve(page, file) };
    let Some(target) = target.filter(|target| tree.holds(target)) else {
        return Some(format!("`{link}` leads nowhere: mend the link"));
    };
    let heading = heading?;
    let there = tree.text(&target).is_some_and(|text| headings(text).iter().any(|found| found == heading));
    (!there).then(|| format!("`{target}` has no heading `#{heading}`: mend the link"))
}

/// The path from the root of a file named on a page; none if it is outside of the repository.
fn resolve(page: &str, file: &str) -> Option<String> {
    let mut steps: Vec<_> = page.split('/').collect();
    steps.pop();
    for step in file.trim_end_matches('/').split('/') {
        match step {
            "." => {}
            ".." => _ = steps.pop()?,
            "" => return None,
            name => steps.push(name),
        }
    }
    Some(steps.join("/"))
}

/// The names by which the headings of a page can be linked to.
fn headings(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut open: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => open = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => names.extend(open.take().map(|title| slug(&title))),
            Event::Text(part) | Event::Code(part) => {
                if let Some(title) = &mut open {
                    title.push_str(&part);
                }
            }
            _ => {}
        }
    }
    names
}

fn slug(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing;
    use super::check;

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        testing::check(
            check,
            &[
                (
                    "README.md",
                    "# A\n[a](docs/a.md#two-words) [b](docs) [c](https://site.example/x) [d](#a)\n\n![e](docs/e.svg)",
                ),
                (
                    "docs/a.md",
                    "[up](../README.md)\n## `Two` words\n[out](../../x) [gone](#gone) [abs](/README.md)\n\n```\n[code](x)\n```",
                ),
            ],
            expect![[r#"
                README.md:4: `docs/e.svg` leads nowhere: mend the link
                docs/a.md:3: `../../x` leads nowhere: mend the link
                docs/a.md:3: `docs/a.md` has no heading `#gone`: mend the link
                docs/a.md:3: `/README.md` leads nowhere: mend the link"#]],
        );
    }
}
