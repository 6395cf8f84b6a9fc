//! Sets of ids as users write them: `1,2,5-9,main`.

use std::fmt;
use std::str::FromStr;
use tracemill_tokenizer::unescape;

/// A set of ids, id ranges and names. A quoted id is taken literally (`"a,b"`, `"5-9"`); `""` or an
/// empty text matches a missing id.
///
/// `10` matches both the number 10 and the string `"10"`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdSet {
    ranges: Vec<(u64, u64)>,
    texts: Vec<String>,
}

impl FromStr for IdSet {
    type Err = String;

    fn from_str(list: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "expected ids with commas between them, such as 1,2,5-9, or \"\" for none: {list}"
            )
        };
        let mut set = IdSet::default();
        let mut rest = list.trim();
        if rest.is_empty() {
            set.texts.push(String::new());
            return Ok(set);
        }
        loop {
            rest = match rest.strip_prefix('"') {
                Some(quoted) => {
                    let (text, behind) = unquoted(quoted).ok_or_else(wrong)?;
                    set.texts.push(text);
                    behind.trim_start()
                }
                None => {
                    let (part, behind) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                    set.add(part.trim()).map_err(|why| why.unwrap_or_else(wrong))?;
                    behind
                }
            };
            match rest.strip_prefix(',') {
                Some(next) => rest = next.trim_start(),
                None if rest.is_empty() => return Ok(set),
                None => return Err(wrong()),
            }
        }
    }
}

/// Splits the text after an opening quote into the unescaped content and the rest after the closing
/// quote. Returns `None` without a closing quote.
fn unquoted(quoted: &str) -> Option<(String, &str)> {
    let (mut text, mut is_escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            '\\' if !is_escaped => is_escaped = true,
            '"' if !is_escaped => return Some((text, &quoted[at + 1..])),
            c => {
                text.push(c);
                is_escaped = false;
            }
        }
    }
    None
}

/// Formats an id so that it parses back, quoted if needed.
fn spelled(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.trim() == text
        && !text.contains([',', '"'])
        && range(text).is_none();
    match is_plain {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-')?;
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

impl fmt::Display for IdSet {
    /// Writes a list that parses back to the same set: ranges first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.ranges.iter().map(|(first, last)| format!("{first}-{last}"));
        let parts: Vec<String> =
            ranges.chain(self.texts.iter().map(|text| spelled(text))).collect();
        f.write_str(&parts.join(","))
    }
}

impl IdSet {
    /// Creates a set of one id, taken literally.
    pub fn of(id: String) -> Self {
        IdSet { ranges: Vec::new(), texts: vec![id] }
    }

    /// Adds an id or a range.
    ///
    /// # Errors
    /// Returns a message for a descending range, and `None` for an empty id.
    fn add(&mut self, part: &str) -> Result<(), Option<String>> {
        match range(part) {
            _ if part.is_empty() => return Err(None),
            Some((first, last)) if first > last => {
                return Err(Some(format!("expected the smaller id of a range first: {part}")));
            }
            Some(range) => self.ranges.push(range),
            None => self.texts.push(part.to_owned()),
        }
        Ok(())
    }

    /// Adds all ids and ranges of another set.
    pub fn extend(&mut self, other: &IdSet) {
        self.ranges.extend_from_slice(&other.ranges);
        self.texts.extend_from_slice(&other.texts);
    }

    /// Returns the ids and ranges, as written, that the closures do not find in the inputs.
    pub fn absent(
        &self,
        has_text: impl Fn(&str) -> bool,
        has_range: impl Fn(&(u64, u64)) -> bool,
    ) -> Vec<String> {
        let ranges = self.ranges.iter().filter(|&range| !has_range(range));
        let texts = self.texts.iter().filter(|text| !has_text(text));
        ranges.map(|(first, last)| format!("{first}-{last}")).chain(texts.cloned()).collect()
    }

    /// Returns whether the set contains an id. Strings keep their quotes, as in the trace.
    pub fn contains(&self, id: &[u8]) -> bool {
        let mut plain = Vec::new();
        match id {
            [b'"', content @ .., b'"'] => unescape(content, &mut plain),
            _ => plain.extend_from_slice(id),
        }
        let Ok(text) = std::str::from_utf8(&plain) else { return false };
        let number = text.parse::<u64>().ok();
        let in_range =
            |&(first, last): &(u64, u64)| number.is_some_and(|n| (first..=last).contains(&n));
        self.texts.iter().any(|listed| listed == text) || self.ranges.iter().any(in_range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ranges_and_names() {
        let set: IdSet = "1, 5-7,0x1,main-2".parse().unwrap();
        for id in ["1", "5", "6", "7", "\"0x1\"", "\"6\"", "\"main-2\"", "\"\\u0031\""] {
            assert!(set.contains(id.as_bytes()), "{id}");
        }
        for id in ["2", "8", "", "\"\"", "null", "5.5"] {
            assert!(!set.contains(id.as_bytes()), "{id}");
        }
        assert_eq!(set.to_string(), "5-7,1,0x1,main-2");
        for wrong in ["1,,2", "1,", ",1", "\"a", "\"a\"b"] {
            assert!(wrong.parse::<IdSet>().is_err(), "{wrong}");
        }
        assert!("9-5".parse::<IdSet>().is_err());
    }

    #[test]
    fn ids_are_read_as_they_are_spelled() {
        for id in ["", "-1", "5-9", "a,b", "\"", " x ", "\\", "main", "7"] {
            let set: IdSet = IdSet::of(id.to_owned()).to_string().parse().unwrap();
            assert_eq!(set, IdSet::of(id.to_owned()), "{id}");
            assert!(set.contains(id.as_bytes()), "{id}");
        }
        for (list, spelled) in [("", "\"\""), ("\"\",3", "\"\",3"), ("-1,-2", "-1,-2")] {
            assert_eq!(list.parse::<IdSet>().unwrap().to_string(), spelled);
        }
        assert!("".parse::<IdSet>().unwrap().contains(b"\"\""));
    }
}
