//! Formats numbers and nouns for sentences, and quotes words for shells.
//!
//! ```
//! use tracemill_trace::run::words::{grouped, plural, shell_word};
//!
//! assert_eq!(grouped(1_234_567), "1,234,567");
//! assert_eq!(plural(2, "address"), "2 addresses");
//! assert_eq!(shell_word("a trace.json"), "'a trace.json'");
//! ```

/// Formats a number with thousands separators: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its noun: `1 event`, `2 events`, `2 addresses`.
pub fn plural(number: u64, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", grouped(number))
}

/// Quotes a word for a shell if necessary. Writes control characters in the notation of bash and
/// zsh.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.chars().any(char::is_control) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut text = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes)
                    .bytes()
                    .for_each(|byte| text += &format!("\\x{byte:02x}"));
            }
            c => text.push(c),
        }
    }
    text + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(plural(1, "event"), "1 event");
        assert_eq!(plural(2000, "event"), "2,000 events");
    }

    #[test]
    fn bash_reads_quoted_words_back() {
        let words =
            ["a", "", "it's", "a b", "$x", "(anonymous)", "tab\tend", "é", "a\\b\n'", "--name=^x$"];
        let line: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        let script = format!("printf '%s\\0' {}", line.join(" "));
        let output =
            std::process::Command::new("bash").args(["-c", &script]).output().expect("bash");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let read: Vec<&str> = text.split_terminator('\0').collect();
        assert_eq!(read, words);
    }
}
