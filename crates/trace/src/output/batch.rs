//! Gathers the bytes of a batch, and writes them at their offset or in turn.
//!
//! ```text
//!   push ─> buffer ─ full ─┬─ offset known ───> written there, up to multiples of 256 KiB
//!                          ├─ its turn ───────> to the pipe or packer
//!                          └─ neither ────────> the buffer grows up to 6 MiB, then waits
//!   finish ─> the rest, and the turn passes on
//! ```
//!
//! A worker whose turn has not come continues to gather, and waits only at the memory limit.

use super::file::AtomicFile;
use super::{Output, PLACED, SLICE, Sink, Turns, UNPLACED, lock};
use crate::run::error::{Error, ErrorKind};
use crate::run::limits::Progress;
use std::fs::File;
use std::io;

/// Minimum length for writing bytes directly, without gathering.
const LARGE: usize = PLACED / 2;

/// Returns whether a copy of `bytes` to file offset `offset` suffers from 4 KiB aliasing, which
/// halves the speed: processors mistake loads for recent stores at the same page offset.
fn aliases(bytes: &[u8], offset: u64) -> bool {
    /// Bytes of a page.
    const PAGE: u64 = 4096;
    /// Bytes of the widest load of a processor.
    const LOAD: u64 = 64;
    let ahead = offset.wrapping_sub(bytes.as_ptr() as u64) % PAGE;
    (1..LOAD).contains(&ahead)
}

/// A batch of output bytes, from [`Output::batch`] to [`Batch::finish`]. A batch dropped early
/// keeps its turn, so call [`Output::give_up`] after an error.
pub struct Batch<'o> {
    output: &'o Output,
    number: usize,
    /// File offset of the first byte in the buffer.
    offset: u64,
    buffer: &'o mut Vec<u8>,
    /// Whether all earlier batches are written, or their end is known.
    has_turn: bool,
    /// Source of the start offset, if it is not known in advance.
    turns: Option<&'o Turns>,
    /// Length at which the buffer is written.
    full: usize,
}

impl Output {
    /// Starts batch `number`, which begins at `offset`. The buffer can be reused for the next
    /// batch.
    pub fn batch<'o>(&'o self, number: usize, offset: u64, buffer: &'o mut Vec<u8>) -> Batch<'o> {
        buffer.clear();
        let full = self.slice_at(offset);
        Batch { output: self, number, offset, buffer, has_turn: false, turns: None, full }
    }

    /// Starts a batch like [`Output::batch`], for an output whose batches learn their lengths only
    /// at their ends.
    pub fn batch_in_turn<'o>(
        &'o self,
        number: usize,
        turns: &'o Turns,
        buffer: &'o mut Vec<u8>,
    ) -> Batch<'o> {
        let batch = self.batch(number, 0, buffer);
        let turns = matches!(self.sink, Sink::Placed(_)).then_some(turns);
        Batch { turns, ..batch }
    }
}

impl Batch<'_> {
    /// Appends bytes, and writes full buffers.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Write`] if a write fails; [`ErrorKind::BrokenPipe`] if the reader
    /// closed the pipe or another batch failed.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() >= LARGE {
            return self.push_large(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= self.full { self.flush(false) } else { Ok(()) }
    }

    /// Appends many bytes, without a copy if their offset is known.
    fn push_large(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Sink::Placed(file) = &self.output.sink
            && self.is_placed(false)?
            && !aliases(bytes, self.offset + self.buffer.len() as u64)
        {
            self.write_placed(file, self.buffer.len())?;
            if self.output.write_at(&file.file, bytes, self.offset).is_ok() {
                self.offset += bytes.len() as u64;
                self.full = self.output.slice_at(self.offset);
                return Ok(());
            }
            // the kernel fails on pages of a shrunk input; copying them reports that, and repeats
            // any other error
        }
        bytes.chunks(SLICE / 4).try_for_each(|chunk| self.push(chunk))
    }

    /// Returns whether the start offset of the batch is known.
    fn is_placed(&mut self, waits: bool) -> Result<bool, Error> {
        let Some(turns) = self.turns.filter(|_| !self.has_turn) else { return Ok(true) };
        let Some(offset) = turns.begin(self.number, waits)? else { return Ok(false) };
        (self.offset, self.has_turn, self.full) = (offset, true, self.output.slice_at(offset));
        Ok(true)
    }

    /// Writes the gathered bytes if possible now. Waits at the end of the batch, or when the buffer
    /// is at its limit. At offsets, writes end at multiples of [`PLACED`].
    fn flush(&mut self, last: bool) -> Result<(), Error> {
        if !self.is_placed(last || self.full >= UNPLACED)? {
            // gather more until the offset is known
            self.full += SLICE;
            return Ok(());
        }
        if let Some(turns) = self.turns.filter(|_| last) {
            turns.end(self.offset + self.buffer.len() as u64);
        }
        let failed = |e| Error::write(&self.output.name, e);
        match &self.output.sink {
            Sink::Placed(file) => {
                let end = self.offset + self.buffer.len() as u64;
                let upto = if last { end } else { self.offset.max(end - end % PLACED as u64) };
                return self.write_placed(file, (upto - self.offset) as usize);
            }
            Sink::InTurn { state, turned } => {
                let mut state = lock(state);
                if !last && state.turn != self.number && !state.failed && self.full < UNPLACED {
                    // gather more until it is this batch's turn
                    self.full += SLICE;
                    return Ok(());
                }
                while !self.has_turn && state.turn != self.number && !state.failed {
                    state = turned.wait(state).unwrap_or_else(|e| e.into_inner());
                }
                if state.failed {
                    return Err(ErrorKind::BrokenPipe.into());
                }
                (self.has_turn, self.full) = (true, SLICE);
                state.writer.write_all(self.buffer).map_err(failed)?;
                let written = self.buffer.len() as u64;
                Progress::add(&self.output.progress.bytes_written, written);
            }
        }
        self.buffer.clear();
        Ok(())
    }

    /// Writes the first `len` bytes of the buffer at their offset.
    fn write_placed(&mut self, file: &AtomicFile, len: usize) -> Result<(), Error> {
        let written = self.output.write_at(&file.file, &self.buffer[..len], self.offset);
        written.map_err(|e| Error::write(&self.output.name, e))?;
        self.buffer.drain(..len);
        self.offset += len as u64;
        self.full = self.output.slice_at(self.offset);
        Ok(())
    }

    /// Writes the remaining bytes and passes the turn on.
    ///
    /// # Errors
    /// See [`Batch::push`].
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush(true)?;
        if let Sink::InTurn { state, turned } = &self.output.sink {
            lock(state).turn = self.number + 1;
            turned.notify_all();
        }
        Ok(())
    }
}

impl Output {
    /// Returns the number of bytes to gather from `offset` before a write.
    fn slice_at(&self, offset: u64) -> usize {
        match self.sink {
            Sink::Placed(_) => PLACED - (offset % PLACED as u64) as usize,
            Sink::InTurn { .. } => SLICE,
        }
    }

    /// Writes bytes at their offset, at most [`PLACED`] per call. Larger calls make the kernel use
    /// its largest pages, which are slow on virtual machines.
    fn write_at(&self, file: &File, bytes: &[u8], mut offset: u64) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (slice, behind) = rest.split_at(rest.len().min(self.slice_at(offset)));
            crate::os::write_all_at(file, slice, offset)?;
            offset += slice.len() as u64;
            rest = behind;
        }
        Progress::add(&self.progress.bytes_written, bytes.len() as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Length;
    use crate::output::target::OutputConfig;
    use crate::run::limits::Limits;

    #[test]
    fn long_slices_are_written_at_any_alignment() {
        let source: Vec<u8> = (0..3 * PLACED as u32).map(|i| (i % 251) as u8).collect();
        let page = source.as_ptr().align_offset(4096);
        let dir = tempfile::tempdir().expect("writable");
        let limits = Limits::new(1, 64 << 20, dir.path());
        let mut seen = [false; 2];
        for before in 0..130 {
            let large = &source[page..][..2 * PLACED + before];
            seen[usize::from(aliases(large, before as u64))] = true;
            let config = OutputConfig::file(dir.path().join(before.to_string()));
            let length = Length::Exactly((before + large.len() + 1) as u64);
            let output = Output::create(&config, &limits, length).expect("a new file");
            let (mut buffer, small) = (Vec::new(), vec![b'-'; before]);
            let mut batch = output.batch(0, 0, &mut buffer);
            for bytes in [&small[..], large, b"."] {
                batch.push(bytes).expect("there is room");
            }
            batch.finish().expect("there is room");
            output.finish().expect("the name is free");
            let written = std::fs::read(dir.path().join(before.to_string())).expect("it is there");
            assert!(written == [&small[..], large, b"."].concat(), "{before}");
        }
        assert_eq!(seen, [true; 2], "by either way");
    }
}
