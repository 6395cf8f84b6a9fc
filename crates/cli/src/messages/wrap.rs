//! Wraps lines for terminals. Breaks lines between words, and indents the following lines.

use crate::files::whole_file::OutputPlace;
use std::io;
use terminal_size::{Height, Width, terminal_size_of};
use unicode_width::UnicodeWidthChar;

/// Minimum width of a terminal for which lines are wrapped.
const LEAST: usize = 40;

/// Returns the width of the terminal on standard output, if it is one.
fn columns() -> Option<usize> {
    worth(terminal_size_of(io::stdout()))
}

/// Returns the width of the terminal on standard error, if it is at least [`LEAST`].
pub(crate) fn columns_of_messages() -> Option<usize> {
    worth(terminal_size_of(io::stderr()))
}

/// Returns the width of the terminal on standard error, however small.
pub(crate) fn columns_of_bar() -> Option<usize> {
    terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0))
}

/// Returns the width of the terminal to which the output goes. Returns `None` for a file.
pub(crate) fn columns_of(place: &OutputPlace) -> Option<usize> {
    if place.is_stdout() { columns() } else { None }
}

fn worth(size: Option<(Width, Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0)).filter(|&columns| columns >= LEAST)
}

/// Appends a line, wrapped at `columns`. Each following line has `indent` blanks before it. Words
/// wider than a line are not broken.
pub(crate) fn push_line(out: &mut String, line: &str, indent: usize, columns: Option<usize>) {
    let Some(columns) = columns.filter(|&columns| width(line) > columns) else {
        out.push_str(line);
        return out.push('\n');
    };
    // the label at the start of the line is never broken
    let (head, text) = line.split_at(head_len(line, indent));
    out.push_str(head);
    let mut at = indent;
    for (number, word) in unbroken(text).enumerate() {
        let added = width(word);
        if number > 0 && at + 1 + added > columns {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else if number > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += added;
    }
    out.push('\n');
}

/// Units that stay on the same line as the number before them.
const UNITS: [&str; 14] =
    ["ns", "µs", "ms", "s", "min", "h", "d", "%", "B", "KiB", "MiB", "GiB", "KiB/s", "MiB/s"];
/// Words that stay on the same line as the number after them.
const LABELS: [&str; 4] = ["pid", "tid", "id", "byte"];

/// Splits a text into words. A number and its unit or label form one word.
fn unbroken(text: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from..)?;
        let mut to = rest.find(' ').unwrap_or(rest.len());
        while to < rest.len() {
            let word = rest[..to].rsplit(' ').next().unwrap_or_default();
            let next = rest[to + 1..].split(' ').next().unwrap_or_default();
            let unit = next.trim_end_matches([',', ';', ':', ')', '.']);
            let is_number = word.ends_with(|c: char| c.is_ascii_digit());
            let is_label = LABELS.contains(&word.trim_start_matches('('));
            if next.is_empty() || !(is_label || is_number && UNITS.contains(&unit)) {
                break;
            }
            to += 1 + next.len();
        }
        from += to + 1;
        Some(&rest[..to])
    })
}

/// Returns the number of bytes that the first `indent` columns of a line take. Colour sequences
/// count too.
fn head_len(line: &str, indent: usize) -> usize {
    let mut at = 0;
    for (offset, glyph) in glyphs(line) {
        if at >= indent && glyph > 0 {
            return offset;
        }
        at += glyph;
    }
    line.len()
}

fn width(text: &str) -> usize {
    glyphs(text).map(|(_, glyph)| glyph).sum()
}

/// Iterates over the offset and width of each character. Characters of colour sequences have width
/// 0.
fn glyphs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut in_sequence = false;
    text.char_indices().map(move |(offset, c)| {
        in_sequence |= c == '\u{1b}';
        let columns = if in_sequence { 0 } else { c.width().unwrap_or(0) };
        in_sequence &= c != 'm';
        (offset, columns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(line: &str, indent: usize, columns: usize) -> String {
        let mut out = String::new();
        push_line(&mut out, line, indent, Some(columns));
        out
    }

    #[test]
    fn long_lines_continue_below_the_text() {
        let line = "name     one two  three /a/very/long/path four";
        assert_eq!(lines(line, 9, 80), format!("{line}\n"));
        let expected = "\
name     one two
         three
         /a/very/long/path
         four
";
        assert_eq!(lines(line, 9, 20), expected);
        // a colour sequence takes no column, and é takes one
        let line = "\u{1b}[1mname     \u{1b}[0méééé éé é";
        assert_eq!(lines(line, 9, 18), format!("{line}\n"));
        assert_eq!(lines(line, 9, 17), "\u{1b}[1mname     \u{1b}[0méééé éé\n         é\n");
    }

    #[test]
    fn numbers_stay_with_their_units() {
        let line = "at 3.60 s (byte 1,810), 57 MiB/s, pid 7 tid  8 s";
        let words: Vec<&str> = unbroken(line).collect();
        assert_eq!(
            words,
            ["at", "3.60 s", "(byte 1,810),", "57 MiB/s,", "pid 7", "tid", "", "8 s"]
        );
        assert_eq!(words.join(" "), line);
        assert_eq!(unbroken("").collect::<Vec<_>>(), [""]);
        assert_eq!(unbroken("a ").collect::<Vec<_>>(), ["a", ""]);
        assert_eq!(lines("name  in 57 MiB/s", 6, 14), "name  in\n      57 MiB/s\n");
    }

    #[test]
    fn wrapped_lines_fit_and_keep_every_word() {
        let words: Vec<String> = (0..60).map(|n| "abcdefghij"[..n % 9 + 1].to_owned()).collect();
        let line = format!("label: {}", words.join(" "));
        for columns in 17..200 {
            let text = lines(&line, 7, columns);
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}: {text}");
            assert!(text.lines().skip(1).all(|line| line.starts_with("       ")), "{text}");
            assert!(text.split_whitespace().eq(line.split_whitespace()), "{columns}: {text}");
        }
    }
}
