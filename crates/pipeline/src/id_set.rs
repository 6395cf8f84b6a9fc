//! Sets of ids as users write them: `1,2,5-9,main`.

use std::fmt;
use std::str::FromStr;
use tracemill_tokenizer::unescape;

/// Ids, numbers or names.
///
/// `10` means the number 10 and the string `"10"`: who has both in one trace can tell them apart by nothing that they see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdSet {
    ranges: Vec<(u64, u64)>,
    texts: Vec<String>,
}

impl FromStr for IdSet {
    type Err = String;

    fn from_str(list: &str) -> Result<Self, String> {
        let mut set = IdSet::default();
        for part in list.split(',').map(str::trim) {
            if part.is_empty() {
                return Err(format!(
                    "expected ids with commas between them, such as 1,2,5-9: {list}"
                ));
            }
            let range = part.split_once('-').and_then(|(first, last)| {
                Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
            });
            match range {
                Some((first, last)) if first > last => {
                    return Err(format!("expected the smaller id of a range first: {part}"));
                }
                Some(range) => set.ranges.push(range),
                None => set.texts.push(part.to_owned()),
            }
        }
        Ok(set)
    }
}

impl fmt::Display for IdSet {
    /// As it can be read again: ranges first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.ranges.iter().map(|(first, last)| format!("{first}-{last}"));
        let parts: Vec<String> = ranges.chain(self.texts.iter().cloned()).collect();
        f.write_str(&parts.join(","))
    }
}

impl IdSet {
    /// Takes over what another set has: flags may be given more than once.
    pub fn extend(&mut self, other: &IdSet) {
        self.ranges.extend_from_slice(&other.ranges);
        self.texts.extend_from_slice(&other.texts);
    }

    /// Parts of it, as they were written, that are not there by what the arguments say of texts and ranges.
    pub(crate) fn absent(
        &self,
        has_text: impl Fn(&str) -> bool,
        has_range: impl Fn(&(u64, u64)) -> bool,
    ) -> Vec<String> {
        let ranges = self.ranges.iter().filter(|&range| !has_range(range));
        let texts = self.texts.iter().filter(|text| !has_text(text));
        ranges.map(|(first, last)| format!("{first}-{last}")).chain(texts.cloned()).collect()
    }

    /// Whether an id, as it is written in a trace, is in the set.
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
        self.texts.iter().any(|own| own == text) || self.ranges.iter().any(in_range)
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
        assert!("1,,2".parse::<IdSet>().is_err());
        assert!("9-5".parse::<IdSet>().is_err());
    }
}
