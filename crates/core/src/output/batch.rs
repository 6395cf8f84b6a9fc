//! Bytes that belong together in the output: gathered in a buffer, written at their place or when their turn has come.

use super::{BLOCK, Buffer, Output, SLICE, Sink, Turns, UNPLACED, lock};
use crate::error::{Error, ErrorKind};
use crate::limits::Progress;

/// See the module doc.
pub struct Batch<'o> {
    output: &'o Output,
    number: usize,
    /// Where the first byte of the buffer belongs.
    offset: u64,
    /// Bytes at the front of the buffer that belong to the batch before.
    skip: usize,
    buffer: &'o mut Buffer,
    /// Whether the batches before are written, or it is known where they end.
    has_turn: bool,
    /// What tells where it begins, if that is not known from the start.
    turns: Option<&'o Turns>,
    /// Bytes in the buffer at which it is written.
    full: usize,
}

impl Output {
    /// A batch to write: the `number`th, whose first byte stands at `offset`.
    pub fn batch<'o>(&'o self, number: usize, offset: u64, buffer: &'o mut Buffer) -> Batch<'o> {
        // so that blocks of the buffer are blocks of the file
        let skip = match self.sink {
            Sink::Placed { .. } => offset as usize % BLOCK,
            Sink::InTurn { .. } => 0,
        };
        buffer.reset(skip);
        let offset = offset - skip as u64;
        let (has_turn, turns, full) = (false, None, SLICE);
        Batch { output: self, number, offset, skip, buffer, has_turn, turns, full }
    }

    /// As [`Output::batch`], where it shows only in the end how long batches become.
    pub fn batch_in_turn<'o>(
        &'o self,
        number: usize,
        turns: &'o Turns,
        buffer: &'o mut Buffer,
    ) -> Batch<'o> {
        let batch = self.batch(number, 0, buffer);
        let turns = matches!(self.sink, Sink::Placed { .. }).then_some(turns);
        Batch { turns, ..batch }
    }
}

impl Batch<'_> {
    /// Appends bytes, in slices if there are many.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() > SLICE {
            return bytes.chunks(SLICE).try_for_each(|chunk| self.push(chunk));
        }
        self.buffer.push(bytes);
        if self.buffer.len() >= self.full { self.flush(false) } else { Ok(()) }
    }

    /// Whether it is known where the batch begins; its bytes are then where they are to be in the buffer.
    fn is_placed(&mut self, waits: bool) -> Result<bool, Error> {
        let Some(turns) = self.turns.filter(|_| !self.has_turn) else { return Ok(true) };
        let Some(offset) = turns.begin(self.number, waits)? else { return Ok(false) };
        self.skip = offset as usize % BLOCK;
        self.offset = offset - self.skip as u64;
        self.buffer.move_back(self.skip);
        (self.has_turn, self.full) = (true, SLICE);
        Ok(true)
    }

    fn flush(&mut self, last: bool) -> Result<(), Error> {
        if !self.is_placed(last || self.full == UNPLACED)? {
            // there is room for more until it is known
            self.full += SLICE;
            return Ok(());
        }
        if let Some(turns) = self.turns.filter(|_| last) {
            turns.end(self.offset + self.buffer.len() as u64);
        }
        let failed = |e| Error::write(&self.output.name, e);
        let before = self.buffer.len();
        match &self.output.sink {
            Sink::Placed { places, .. } => {
                let next =
                    places.write(self.buffer, self.offset, self.skip, last).map_err(failed)?;
                // if there was no whole block, the front is still what it was
                self.skip = if next == self.offset { self.skip } else { 0 };
                self.offset = next;
            }
            Sink::InTurn { state, turned } => {
                let mut state = lock(state);
                while !self.has_turn && state.turn != self.number && !state.failed {
                    state = turned.wait(state).unwrap_or_else(|e| e.into_inner());
                }
                if state.failed {
                    return Err(ErrorKind::BrokenPipe.into());
                }
                self.has_turn = true;
                state.writer.write_all(self.buffer.as_slice()).map_err(failed)?;
                self.buffer.reset(0);
            }
        }
        let written = before - self.buffer.len();
        Progress::add(&self.output.progress.bytes_written, written as u64);
        Ok(())
    }

    /// Writes what is left and passes the turn on.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush(true)?;
        if let Sink::InTurn { state, turned } = &self.output.sink {
            lock(state).turn = self.number + 1;
            turned.notify_all();
        }
        Ok(())
    }
}
