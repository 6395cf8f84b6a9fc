//! Copies the bytes around an offset, so that a message can point at a defect.

/// Bytes kept on each side: more than a terminal line shows.
const REACH: usize = 200;

/// A copy of the bytes around an offset. The input may be gone when the message is shown.
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
    /// Up to 200 raw bytes before the offset and 200 from it on.
    pub bytes: Vec<u8>,
    /// Index of the offset in `bytes`; `bytes.len()` at the end of the input.
    pub at: usize,
    /// Whether the input has bytes before the copied bytes.
    pub more_before: bool,
    /// Whether the input has bytes after the copied bytes.
    pub more_behind: bool,
}

impl Around {
    /// Number of bytes needed on each side: the copied bytes, and one to see whether there are
    /// more.
    pub const TOLD_BY: u64 = REACH as u64 + 1;

    /// Copies the bytes around offset `at`, or around the end if `at` is beyond it.
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
    fn around_stops_at_the_ends_of_the_input() {
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
