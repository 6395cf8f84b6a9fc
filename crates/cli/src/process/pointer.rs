//! Shows a position in a text: the line with the position, and a caret below it.
//!
//! ```text
//!   …"ts":12,"dur":3,"name":"caf\xe9","args":{}…
//!                               ^
//! ```
//!
//! The line is cut to the given width. Control characters, invalid UTF-8 and invisible characters
//! are escaped.

use std::ops::Range;
use tracemill_trace::run::around::Around;
use unicode_width::UnicodeWidthChar;

/// Maximum number of columns before the position.
const BEFORE: usize = 40;
/// Maximum number of columns from the position on.
const BEHIND: usize = 36;

/// A character or an invalid byte, in the form in which it is displayed.
struct Cell {
    text: String,
    columns: usize,
    /// Byte range of the character in the text.
    bytes: Range<usize>,
}

/// Returns the line, and the line with the caret. Each has at most `room` columns; if `room` is
/// less than 12, at most 12.
pub(crate) fn pointed(around: &Around, room: Option<usize>) -> [String; 2] {
    // each ellipsis takes a column
    let room = room.map_or(BEFORE + BEHIND, |room| room.max(12) - 2).min(BEFORE + BEHIND);
    let before = room * BEFORE / (BEFORE + BEHIND);
    let at = place_in(around);
    let line = line_of(&around.bytes, at);
    let cells = cells(&around.bytes, line.clone());
    let place = cells.iter().position(|cell| cell.bytes.end > at).unwrap_or(cells.len());
    let first = place - fitting(cells[..place].iter().rev(), before);
    let last = place + fitting(cells[place..].iter(), room - before);
    let cut_before = first > 0 || line.start == 0 && around.more_before;
    let cut_behind = last < cells.len() || line.end == around.bytes.len() && around.more_behind;
    let dots = |cut: bool| if cut { "…" } else { "" };
    let shown: String = cells[first..last].iter().map(|cell| cell.text.as_str()).collect();
    let columns: usize = cells[first..place].iter().map(|cell| cell.columns).sum();
    let text = format!("{}{shown}{}", dots(cut_before), dots(cut_behind));
    let caret = format!("{}^", " ".repeat(columns + usize::from(cut_before)));
    [text, caret]
}

/// Returns the offset of the position to show. At the end of an input, that is the end of its text.
fn place_in(around: &Around) -> usize {
    if around.at < around.bytes.len() {
        return around.at;
    }
    around.bytes.trim_ascii_end().len()
}

/// Returns the range of the line that contains the byte `at`, without its newline.
fn line_of(bytes: &[u8], at: usize) -> Range<usize> {
    let (before, behind) = bytes.split_at(at);
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let end = behind.iter().position(|&byte| byte == b'\n').unwrap_or(behind.len());
    start..at + end
}

/// Returns how many of the first `cells` fit into `columns`.
fn fitting<'c>(cells: impl Iterator<Item = &'c Cell>, columns: usize) -> usize {
    let ends = cells.scan(0, |end, cell| {
        *end += cell.columns;
        Some(*end)
    });
    ends.take_while(|&end| end <= columns).count()
}

fn cells(bytes: &[u8], range: Range<usize>) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut at = range.start;
    let mut push = |text: String, columns, len| {
        cells.push(Cell { text, columns, bytes: at..at + len });
        at += len;
    };
    for chunk in bytes[range].utf8_chunks() {
        for c in chunk.valid().chars() {
            let (text, columns) = shown(c);
            push(text, columns, c.len_utf8());
        }
        for byte in chunk.invalid() {
            let text = format!("\\x{byte:02x}");
            let columns = text.len();
            push(text, columns, 1);
        }
    }
    cells
}

/// Returns the displayed form of a character, and its width in columns. Invisible characters are
/// escaped.
fn shown(c: char) -> (String, usize) {
    let is_plain = matches!(c, '"' | '\'' | '\\') || c.escape_debug().len() == 1;
    match c.width().filter(|&columns| columns > 0 && is_plain) {
        Some(columns) => (c.to_string(), columns),
        None => {
            let text = if is_plain {
                c.escape_unicode().to_string()
            } else {
                c.escape_debug().to_string()
            };
            let columns = text.len();
            (text, columns)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8], at: usize) -> [String; 2] {
        let bytes = bytes.to_vec();
        pointed(&Around { bytes, at, more_before: false, more_behind: false }, None)
    }

    #[track_caller]
    fn check(bytes: &[u8], at: usize, text: &str, caret: &str) {
        assert_eq!(whole(bytes, at), [text.to_owned(), caret.to_owned()]);
    }

    #[test]
    fn the_caret_is_under_the_byte() {
        check(b"{\"a\" 1}", 5, "{\"a\" 1}", "     ^");
        check(b"x", 0, "x", "^");
        check(b"[1", 2, "[1", "  ^");
        check(b"", 0, "", "^");
    }

    #[test]
    fn only_the_line_of_the_position_is_shown() {
        check(b"[\n{\"b\":tru},\n{}]", 7, "{\"b\":tru},", "     ^");
        check(b"[\n\n]", 2, "", "^");
        check(b"ab\ncd", 2, "ab", "  ^");
        // if an input ends too early, the caret is after its last text
        check(b"[1\n \n", 5, "[1", "  ^");
    }

    #[test]
    fn control_and_invisible_characters_are_escaped() {
        check(b"a\x1b[31m\tb", 7, "a\\u{1b}[31m\\tb", "             ^");
        // the first character reverses the text after it, and the second has no width
        check("\u{202e}\u{ad}x".as_bytes(), 5, "\\u{202e}\\u{ad}x", "              ^");
        check(b"\"caf\xe9\"", 4, "\"caf\\xe9\"", "    ^");
        check(b"C:\\x'", 4, "C:\\x'", "    ^");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        check("日本x".as_bytes(), 6, "日本x", "    ^");
        check("é日x".as_bytes(), 3, "é日x", " ^");
    }

    #[test]
    fn lines_use_the_given_width() {
        let around =
            Around { bytes: vec![b'x'; 500], at: 250, more_before: true, more_behind: true };
        for room in [12, 20, 69, 78, 500] {
            let [text, caret] = pointed(&around, Some(room));
            assert!(
                text.chars().count() <= room && caret.chars().count() <= room,
                "{room}: {text}"
            );
            assert!(text.chars().count() >= room.min(78) - 1, "{room}: {text}");
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_position() {
        let [text, caret] = whole(&[b'x'; 500], 250);
        assert_eq!(text.chars().count(), 1 + BEFORE + BEHIND + 1);
        assert!(text.starts_with("…x") && text.ends_with("x…"));
        assert_eq!(caret, format!("{}^", " ".repeat(1 + BEFORE)));
        let cut = Around { bytes: b"ab".to_vec(), at: 1, more_before: true, more_behind: true };
        assert_eq!(pointed(&cut, None), ["…ab…".to_owned(), "  ^".to_owned()]);
    }

    #[test]
    fn any_bytes_make_two_lines_that_fit_a_terminal() {
        let mut state = 1_u32;
        for len in 0..400 {
            let bytes: Vec<u8> = (0..len)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                })
                .collect();
            for at in [0, len / 2, len] {
                let [text, caret] = whole(&bytes, at);
                assert!(!text.chars().chain(caret.chars()).any(char::is_control), "{text:?}");
                let columns: usize = text.chars().filter_map(UnicodeWidthChar::width).sum();
                assert!(columns <= 1 + BEFORE + BEHIND + 1, "{text:?}");
                assert!(caret.len() <= columns + 1, "{text:?} {caret:?}");
            }
        }
    }
}
