//! Splits inputs into awkward pieces: random cuts, and a reader that returns short reads.

use std::io::{self, Read};

use crate::Rng;

/// Splits a length into random pieces of `1..=max_piece` bytes. Returns their lengths, which sum to
/// `len`.
///
/// Short pieces are as likely as long pieces. A `max_piece` of 0 counts as 1.
pub fn cuts(rng: &mut Rng, len: usize, max_piece: usize) -> Vec<usize> {
    let mut pieces = Vec::new();
    let mut rest = len;
    while rest > 0 {
        let limit = if rng.chance(50) { max_piece } else { max_piece.min(3) };
        let piece = (1 + rng.index(limit)).min(rest);
        pieces.push(piece);
        rest -= piece;
    }
    pieces
}

/// Maximum number of bytes returned by each read of a [`Trickle`].
#[derive(Clone, Debug)]
pub enum Pieces {
    /// The same size for every read (0 counts as 1).
    Constant(usize),
    /// Random sizes in `1..=max`.
    Random {
        /// Source of the sizes.
        rng: Rng,
        /// The largest size.
        max: usize,
    },
    /// The listed sizes, as returned by [`cuts`], then all remaining bytes.
    Listed(Vec<usize>),
}

/// A reader of bytes in memory that returns short reads, and errors on request.
#[derive(Clone, Debug)]
pub struct Trickle<'a> {
    bytes: &'a [u8],
    at: usize,
    pieces: Pieces,
    reads: usize,
    failure: Option<(usize, io::ErrorKind)>,
    interrupt_every: usize,
}

impl<'a> Trickle<'a> {
    /// Creates a reader that returns `bytes` in `pieces`, then end of file.
    #[must_use]
    pub fn new(bytes: &'a [u8], pieces: Pieces) -> Self {
        Self { bytes, at: 0, pieces, reads: 0, failure: None, interrupt_every: 0 }
    }

    /// Makes every read after `offset` bytes fail with an error of `kind`.
    #[must_use]
    pub fn failing_at(mut self, offset: usize, kind: io::ErrorKind) -> Self {
        self.failure = Some((offset, kind));
        self
    }

    /// Makes every `n`th read fail with [`io::ErrorKind::Interrupted`], which readers must retry.
    /// An `n` of 0 means never; 1 panics, because retries would never end.
    #[must_use]
    pub fn interrupted_every(mut self, n: usize) -> Self {
        assert_ne!(n, 1, "a reader would retry for ever");
        self.interrupt_every = n;
        self
    }

    /// Returns the number of bytes read so far.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    fn piece(&mut self) -> usize {
        match &mut self.pieces {
            Pieces::Constant(size) => *size,
            Pieces::Random { rng, max } => 1 + rng.index(*max),
            Pieces::Listed(sizes) => {
                if sizes.is_empty() {
                    usize::MAX
                } else {
                    sizes.remove(0)
                }
            }
        }
    }
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.interrupt_every > 0 && self.reads.is_multiple_of(self.interrupt_every) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut end = self.bytes.len();
        if let Some((offset, kind)) = self.failure {
            if self.at >= offset {
                return Err(io::Error::new(kind, format!("injected at offset {offset}")));
            }
            end = end.min(offset);
        }
        if self.at >= end || buffer.is_empty() {
            return Ok(0);
        }
        let size = self.piece().max(1).min(buffer.len()).min(end - self.at);
        buffer[..size].copy_from_slice(&self.bytes[self.at..self.at + size]);
        self.at += size;
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_cover_the_input() {
        let mut rng = Rng::new(3);
        for len in [0, 1, 2, 63, 64, 65, 5000] {
            for max in [0, 1, 2, 64, 10_000] {
                let pieces = cuts(&mut rng, len, max);
                assert_eq!(pieces.iter().sum::<usize>(), len);
                assert!(pieces.iter().all(|&p| p > 0 && p <= max.max(1)), "{max}: {pieces:?}");
            }
        }
    }

    #[test]
    fn trickle_returns_everything_in_small_pieces() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3000).collect();
        let listed = cuts(&mut Rng::new(1), bytes.len(), 70);
        for pieces in [
            Pieces::Constant(1),
            Pieces::Constant(63),
            Pieces::Random { rng: Rng::new(9), max: 200 },
            Pieces::Listed(listed),
            Pieces::Listed(vec![5, 0, 7]),
        ] {
            let mut read = Vec::new();
            let mut reader = Trickle::new(&bytes, pieces.clone()).interrupted_every(3);
            reader.read_to_end(&mut read).unwrap();
            assert!(read == bytes, "{pieces:?}");
            assert_eq!(reader.position(), bytes.len());
        }
        let mut buffer = [0; 100];
        assert_eq!(Trickle::new(&bytes, Pieces::Constant(63)).read(&mut buffer).unwrap(), 63);
    }

    #[test]
    fn trickle_fails_at_the_given_offset() {
        let mut read = Vec::new();
        let reader = Trickle::new(b"abcdef", Pieces::Constant(4));
        let error = reader.failing_at(5, io::ErrorKind::Other).read_to_end(&mut read).unwrap_err();
        assert_eq!((read.as_slice(), error.kind()), (&b"abcde"[..], io::ErrorKind::Other));
    }
}
