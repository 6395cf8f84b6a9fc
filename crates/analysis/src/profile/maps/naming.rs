//! Finds the name of a function in its source.
//!
//! A profile gives the position of a function's parameters. A map's name near that position may
//! belong to something else, so it is used only if one of these holds:
//!
//! * its segment covers exactly the function's name in the script;
//! * the source has the head of a function at the position;
//! * the source assigns a name to a function there, by JavaScript's naming rules.
//!
//! A wrong name is worse than none.

use std::ops::Range;

/// A function of a profile, and the map segment before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generated<'a> {
    pub(super) name: &'a str,
    /// UTF-16 units from the start of the segment to the function's parameters.
    pub(super) distance: u32,
    /// Name in the segment.
    pub(super) segment: Option<&'a str>,
}

/// Keywords that may precede a function and are not its name.
const WORDS: [&str; 22] = [
    "async",
    "await",
    "case",
    "catch",
    "constructor",
    "delete",
    "do",
    "else",
    "for",
    "function",
    "if",
    "in",
    "instanceof",
    "new",
    "of",
    "return",
    "switch",
    "throw",
    "typeof",
    "void",
    "while",
    "yield",
];

/// Modifiers that may precede an assigned name.
const MODIFIERS: [&str; 12] = [
    "const",
    "let",
    "var",
    "static",
    "public",
    "private",
    "protected",
    "readonly",
    "override",
    "declare",
    "accessor",
    "export",
];

/// Returns the name in the source. Returns `None` if the name is uncertain. `source` is the text
/// and the offset of the segment.
pub(super) fn name_of(generated: Generated<'_>, source: Option<(&str, usize)>) -> Option<String> {
    let kind = ["get ", "set "].into_iter().find(|kind| generated.name.starts_with(kind));
    let short = generated.name.rsplit([' ', '.']).next().unwrap_or_default();
    let length = short.encode_utf16().count() as u32;
    let behind = generated.distance.checked_sub(length).filter(|_| length > 0);
    let text = source.map(|(text, at)| (Text(text.as_bytes()), at, text));
    let name = match generated.segment.filter(|_| behind == Some(0)) {
        Some(name) if !WORDS.contains(&name) => Some(name),
        _ => text.and_then(|(text, at, whole)| {
            let range = text.name(at, generated.distance, behind, length)?;
            whole.get(range)
        }),
    }?;
    Some(format!("{}{name}", kind.unwrap_or_default()))
}

#[derive(Clone, Copy)]
struct Text<'s>(&'s [u8]);

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#') || byte >= 0x80
}

impl<'s> Text<'s> {
    fn byte(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// Skips white space forwards.
    fn skip(self, mut at: usize) -> usize {
        while self.byte(at).is_ascii_whitespace() {
            at += 1;
        }
        at
    }

    /// Skips white space backwards.
    fn back(self, mut at: usize) -> usize {
        while at > 0 && self.byte(at - 1).is_ascii_whitespace() {
            at -= 1;
        }
        at
    }

    fn word(self, at: usize) -> Range<usize> {
        let len = self.0.get(at..).unwrap_or_default().iter().take_while(|&&byte| is_word(byte));
        at..at + len.count()
    }

    fn word_before(self, end: usize) -> Range<usize> {
        let len = self.0[..end].iter().rev().take_while(|&&byte| is_word(byte)).count();
        end - len..end
    }

    fn is(self, word: &Range<usize>, expected: &str) -> bool {
        &self.0[word.clone()] == expected.as_bytes()
    }

    fn is_one_of(self, word: &Range<usize>, words: &[&str]) -> bool {
        words.iter().any(|expected| self.is(word, expected))
    }

    /// Returns whether a word can be the name of a function.
    fn is_name(self, word: &Range<usize>) -> bool {
        !word.is_empty() && !self.byte(word.start).is_ascii_digit() && !self.is_one_of(word, &WORDS)
    }

    fn name(
        self,
        at: usize,
        distance: u32,
        behind: Option<u32>,
        length: u32,
    ) -> Option<Range<usize>> {
        if let Some(head) = self.head(self.skip(at)) {
            // `async function* ` and the name are the longest text before the parameters.
            if distance > 17 + length {
                return None;
            }
            return match head {
                Head::Named(name) => Some(name),
                Head::Nameless(start) => self.given(self.back(start)),
            };
        }
        if distance == 0 {
            return self.of_parameters(at);
        }
        let name = self.key(at)?;
        let (quoted, end) = (self.byte(at) != self.byte(name.start), self.key_end(at, &name));
        match (behind?, self.byte(self.skip(end))) {
            // A method.
            (0, b'(' | b'<') if !quoted => Some(name),
            // A variable, property or field with a function as value.
            (0..=3, b'=') if !matches!(self.byte(self.skip(end) + 1), b'=' | b'>') => Some(name),
            (0..=3, b':' | b'?' | b'!') => Some(name),
            (_, b'(') if quoted => Some(name),
            _ => None,
        }
    }

    /// Returns a name, or the content of a string used as a name.
    fn key(self, at: usize) -> Option<Range<usize>> {
        if matches!(self.byte(at), b'"' | b'\'') {
            let len = self.0[at + 1..].iter().position(|&byte| byte == self.byte(at))?;
            let is_plain = !self.0[at + 1..at + 1 + len].iter().any(|b| matches!(b, b'\\' | b'\n'));
            return (len > 0 && is_plain).then_some(at + 1..at + 1 + len);
        }
        Some(self.word(at)).filter(|word| self.is_name(word))
    }

    fn key_end(self, at: usize, name: &Range<usize>) -> usize {
        name.end + usize::from(name.start > at)
    }

    /// Parses the head of a function with the keyword `function`.
    fn head(self, at: usize) -> Option<Head> {
        let mut word = self.word(at);
        while self.is_one_of(&word, &["export", "default", "async"]) {
            word = self.word(self.skip(word.end));
        }
        if !self.is(&word, "function") {
            return None;
        }
        let mut next = self.skip(word.end);
        if self.byte(next) == b'*' {
            next = self.skip(next + 1);
        }
        let name = self.word(next);
        if self.is_name(&name) && matches!(self.byte(self.skip(name.end)), b'(' | b'<') {
            return Some(Head::Named(name));
        }
        Some(Head::Nameless(at))
    }

    /// Returns the name of the function whose parameters begin at a position.
    fn of_parameters(self, at: usize) -> Option<Range<usize>> {
        let mut open = at;
        let mut end = self.back(at);
        let first = self.word(at);
        if !first.is_empty() && !self.is(&first, "async") {
            let next = self.skip(first.end);
            if self.byte(next) == b'(' {
                // The position is that of the name before the parameters.
                return Some(first).filter(|name| self.is_name(name) && self.has_body(next));
            }
            if self.byte(next) != b'=' || self.byte(next + 1) != b'>' {
                // The first of several parameters, or a typed one, after the bracket.
                open = end.checked_sub(1).filter(|&open| self.byte(open) == b'(')?;
                end = self.back(open);
            }
        }
        let is_bracket = self.byte(open) == b'(';
        let word = self.word_before(end);
        if self.is(&word, "function") {
            return self.given(self.back_over_async(word.start));
        }
        if word.is_empty() || self.is(&word, "async") {
            return self.given(self.back_over_async(end));
        }
        (is_bracket && self.is_name(&word) && self.has_body(open)).then_some(word)
    }

    /// Skips a preceding word `async` backwards.
    fn back_over_async(self, at: usize) -> usize {
        let end = self.back(at);
        let word = self.word_before(end);
        if self.is(&word, "async") { self.back(word.start) } else { end }
    }

    /// Returns whether a body or return type follows the bracket that closes the one at `open`.
    fn has_body(self, open: usize) -> bool {
        /// Maximum length of a parameter list in bytes.
        const MOST: usize = 64 << 10;
        let mut depth = 0;
        for (at, byte) in self.0.iter().enumerate().skip(open).take(MOST) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                return matches!(self.byte(self.skip(at + 1)), b'{' | b':');
            }
        }
        false
    }

    /// Returns the name to which the following function is assigned: `name =`, `name: Type =` or
    /// `name:`.
    fn given(self, end: usize) -> Option<Range<usize>> {
        match self.byte(end.checked_sub(1)?) {
            b'=' => {
                let before = self.byte(end.wrapping_sub(2));
                let is_plain = is_word(before) || before.is_ascii_whitespace();
                let name = self.word_before(self.back(end - 1));
                if !is_plain || !self.is_name(&name) {
                    return None;
                }
                self.declared(name)
            }
            b':' => {
                let end = self.back(end - 1);
                let key = match self.byte(end.checked_sub(1)?) {
                    quote @ (b'"' | b'\'') => {
                        let len = self.0[..end - 1].iter().rev().position(|&byte| byte == quote)?;
                        end - 1 - len..end - 1
                    }
                    _ => Some(self.word_before(end)).filter(|word| self.is_name(word))?,
                };
                let start = key.start - usize::from(key.end < end);
                let before = self.byte(self.back(start).checked_sub(1)?);
                matches!(before, b'{' | b',').then_some(key)
            }
            _ => None,
        }
    }

    /// Returns the assigned name before `=`, skipping a type annotation.
    fn declared(self, word: Range<usize>) -> Option<Range<usize>> {
        let end = self.back(word.start);
        if end > 0 && self.byte(end - 1) == b':' {
            let mut name_end = self.back(end - 1);
            name_end -= usize::from(name_end > 0 && matches!(self.byte(name_end - 1), b'?' | b'!'));
            let name = self.word_before(name_end);
            return Some(name).filter(|name| self.is_name(name) && self.begins(name.start));
        }
        self.begins(word.start).then_some(word)
    }

    /// Returns whether an assigned name may begin here.
    fn begins(self, start: usize) -> bool {
        let end = self.back(start);
        let Some(last) = end.checked_sub(1) else { return true };
        let before = self.word_before(end);
        let is_next_line = self.0[end..start].contains(&b'\n');
        match self.byte(last) {
            b'{' | b',' | b';' | b'(' | b'.' | b'}' => true,
            b')' | b']' | b'"' | b'\'' | b'`' => is_next_line,
            _ => !before.is_empty() && (is_next_line || self.is_one_of(&before, &MODIFIERS)),
        }
    }
}

/// The head of a function: its name, or the position of a nameless head.
enum Head {
    Named(Range<usize>),
    Nameless(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the name of a function whose segment is at `|` in a source.
    fn named(source: &str, name: &str, distance: u32, segment: Option<&str>) -> Option<String> {
        let at = source.find('|').expect("a mark");
        let text = source.replace('|', "");
        name_of(Generated { name, distance, segment }, Some((&text, at)))
    }

    #[test]
    fn functions_are_named_like_javascript_does() {
        for (source, expected) in [
            ("const a = |(x: number): X => x", "a"),
            ("const a: Work = |x => x", "a"),
            ("const a = async |(x) => x", "a"),
            ("let a =\n  |function (x) {}", "a"),
            ("x.y.a = |async function* (x) {}", "a"),
            ("({ a: |(x) => x })", "a"),
            ("({ b, 'a b': |(x) => x })", "a b"),
            ("class X {\n  b = 1\n  a = |(x) => x }", "a"),
            ("class X { a|(x) {} }", "a"),
            ("class X { private readonly a: Y = |(x) => x }", "a"),
            ("class X { #a = |(x) => x }", "#a"),
            ("const a = (|x: number, y) => x", "a"),
            ("export default |function a(x) {}", "a"),
            ("|export async function* a<T>(x) {}", "a"),
            ("const b = { |a(x) { return x; } }", "a"),
        ] {
            assert_eq!(named(source, "m", 0, None).as_deref(), Some(expected), "{source}");
        }
    }

    #[test]
    fn nameless_functions_get_no_name() {
        for source in [
            "list.map(|(x) => x)",
            "list.map(|x => x)",
            "a ? b : |(x) => x",
            "a === b; |(x) => x",
            "const a: B | C = |(x) => x",
            "const a = b && (|(x) => x)",
            "const a: Map<B, C> = |(x) => x",
            "return |(x) => x",
            "if |(x) {}",
            "a == |(x) => x",
            "a = b = c || |((x) => x)",
            "constructor|(x) {}",
            "f|(x)",
            "const a = { |map((x) => x) }",
            "const a = { |b, c }",
        ] {
            assert_eq!(named(source, "m", 0, Some("x")), None, "{source}");
        }
        // The segment of a call, for an argument without its own.
        assert_eq!(named("list.|map((x) => x)", "", 5, Some("map")), None);
        assert_eq!(named("|first((x) => x)", "f", 3, None), None);
        assert_eq!(named("|function far(x) {}", "", 100, None), None);
    }

    #[test]
    fn segment_covering_a_name_provides_it() {
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(named("function |work(x) {}", "m", 1, Some("work")), some("work"));
        assert_eq!(named("class X { |work(x) {} }", "work", 4, None), some("work"));
        assert_eq!(named("class X { get |work() {} }", "get m", 1, Some("work")), some("get work"));
        assert_eq!(named("const |work: W = (x) => x", "m", 2, None), some("work"));
        assert_eq!(named("({ |work: (x) => x })", "a.b.m", 3, None), some("work"));
        assert_eq!(named("|class X { constructor(x) {} }", "m", 1, Some("constructor")), None);
        assert_eq!(
            name_of(Generated { name: "m", distance: 1, segment: Some("work") }, None),
            some("work")
        );
        assert_eq!(
            name_of(Generated { name: "m", distance: 2, segment: Some("work") }, None),
            None
        );
    }
}
