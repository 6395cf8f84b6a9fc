//! The number of the last thread whose pid and tid are integers. Most events are of the same thread
//! as the event before.

use tracemill_tokenizer::swar::{digits, first};

/// A thread and its number.
#[derive(Clone, Copy)]
pub(super) struct LastThread {
    pid: Integer,
    tid: Integer,
    number: usize,
}

impl Default for LastThread {
    fn default() -> Self {
        LastThread { pid: Integer::NONE, tid: Integer::NONE, number: 0 }
    }
}

impl LastThread {
    /// Returns the number, if the texts begin with the pid and tid of the last thread.
    #[inline(always)]
    pub(super) fn get(&self, pid: &[u8], tid: &[u8]) -> Option<usize> {
        (self.pid.begins(pid) && self.tid.begins(tid)).then_some(self.number)
    }

    /// Sets the number of the thread whose pid and tid are at the start of texts, if both are short
    /// integers before a comma or brace.
    pub(super) fn set(&mut self, pid: &[u8], tid: &[u8], number: usize) {
        if let Some((pid, tid)) = Integer::of(pid).zip(Integer::of(tid)) {
            *self = LastThread { pid, tid, number };
        }
    }
}

/// Up to seven digits, and the byte after them.
#[derive(Clone, Copy)]
struct Integer {
    word: u64,
    /// The bits of these bytes.
    mask: u64,
}

impl Integer {
    /// An integer that no text begins with.
    const NONE: Self = Integer { word: 1, mask: 0 };

    fn of(text: &[u8]) -> Option<Self> {
        let text = text.first_chunk::<8>()?;
        let word = u64::from_le_bytes(*text);
        let len = first(digits(word).1);
        if len == 0 || !matches!(text.get(len), Some(b',' | b'}')) {
            return None;
        }
        let mask = u64::MAX >> (56 - 8 * len);
        Some(Integer { word: word & mask, mask })
    }

    #[inline(always)]
    fn begins(self, text: &[u8]) -> bool {
        text.first_chunk().is_some_and(|text| u64::from_le_bytes(*text) & self.mask == self.word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_integers_are_the_same_thread() {
        let values = ["", "0", "00", "7", "78", "1234567", "12345678", "-7", "7.5", "\"7\"", "[7]"];
        let rests = [",\"name\":1}", "}, {\"ph\":\"X\"}", " ,\"name\":1}", "]\0\0\0\0\0\0\0"];
        let texts: Vec<(&str, String)> = values
            .iter()
            .flat_map(|&value| rests.map(|rest| (value, format!("{value}{rest}"))))
            .collect();
        let mut found = 0;
        for (value, pid) in &texts {
            let mut last = LastThread::default();
            assert_eq!(last.get(pid.as_bytes(), b"1,2345678"), None);
            last.set(pid.as_bytes(), b"1,2345678", 3);
            for (other, other_pid) in &texts {
                if let Some(number) = last.get(other_pid.as_bytes(), b"1,8765432") {
                    assert_eq!((value, number), (other, 3));
                    found += 1;
                }
                assert_eq!(last.get(other_pid.as_bytes(), b"12,345678"), None);
            }
        }
        assert_eq!(found, 10, "five values, each before a comma and before a brace");
    }
}
