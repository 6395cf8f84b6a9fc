//! Repairs top-level keys whose values deviate from JSON.

use crate::keys::merged_keys::MergedKeys;
use std::borrow::Cow;
use tracemill_tokenizer::{mend, validate};

impl<'p> MergedKeys<'p> {
    /// Repairs the values of keys, and returns the number of repaired values. These values are in
    /// memory.
    pub fn mend(&mut self) -> u64 {
        let found: Vec<_> = self.lapsed().collect();
        let count = found.len() as u64;
        for (key, value) in found {
            self.keys[key].value = vec![Cow::Owned(value)];
        }
        count
    }

    /// Returns the keys. If `repair` is set, their values are repaired.
    pub(crate) fn repaired(&self, repair: bool) -> Cow<'_, MergedKeys<'p>> {
        if !repair || self.lapsed().next().is_none() {
            return Cow::Borrowed(self);
        }
        let mut mended = self.clone();
        mended.mend();
        Cow::Owned(mended)
    }

    /// Finds the keys to repair and returns their indices and repaired values.
    fn lapsed(&self) -> impl Iterator<Item = (usize, Vec<u8>)> {
        self.keys.iter().enumerate().filter_map(|(number, key)| {
            let value = match &*key.value {
                [one] => Cow::Borrowed(&**one),
                pieces => pieces.concat().into(),
            };
            validate(&value).err()?;
            // values with several possible meanings were dropped while reading
            Some((number, mend(&value).ok()??))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::OutputKey;

    #[test]
    fn repair_changes_only_invalid_values() {
        let key = |pieces: &[&'static str]| {
            let value = pieces.iter().map(|piece| Cow::Borrowed(piece.as_bytes())).collect();
            OutputKey { name: b"\"k\"".to_vec(), value }
        };
        let keys = vec![key(&["{\"a\":NaN}"]), key(&["[", "1", ",", "]"]), key(&["[1", "]"])];
        let mut united = MergedKeys { keys, ..MergedKeys::default() };
        assert!(matches!(united.repaired(false), Cow::Borrowed(_)));
        let repaired = united.repaired(true).into_owned();
        let text = |key: &OutputKey<'_>| key.value.concat();
        let texts: Vec<Vec<u8>> = repaired.keys.iter().map(text).collect();
        assert_eq!(texts, [&b"{\"a\":null}"[..], b"[1]", b"[1]"]);
        assert_eq!(united.mend(), 2);
        assert_eq!(united.mend(), 0);
    }
}
