//! Escapes text from traces.

/// Escapes characters that would control a terminal or reverse the rest of the line: names in
/// traces may have any characters.
pub fn plain(text: &str) -> String {
    let is_hidden = |c: char| {
        let sets_direction = matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}');
        c.is_control() || sets_direction || matches!(c, '\u{2066}'..='\u{2069}')
    };
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hidden(c) {
            true => plain.extend(c.escape_default()),
            false => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_direction_are_escaped() {
        let marks = "\u{200E}\u{200F}\u{202A}\u{202E}\u{2066}\u{2069}";
        assert_eq!(plain(marks), "\\u{200e}\\u{200f}\\u{202a}\\u{202e}\\u{2066}\\u{2069}");
        assert_eq!(plain("a\n\u{200D}é"), "a\\n\u{200D}é");
    }
}
