//! Interns texts: each distinct text gets a number and is stored once.
//!
//! ```
//! use tracemill_trace::event::names::Names;
//!
//! let mut names = Names::default(); // number 0 is the empty text
//! assert_eq!([names.number(b"a"), names.number(b"b"), names.number(b"a")], [1, 2, 1]);
//! assert_eq!((names.text(2), names.find(b"c")), ("b".to_owned(), None));
//! ```

use crate::spill::hash::hash_of;
use hashbrown::HashTable;
use tracemill_tokenizer::{unescape, unescaped_text};

/// Interned texts, numbered in order of first use. Number 0 is the empty text.
///
/// ```text
///   bytes   a b renderer …        all texts, concatenated
///   ends    0 1 2 10              end of each text: 8 bytes per text
///   table   hash → number         5 bytes per slot
/// ```
///
/// All texts share one allocation. Cost per lookup: a hash and a comparison. Invalid UTF-8 is
/// allowed.
pub struct Names {
    bytes: Vec<u8>,
    /// End offset of each text in `bytes`.
    ends: Vec<usize>,
    table: HashTable<u32>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names { bytes: Vec::new(), ends: Vec::new(), table: HashTable::new() };
        names.number(b"");
        names
    }
}

impl Names {
    /// Returns the number of a text, adding the text if it is new.
    #[inline]
    pub fn number(&mut self, text: &[u8]) -> u32 {
        let hash = hash_of(text);
        if let Some(number) = self.find_hashed(text, hash) {
            return number;
        }
        let Names { bytes, ends, table } = self;
        let number = ends.len() as u32;
        bytes.extend_from_slice(text);
        ends.push(bytes.len());
        let (bytes, ends) = (&*bytes, &*ends);
        table.insert_unique(hash, number, |&other| hash_of(of(bytes, ends, other)));
        number
    }

    /// Returns the number of a text, if it is interned.
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        self.find_hashed(text, hash_of(text))
    }

    #[inline]
    fn find_hashed(&self, text: &[u8], hash: u64) -> Option<u32> {
        let same = |&number: &u32| of(&self.bytes, &self.ends, number) == text;
        self.table.find(hash, same).copied()
    }

    /// Returns the number of the content of a JSON string, or of any other value as written.
    pub fn written(&mut self, value: &[u8]) -> u32 {
        let content = match value {
            [b'"', content @ .., b'"'] => content,
            _ => value,
        };
        if !content.contains(&b'\\') {
            return self.number(content);
        }
        let mut plain = Vec::with_capacity(content.len());
        unescape(content, &mut plain);
        self.number(&plain)
    }

    /// Returns the number of the content of a JSON string; 0 for any other value.
    pub fn content(&mut self, value: &[u8]) -> u32 {
        match value {
            [b'"', .., b'"'] => self.written(value),
            _ => 0,
        }
    }

    /// Returns the bytes of a text by its number.
    pub fn bytes_of(&self, number: u32) -> &[u8] {
        of(&self.bytes, &self.ends, number)
    }

    /// Returns a text by its number, with invalid UTF-8 replaced.
    pub fn text(&self, number: u32) -> String {
        unescaped_text(self.bytes_of(number))
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the heap use in bytes.
    pub fn heap(&self) -> u64 {
        let entries = self.ends.capacity() * size_of::<usize>() + self.table.capacity() * 5;
        (self.bytes.capacity() + entries) as u64
    }

    /// Returns `false`: the empty text is always interned.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Adds the texts of another table. Returns their numbers in this table.
    pub fn append(&mut self, other: &Names) -> Vec<u32> {
        (0..other.len() as u32).map(|number| self.number(other.bytes_of(number))).collect()
    }
}

fn of<'b>(bytes: &'b [u8], ends: &[usize], number: u32) -> &'b [u8] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &bytes[start..ends[number]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_number() {
        let (mut names, mut later) = (Names::default(), Names::default());
        assert_eq!([names.number(b"a"), names.number(b"b"), names.number(b"a")], [1, 2, 1]);
        assert_eq!((names.number(b""), names.text(2)), (0, "b".to_owned()));
        later.number(b"c");
        later.number(b"b");
        assert_eq!(names.append(&later), [0, 3, 2]);
        assert_eq!((names.text(3), names.len()), ("c".to_owned(), 4));
    }
}
