//! Requests to people: what waits first, then what was asked and answered, then what is allowed for good.

use antiphon_event::RelayKind;
use antiphon_view::permissions::{Answer, Permissions, Request};

use super::payload::{brief, brief_or_empty, word};
use super::status::status;
use super::unit::{clock, flat, one_line, short};
use super::{Ink, Line, Page, Side, Table, nothing};

/// Where all of it is that ends with an ellipsis.
const WHOLE: &str = "what ends with … is whole in `antiphon sessions events`, and with --json";

/// Lays out all requests in the order they were asked, and all grants.
pub(super) fn lines(permissions: &Permissions, page: Page) -> Vec<Line> {
    let mut lines: Vec<Line> = permissions.pending().map(waiting).collect();
    let requests = requests(permissions);
    let is_cut = lines.iter().any(|line| line.width() > page.width) || !requests.fits(page.width);
    lines = lines.into_iter().map(|line| line.cut(page.width)).collect();
    if !lines.is_empty() {
        lines.push(Line::new());
    }
    if !permissions.requests().is_empty() {
        lines.extend(requests.lines(page.width));
    }
    if is_cut {
        lines.push(Line::new().ink(Ink::Faint, WHOLE).cut(page.width));
    }
    if !permissions.grants().is_empty() {
        lines.push(Line::new());
        lines.extend(grants(permissions, page));
    }
    if lines.is_empty() { nothing("nobody was asked for anything") } else { lines }
}

fn waiting(request: &Request) -> Line {
    let id = Line::new().ink(Ink::Waiting, "▶ waiting ").ink(Ink::Strong, request.id.as_str());
    id.plain(" ").plain(about(request))
}

fn requests(permissions: &Permissions) -> Table {
    let names = [("asked", Side::Left), ("request", Side::Left), ("kind", Side::Left), ("agent", Side::Left)];
    let names =
        [&names[..], &[("about", Side::Left), ("status", Side::Left), ("answer", Side::Left)]].concat();
    let mut table = Table::new(&names);
    for request in permissions.requests() {
        table.row(vec![
            Line::new().ink(Ink::Faint, request.asked_at.map(clock).unwrap_or_default()),
            Line::new().plain(short(request.id.as_str())),
            Line::new().plain(request.kind.as_ref().map_or("", |kind| kind.as_str())),
            Line::new().ink(Ink::Agent, request.agent.as_deref().unwrap_or("")),
            Line::new().plain(about(request)),
            status(&word(&request.status)),
            Line::new().plain(request.answer.as_ref().map(answer).unwrap_or_default()),
        ]);
    }
    table
}

/// What is asked: of a tool first what it is to do.
fn about(request: &Request) -> String {
    let prompt = request.prompt.as_deref().map(one_line).unwrap_or_default();
    let params = brief_or_empty(request.params.as_ref());
    let parts = match &request.tool {
        Some(tool) if request.kind != Some(RelayKind::Question) => [tool.clone(), params, prompt],
        tool => [tool.clone().unwrap_or_default(), prompt, params],
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn answer(answer: &Answer) -> String {
    let mut parts = vec![format!("by {}", answer.by)];
    parts.extend(answer.scope.as_ref().map(|scope| format!("for the {scope}")));
    parts.extend(answer.answer.as_ref().map(|answer| format!("“{}”", brief(answer))));
    parts.extend(answer.reason.as_deref().map(|reason| format!("({})", flat(reason))));
    parts.join(" ")
}

fn grants(permissions: &Permissions, page: Page) -> Vec<Line> {
    let mut table = Table::new(&[("granted", Side::Left), ("for", Side::Left), ("by", Side::Left)]);
    for grant in permissions.grants() {
        table.row(vec![
            Line::new().ink(Ink::Good, brief(&grant.rule)),
            Line::new().plain(grant.scope.as_str()),
            Line::new().plain(&grant.by),
        ]);
    }
    table.lines(page.width)
}
