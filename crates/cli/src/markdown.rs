//! Texts of traces in Markdown: names of functions, threads and files may look like anything.

use crate::messages::plain;

/// A text from a trace as code, so that nothing in it is taken for Markdown, a mention or a link.
///
/// Backticks and bars cannot stand in a code span of a table in every place: then all that may mean something is written
/// as an entity.
pub(crate) fn code(text: &str) -> String {
    let text = plain(text);
    if text.is_empty() || text.trim() == text && !text.contains(['`', '|']) {
        return if text.is_empty() { text } else { format!("`{text}`") };
    }
    let mut html = String::from("<code>");
    for c in text.chars() {
        if c.is_ascii_punctuation() || c == ' ' {
            html.push_str(&format!("&#{};", u32::from(c)));
        } else {
            html.push(c);
        }
    }
    html + "</code>"
}

/// A cell of a table: as code if something in it would be taken for more than text, behind the branch of a tree that it may begin with.
pub(crate) fn cell(text: &str) -> String {
    let text = plain(text);
    let label = text.trim_start_matches([' ', '│', '├', '└', '─']);
    // spaces at the begin of a cell are not shown
    let branch = text[..text.len() - label.len()].replace(' ', "\u{a0}");
    if means_more(label) { branch + &code(label) } else { branch + label }
}

/// A command in a cell of a table, to be copied: a bar in it does not end the cell.
pub(crate) fn command(text: &str) -> String {
    if text.contains('`') { code(text) } else { format!("`{}`", text.replace('|', "\\|")) }
}

/// Whether Markdown, or who shows it, takes something for a mark: `<int>` would not be seen, `__init__` be bold, and `@angular` be called.
fn means_more(text: &str) -> bool {
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let is_edge = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
        let is_mark = match c {
            '`' | '|' | '*' | '<' | '[' => true,
            '\\' => next.is_some_and(|next| next.is_ascii_punctuation()),
            '_' => is_edge(before) || is_edge(next),
            '~' => next == Some('~'),
            '&' | '@' => next.is_some_and(|next| next.is_alphanumeric() || next == '#'),
            '#' => next.is_some_and(|next| next.is_ascii_digit()),
            _ => false,
        };
        if is_mark {
            return true;
        }
        before = Some(c);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_become_markdown() {
        assert_eq!(code("@a <b> *c* #1"), "`@a <b> *c* #1`");
        assert_eq!(code("a|b`@c"), "<code>a&#124;b&#96;&#64;c</code>");
        assert_eq!(code("a\\|b"), "<code>a&#92;&#124;b</code>");
        assert_eq!(code(" a"), "<code>&#32;a</code>");
        assert_eq!(code("a\nb\u{7}"), "`a\\nb\\u{7}`");
        for text in ["`", "``", "|", "a`|`b", "\\|", "| --- |"] {
            let code = code(text);
            assert!(!code.contains(['|', '`']), "{code}");
        }
    }

    #[test]
    fn commands_can_be_copied() {
        assert_eq!(command("filter --name 'a|b'"), r"`filter --name 'a\|b'`");
        assert!(!command("filter --name '`'")[1..].contains('`'));
    }

    #[test]
    fn cells_are_code_only_where_they_must_be() {
        for text in [
            "",
            "Layout",
            "-2.67 … +2.67",
            "~",
            "non_blocking",
            "a > b",
            "app.js:2:19",
            "a && b",
            r"C:\new",
        ] {
            assert_eq!(cell(text), text);
        }
        for (text, shown) in [
            ("std::vector<int>", "`std::vector<int>`"),
            ("│  └─ b", "│\u{a0}\u{a0}└─\u{a0}b"),
            ("├─ __init__", "├─\u{a0}`__init__`"),
            ("@angular/core", "`@angular/core`"),
            ("issue #12", "`issue #12`"),
            ("a&lt;b", "`a&lt;b`"),
            ("~~gone~~", "`~~gone~~`"),
            ("[x](y)", "`[x](y)`"),
            ("a*b*c", "`a*b*c`"),
            (r"C:\_new", r"`C:\_new`"),
            ("a|b", "<code>a&#124;b</code>"),
        ] {
            assert_eq!(cell(text), shown);
        }
    }
}
