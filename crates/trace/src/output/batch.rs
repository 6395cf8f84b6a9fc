//! Bytes that belong together in the output: gathered in a buffer, written at their place or when their turn has come.
//!
//! ```text
//!   push ─> buffer ─ full ─┬─ it is known where it belongs ─> written there, at multiples of 256 KiB
//!                          ├─ it is its turn ───────────────> to the pipe or packer
//!                          └─ neither ──────────────────────> room for 64 KiB more, up to 6 MiB; then it waits
//!   finish ─> the rest, and the turn passes on
//! ```
//!
//! So a worker whose turn has not come goes on gathering, and waits only where that would take too much memory.

use super::file::AtomicFile;
use super::{Output, PLACED, SLICE, Sink, Turns, UNPLACED, lock};
use crate::run::error::{Error, ErrorKind};
use crate::run::limits::Progress;
use std::fs::File;
use std::io;

/// Bytes in one piece that are written from where they stand, not gathered.
const LARGE: usize = PLACED / 2;

/// Whether the kernel would copy `bytes` to `offset` of a file at half its speed: where a target stands a few bytes further in its page than its
/// source, processors take each load for one of what was just stored. It copies to pages, so places in them are those in the file.
fn aliases(bytes: &[u8], offset: u64) -> bool {
    /// Pages, and bytes of the widest load.
    const PAGE: u64 = 4096;
    const LOAD: u64 = 64;
    let ahead = offset.wrapping_sub(bytes.as_ptr() as u64) % PAGE;
    (1..LOAD).contains(&ahead)
}

/// See the module doc. Made by [`Output::batch`], ended by [`Batch::finish`]: one that is dropped before keeps the turn, and who gives up says so
/// ([`Output::give_up`]).
pub struct Batch<'o> {
    output: &'o Output,
    number: usize,
    /// Where the first byte of the buffer belongs.
    offset: u64,
    buffer: &'o mut Vec<u8>,
    /// Whether the batches before are written, or it is known where they end.
    has_turn: bool,
    /// What tells where it begins, if that is not known from the start.
    turns: Option<&'o Turns>,
    /// Bytes in the buffer at which it is written.
    full: usize,
}

impl Output {
    /// A batch to write: the `number`th, whose first byte stands at `offset`. The buffer is for one batch after the other.
    pub fn batch<'o>(&'o self, number: usize, offset: u64, buffer: &'o mut Vec<u8>) -> Batch<'o> {
        buffer.clear();
        let full = self.slice_at(offset);
        Batch { output: self, number, offset, buffer, has_turn: false, turns: None, full }
    }

    /// As [`Output::batch`], where it shows only in the end how long batches become.
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
    /// Appends bytes, in slices if there are many.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] and [`ErrorKind::BrokenPipe`], which is also the error of all that wait when another batch has failed.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() >= LARGE {
            return self.push_large(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= self.full { self.flush(false) } else { Ok(()) }
    }

    /// Appends bytes of which there are many: without a copy of its own where it is known where they belong.
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
            // an input that has shrunk is no bytes for the kernel: who copies them notices that, and says so; what else is
            // wrong shows again
        }
        bytes.chunks(SLICE / 4).try_for_each(|chunk| self.push(chunk))
    }

    /// Whether it is known where the batch begins.
    fn is_placed(&mut self, waits: bool) -> Result<bool, Error> {
        let Some(turns) = self.turns.filter(|_| !self.has_turn) else { return Ok(true) };
        let Some(offset) = turns.begin(self.number, waits)? else { return Ok(false) };
        (self.offset, self.has_turn, self.full) = (offset, true, self.output.slice_at(offset));
        Ok(true)
    }

    /// Writes what is gathered, if it may be written by now. The last bytes of a batch wait for their turn; others wait only where there is no room for
    /// more. At places whole multiples of [`PLACED`] are written, but for the batch's ends.
    fn flush(&mut self, last: bool) -> Result<(), Error> {
        if !self.is_placed(last || self.full >= UNPLACED)? {
            // there is room for more until it is known
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
                    // there is room for more until it is its turn
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

    /// Writes the first `len` bytes of the buffer at their place.
    fn write_placed(&mut self, file: &AtomicFile, len: usize) -> Result<(), Error> {
        let written = self.output.write_at(&file.file, &self.buffer[..len], self.offset);
        written.map_err(|e| Error::write(&self.output.name, e))?;
        self.buffer.drain(..len);
        self.offset += len as u64;
        self.full = self.output.slice_at(self.offset);
        Ok(())
    }

    /// Writes what is left and passes the turn on.
    ///
    /// # Errors
    /// As [`Batch::push`].
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
    /// Bytes to gather of what begins at `offset` before they are written.
    fn slice_at(&self, offset: u64) -> usize {
        match self.sink {
            Sink::Placed(_) => PLACED - (offset % PLACED as u64) as usize,
            Sink::InTurn { .. } => SLICE,
        }
    }

    /// Writes bytes at their place in the file, no more than [`PLACED`] at a time: for more the kernel looks for pages of the largest size,
    /// which on a virtual machine are those that its host has taken back.
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

    /// Many bytes at every place of a cache line, seen from where they come from, and not in whole slices.
    #[test]
    fn many_bytes_arrive_wherever_they_stand() {
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
