//! The bytes around a place in an input, so that a message can point at what it is about.

/// Bytes kept on each side: as many characters as a line of a terminal takes, whatever their encoding.
const REACH: usize = 200;

/// Bytes around a place: copied, since the input may be gone when the message is shown.
///
/// ```
/// use tracemill_trace::run::around::Around;
///
/// let around = Around::of(br#"[{"ts" 1}]"#, 7);
/// assert_eq!((&around.bytes[..around.at], &around.bytes[around.at..]), (&br#"[{"ts" "#[..], &b"1}]"[..]));
/// assert!(!around.more_before && Around::of(&[b' '; 1000], 500).more_before);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Around {
    /// At most 200 before the place and 200 from it on; as in the input, so they may be anything.
    pub bytes: Vec<u8>,
    /// Where among them the place is; their number where the input ends.
    pub at: usize,
    /// Whether there are more before them.
    pub more_before: bool,
    /// Whether there are more behind them.
    pub more_behind: bool,
}

impl Around {
    /// Bytes on each side that tell all of it: whether there are more too.
    pub const TOLD_BY: u64 = REACH as u64 + 1;

    /// Around the byte `at` in `bytes`, or around their end.
    pub fn of(bytes: &[u8], at: usize) -> Self {
        let at = at.min(bytes.len());
        let (from, to) = (at.saturating_sub(REACH), (at + REACH).min(bytes.len()));
        Around {
            bytes: bytes[from..to].to_vec(),
            at: at - from,
            more_before: from > 0,
            more_behind: to < bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_may_be_near() {
        let around = Around::of(b"abc", 1);
        assert_eq!((&*around.bytes, around.at), (&b"abc"[..], 1));
        assert!(!around.more_before && !around.more_behind);
        let around = Around::of(b"abc", 9);
        assert_eq!((&*around.bytes, around.at), (&b"abc"[..], 3));
        let around = Around::of(&[b'x'; 1000], 500);
        assert_eq!((around.bytes.len(), around.at), (2 * REACH, REACH));
        assert!(around.more_before && around.more_behind);
    }
}
