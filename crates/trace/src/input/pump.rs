//! Reads and unpacks a stream on a separate thread, a few buffers ahead of the scan.
//!
//! ```text
//!   pipe ─ read, unpack ─> buffer ─┬─ full ──> scan
//!          own thread              └─ empty <─┘        four buffers, reused
//! ```
//!
//! Cost: one copy of bytes in cache. After an early end of the run, the thread ends with its next
//! buffer or with the process.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::io::{self, Read};

/// Number of buffers: one being filled, one being scanned, two for uneven progress.
const BUFFERS: usize = 4;

/// A buffer and the number of filled bytes at its start. So the buffer needs no clearing. Length 0
/// ends the stream.
type Filled = (Vec<u8>, usize);

/// A reader of the buffers that the separate thread fills.
pub(super) struct Pump {
    full: Receiver<io::Result<Filled>>,
    empty: Sender<Vec<u8>>,
    current: Filled,
    /// Number of bytes taken from `current`.
    used: usize,
    ended: bool,
}

/// Buffers that were filled but not taken yet.
pub(super) struct Ahead(Receiver<io::Result<Filled>>);

impl Ahead {
    /// Returns whether the next read may block.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Pump {
    /// Starts the thread, and returns a reader of its buffers. Returns the reader unchanged if no
    /// thread is available.
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
            // the channel has room for all
            let _ = empty.try_send(Vec::new());
        }
        // the thread is waiting for it
        let _ = hand_over.send(reader);
        let ahead = Ahead(full.clone());
        let pump = Pump { full, empty, current: (Vec::new(), 0), used: 0, ended: false };
        (Box::new(pump), Some(ahead))
    }
}

/// Fills buffers until the stream ends or the receiver is gone. An error is sent like a buffer,
/// after the bytes before it.
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
            // a thread that closes the channel without an end has panicked
            let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
            let next = self.full.recv().map_err(gone)??;
            let (empty, _) = std::mem::replace(&mut self.current, next);
            self.ended = self.current.1 == 0;
            // fails only after the end of the stream, when the thread is gone
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
    fn bytes_and_errors_arrive_in_order() {
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
