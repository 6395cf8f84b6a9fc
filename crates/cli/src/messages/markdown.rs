//! Escapes texts from traces for Markdown. Names of functions, threads and files may have any
//! characters.

use crate::messages::plain;

/// Formats a text as code, so that Markdown finds no markup, mention or link in it.
///
/// A code span in a table cannot contain backticks or bars. Texts with these characters are written
/// as HTML instead, with all punctuation as entities.
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

/// Formats a table cell. Text that Markdown would take for markup becomes code. Tree lines before
/// the text stay as they are.
pub(crate) fn cell(text: &str) -> String {
    let text = plain(text);
    let label = text.trim_start_matches([' ', '│', '├', '└', '─']);
    // Markdown drops leading spaces of a cell
    let branch = text[..text.len() - label.len()].replace(' ', "\u{a0}");
    if means_more(label) { branch + &code(label) } else { branch + label }
}

/// Formats a command in a table cell so that it can be copied. Escapes bars in it.
pub(crate) fn command(text: &str) -> String {
    if text.contains('`') { code(text) } else { format!("`{}`", text.replace('|', "\\|")) }
}

/// Returns whether Markdown would take part of the text for markup, such as `<int>`, `__init__` or
/// `@angular`.
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
    fn names_are_escaped_in_code() {
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
    fn commands_in_cells_keep_their_text() {
        assert_eq!(command("filter --name 'a|b'"), r"`filter --name 'a\|b'`");
        assert!(!command("filter --name '`'")[1..].contains('`'));
    }

    #[test]
    fn cells_are_code_only_if_they_contain_markup() {
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
