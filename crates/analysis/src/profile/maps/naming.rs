//! What a function is called in its source.
//!
//! Profiles name the place of a function's parameters. The segment of a map that reaches there has a name only if a name stands there, which
//! may as well be that of a parameter, or of another function that is called there. So a name counts only if it can be told that it is the
//! function's: the segment covers just what the profile calls the function, or the source has a head of a function at the place, or a name
//! that is given to one there, by the rules by which JavaScript itself names functions. A wrong name is worse than none.

use std::ops::Range;

/// A function as the profile has it, and where the segment that reaches to it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generated<'a> {
    pub(super) name: &'a str,
    /// Units of UTF-16 from the start of the segment to the function's parameters.
    pub(super) distance: u32,
    /// The name that the segment has.
    pub(super) segment: Option<&'a str>,
}

/// Words that are no names where a function may stand behind them.
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

/// Words that may stand before a name that a function is given to.
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

/// The name in the source, of which `at` is the place that the segment has, as an offset; `None` if it cannot be told.
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

/// The source.
#[derive(Clone, Copy)]
struct Text<'s>(&'s [u8]);

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#') || byte >= 0x80
}

impl<'s> Text<'s> {
    fn byte(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// The next place that is no white space.
    fn skip(self, mut at: usize) -> usize {
        while self.byte(at).is_ascii_whitespace() {
            at += 1;
        }
        at
    }

    /// The end of what stands before, without white space.
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

    /// Whether a word is one that a function can have for its name.
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
            // `async function* ` and its name are the most that stands before parameters
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
            // a method
            (0, b'(' | b'<') if !quoted => Some(name),
            // a variable, a property or a field that a function is given to
            (0..=3, b'=') if !matches!(self.byte(self.skip(end) + 1), b'=' | b'>') => Some(name),
            (0..=3, b':' | b'?' | b'!') => Some(name),
            (_, b'(') if quoted => Some(name),
            _ => None,
        }
    }

    /// A name, or the content of a string that is one.
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

    /// The head of a function with this word.
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

    /// The name of the function whose parameters begin at a place.
    fn of_parameters(self, at: usize) -> Option<Range<usize>> {
        let mut open = at;
        let mut end = self.back(at);
        let first = self.word(at);
        if !first.is_empty() && !self.is(&first, "async") {
            let next = self.skip(first.end);
            if self.byte(next) == b'(' {
                // the place is that of the name before the parameters
                return Some(first).filter(|name| self.is_name(name) && self.has_body(next));
            }
            if self.byte(next) != b'=' || self.byte(next + 1) != b'>' {
                // the first of several, or one that has a type: its bracket was left out
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

    /// The end of what stands before a word `async`, if there is one.
    fn back_over_async(self, at: usize) -> usize {
        let end = self.back(at);
        let word = self.word_before(end);
        if self.is(&word, "async") { self.back(word.start) } else { end }
    }

    /// Whether a body, or the type of what is returned, stands behind the bracket that closes this one.
    fn has_body(self, open: usize) -> bool {
        /// The longest list of parameters that is looked through.
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

    /// The name to which what follows is given: `name =`, `name: Type =` or `name:`.
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

    /// A word before `=` if it is the name that is assigned to; if it is the name's type, the name.
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

    /// Whether a name may begin here that is assigned to.
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

/// The head of a function: its name, or where it begins.
enum Head {
    Named(Range<usize>),
    Nameless(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of a function whose segment is at `|` of a source.
    fn named(source: &str, name: &str, distance: u32, segment: Option<&str>) -> Option<String> {
        let at = source.find('|').expect("a mark");
        let text = source.replace('|', "");
        name_of(Generated { name, distance, segment }, Some((&text, at)))
    }

    #[test]
    fn functions_are_named_as_javascript_names_them() {
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
    fn what_has_no_name_gets_none() {
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
        // the segment of a call that has none for its argument
        assert_eq!(named("list.|map((x) => x)", "", 5, Some("map")), None);
        assert_eq!(named("|first((x) => x)", "f", 3, None), None);
        assert_eq!(named("|function far(x) {}", "", 100, None), None);
    }

    #[test]
    fn a_segment_that_covers_a_name_has_the_name() {
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
