//! Reads base time and clock domain from the top-level keys of inputs.

use tracemill_tokenizer::{Number, number_text, string_is, to_text};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::json::member;
use tracemill_trace::store::Store;

/// Base time of an input: the time since 1970 at which its `ts` is 0, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) time: i64,
    pub(super) unit: i64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct StatedClock {
    pub(super) base: Option<Base>,
    /// Whether later documents have another base time.
    pub(super) several: bool,
    /// `metadata["clock-domain"]`
    pub(super) domain: Option<String>,
}

/// A key, the relevant member of its value if any, and the unit of the time in nanoseconds.
type BaseKey = (&'static [u8], Option<&'static [u8]>, i64);

/// Keys with a base time, of PyTorch (Kineto), VizTracer and clang -ftime-trace.
const BASES: [BaseKey; 3] = [
    (b"baseTimeNanoseconds", None, 1),
    (b"viztracer_metadata", Some(b"baseTimeNanoseconds"), 1),
    (b"beginningOfTime", None, 1000),
];

impl StatedClock {
    pub(super) fn note(&mut self, document: &Document, store: &Store<'_>) {
        for key in &document.keys {
            let value = || store.slice(key.offset, key.len);
            for (name, inner, unit) in BASES {
                if !string_is(&key.key, name) {
                    continue;
                }
                let stated = match inner {
                    Some(inner) => member(value(), inner),
                    None => Some(value()),
                };
                let base = stated.and_then(|stated| base_of(stated, unit));
                self.several |= self.base.is_some() && base.is_some() && self.base != base;
                self.base = self.base.or(base);
            }
            if self.domain.is_none() && string_is(&key.key, b"metadata") {
                let domain = member(value(), b"clock-domain");
                self.domain = domain.map(|text| to_text(text).trim_matches('"').into());
            }
        }
    }
}

/// Parses a base time: a number or a quoted number of `unit` nanoseconds each.
fn base_of(value: &[u8], unit: i64) -> Option<Base> {
    let mut scratch = Vec::new();
    let number = Number::parse(number_text(value, &mut scratch)?)?;
    let (time, _) = number.scaled(unit.ilog10())?;
    Some(Base { time: time.try_into().ok()?, unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_read_to_the_nanosecond() {
        let base = |value: &str, unit| base_of(value.as_bytes(), unit).map(|base| base.time);
        assert_eq!(base("1719853884000000001", 1), Some(1_719_853_884_000_000_001));
        assert_eq!(base("\"1719853884000000001\"", 1), Some(1_719_853_884_000_000_001));
        assert_eq!(base("1.7e18", 1), Some(1_700_000_000_000_000_000));
        assert_eq!(base("1712195495533685.25", 1000), Some(1_712_195_495_533_685_250));
        for none in ["null", "\"soon\"", "[]", "1e40"] {
            assert_eq!(base(none, 1), None, "{none}");
        }
    }
}
