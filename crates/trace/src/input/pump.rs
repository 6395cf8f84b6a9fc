//! Reads (and so unpacks) a stream on a thread of its own, a few buffers ahead of the scan.
//!
//! ```text
//!   pipe ─ read, unpack ─> buffer ─┬─ full ──> scan
//!          own thread              └─ empty <─┘        four buffers go round
//! ```
//!
//! Costs a copy of bytes that are still in cache, and hides the system calls of a pipe and all of the unpacking behind the
//! scan. If the run ends early the thread ends with its next buffer, or with the process.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::io::{self, Read};

/// Buffers that go round: one is filled, one is scanned, and two make up for steps that take one side longer than the other.
const BUFFERS: usize = 4;

/// A buffer and how many bytes at its start are filled: cutting it to size would mean to clear it anew each time. None
/// are filled at the end of the stream.
type Filled = (Vec<u8>, usize);

/// The reading end.
pub(super) struct Pump {
    full: Receiver<io::Result<Filled>>,
    empty: Sender<Vec<u8>>,
    /// What is read from now.
    current: Filled,
    /// How much of it was.
    used: usize,
    /// Whether the stream has ended.
    ended: bool,
}

/// What was read ahead and not taken yet.
pub(super) struct Ahead(Receiver<io::Result<Filled>>);

impl Ahead {
    /// Whether the next read may have to wait.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Pump {
    /// Starts the thread; gives the reader back as it is where none can be had.
    pub(super) fn start(
        reader: Box<dyn Read + Send>,
        size: usize,
    ) -> (Box<dyn Read + Send>, Option<Ahead>) {
        let (filled, full) = bounded(BUFFERS);
        let (empty, emptied) = bounded(BUFFERS);
        let (hand_over, handed) = bounded(1);
        let work = move || {
            if let Ok(reader) = handed.recv() {
                pump(reader, size, &emptied, &filled);
            }
        };
        let thread = std::thread::Builder::new().name("read".into()).spawn(work);
        if thread.is_err() {
            return (reader, None);
        }
        for _ in 0..BUFFERS {
            // there is room for all of them
            let _ = empty.try_send(Vec::new());
        }
        // the thread waits for it
        let _ = hand_over.send(reader);
        let ahead = Ahead(full.clone());
        let pump = Pump { full, empty, current: (Vec::new(), 0), used: 0, ended: false };
        (Box::new(pump), Some(ahead))
    }
}

/// Fills buffers until the stream or the interest in it ends. An error is handed on like a buffer, behind what was read before it, so that it shows
/// where it happened.
fn pump(
    mut reader: Box<dyn Read + Send>,
    size: usize,
    emptied: &Receiver<Vec<u8>>,
    filled: &Sender<io::Result<Filled>>,
) {
    for mut buffer in emptied {
        buffer.resize(size, 0);
        let read = loop {
            match reader.read(&mut buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let end = matches!(read, Ok(0) | Err(_));
        let sent = filled.send(read.map(|count| (buffer, count)));
        if end || sent.is_err() {
            return;
        }
    }
}

impl Read for Pump {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.used == self.current.1 && !self.ended {
            // a thread that ends without a word has panicked: that is not the end of the stream
            let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
            let next = self.full.recv().map_err(gone)??;
            let (empty, _) = std::mem::replace(&mut self.current, next);
            self.ended = self.current.1 == 0;
            // the thread has gone when the stream has ended
            let _ = self.empty.send(empty);
            self.used = 0;
        }
        let count = out.len().min(self.current.1 - self.used);
        out[..count].copy_from_slice(&self.current.0[self.used..self.used + count]);
        self.used += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(usize);

    impl Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0 -= 1;
            match self.0 {
                0 => Err(io::ErrorKind::InvalidData.into()),
                n if n % 3 == 0 => Err(io::ErrorKind::Interrupted.into()),
                _ => {
                    out[0] = 7;
                    Ok(1)
                }
            }
        }
    }

    #[test]
    fn everything_arrives_in_order_and_so_does_the_failure() {
        let bytes: Vec<u8> = (0..100_000u32).map(|i| (i % 253) as u8).collect();
        for size in [1, 7, 4096, 1 << 20] {
            let mut out = Vec::new();
            let source = Box::new(io::Cursor::new(bytes.clone()));
            Pump::start(source, size).0.read_to_end(&mut out).expect("memory can be read");
            assert!(out == bytes, "{size}");
        }
        let mut out = Vec::new();
        let failed = Pump::start(Box::new(Failing(10)), 16).0.read_to_end(&mut out);
        assert_eq!(failed.map_err(|e| e.kind()), Err(io::ErrorKind::InvalidData));
        assert_eq!(out, [7; 6]);
    }
}
