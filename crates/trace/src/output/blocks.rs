//! Compresses an output on many cores: blocks are compressed in parallel and written in order.
//!
//! ```text
//!   bytes ─> block ─┬─> pack ─┐
//!                   ├─> pack ─┼─> in order ─> head, blocks, tail
//!                   └─> pack ─┘
//! ```
//!
//! The starts of blocks depend only on the bytes, so the output does not depend on threads. A
//! format ([`BlockFormat`]) sets the length of a block and of its *window*: the preceding text that
//! a block may refer to.
//!
//! Heap: a block and its window per thread and one more, in reused buffers; and compressed blocks
//! that wait for an earlier block ([`AHEAD`]). Writing waits while all threads are busy, or too
//! many blocks wait.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread::{Builder, JoinHandle};

/// A compression format whose blocks are compressed independently.
pub(super) trait BlockFormat: Sized + Send + 'static {
    /// Block length in bytes.
    const BLOCK: usize;
    /// Number of preceding bytes that a block may refer to.
    const WINDOW: usize;
    /// Compressor state of one thread.
    type Packer: Send + 'static;
    /// Data about a block that [`BlockFormat::tail`] needs.
    type Sum: Send + 'static;

    /// Creates a compressor.
    fn packer(&self) -> io::Result<Self::Packer>;
    /// Compresses a block.
    fn pack(packer: &mut Self::Packer, block: &Block) -> io::Result<(Vec<u8>, Self::Sum)>;
    /// Returns the bytes before the blocks.
    fn head(&self) -> &'static [u8];
    /// Records a written block and its compressed length, in order.
    fn add(&mut self, sum: Self::Sum, bytes: usize);
    /// Returns the bytes after the blocks.
    fn tail(self) -> io::Result<Vec<u8>>;
}

/// A block to compress.
pub(super) struct Block {
    number: usize,
    /// Window, followed by the block.
    bytes: Vec<u8>,
    window: usize,
    pub(super) is_last: bool,
}

impl Block {
    /// Returns the window and the block.
    pub(super) fn parts(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.window)
    }
}

/// Maximum number of unwritten blocks per thread, so that a slow block does not stop other blocks.
const AHEAD: usize = 2;

type Inner = Box<dyn Write + Send>;
/// The number of a block and its compressed bytes, or an error.
type PackedBlock<F> = (usize, io::Result<(Vec<u8>, <F as BlockFormat>::Sum)>);

/// A writer that compresses its bytes.
pub(super) struct Blocks<F: BlockFormat> {
    /// Window and bytes of the next block.
    bytes: Vec<u8>,
    window: usize,
    number: usize,
    /// Channel to the workers; dropping the channel ends the workers.
    blocks: Option<Sender<Block>>,
    /// One token per block that may be sent.
    room: Receiver<()>,
    /// Buffers of compressed blocks, for reuse.
    emptied: Receiver<Vec<u8>>,
    workers: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<io::Result<(Inner, F)>>>,
}

impl<F: BlockFormat> Blocks<F> {
    /// Creates a compressor that writes to `inner` with `threads` workers, or fewer if the system
    /// refuses.
    ///
    /// # Errors
    /// Returns an error of `inner`, or an error if no thread can be started to compress or write.
    pub(super) fn new(format: F, mut inner: Inner, threads: usize) -> io::Result<Self> {
        inner.write_all(format.head())?;
        // no capacity: the next block is filled while others are compressed
        let (blocks, todo) = bounded::<Block>(0);
        let (done, results) = bounded(threads);
        let (empty, emptied) = bounded(threads);
        let (written, room) = bounded(AHEAD * threads);
        (0..AHEAD * threads).for_each(|_| _ = written.try_send(()));
        let packers: io::Result<Vec<F::Packer>> = (0..threads).map(|_| format.packer()).collect();
        let mut packers = packers?.into_iter();
        let builder = |name: &str| Builder::new().name(name.into());
        let writer =
            builder("write").spawn(move || write_in_order(format, inner, &results, &written));
        let writer = writer.map_err(no_thread)?;
        let mut start = || {
            let (todo, done, empty) = (todo.clone(), done.clone(), empty.clone());
            let packer = packers.next()?;
            Some(builder("pack").spawn(move || work::<F>(packer, &todo, &done, &empty)))
        };
        let mut workers: Vec<_> = start().transpose().map_err(no_thread)?.into_iter().collect();
        workers.extend((1..threads).map_while(|_| start()?.ok()));
        Ok(Blocks {
            bytes: Vec::with_capacity(F::WINDOW + F::BLOCK),
            window: 0,
            number: 0,
            blocks: Some(blocks),
            room,
            emptied,
            workers,
            writer: Some(writer),
        })
    }

    pub(super) fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = self.window + F::BLOCK - self.bytes.len();
            if room == 0 {
                // only now is it clear that this is not the last block
                self.hand_over(false)?;
                continue;
            }
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.bytes.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Sends a full block to the workers and starts the next block with its window. Waits while all
    /// workers are busy.
    fn hand_over(&mut self, is_last: bool) -> io::Result<()> {
        let tail = self.bytes[self.bytes.len().saturating_sub(F::WINDOW)..].to_vec();
        let window = std::mem::replace(&mut self.window, tail.len());
        let bytes = std::mem::take(&mut self.bytes);
        let block = Block { number: self.number, bytes, window, is_last };
        self.number += 1;
        let has_room = self.room.recv().is_ok();
        let send = |blocks: &Sender<Block>| blocks.send(block).is_ok();
        let sent = has_room && self.blocks.as_ref().is_some_and(send);
        // workers end early only if the writer failed
        if !sent {
            return Err(self.join().err().unwrap_or(io::ErrorKind::BrokenPipe.into()));
        }
        if !is_last {
            // the worker that took this block has returned its previous buffer
            let emptied = self.emptied.try_recv();
            self.bytes = emptied.unwrap_or_else(|_| Vec::with_capacity(F::WINDOW + F::BLOCK));
            self.bytes.extend_from_slice(&tail);
        }
        Ok(())
    }

    /// Ends the threads. Returns the inner writer and the format.
    fn join(&mut self) -> io::Result<(Inner, F)> {
        self.blocks = None;
        for worker in self.workers.drain(..) {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(written)) => written,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Compresses the bytes that are left and writes the tail of the format.
    pub(super) fn finish(mut self) -> io::Result<Inner> {
        self.hand_over(true)?;
        let (mut inner, format) = self.join()?;
        inner.write_all(&format.tail()?)?;
        Ok(inner)
    }
}

/// Compresses blocks until there are no more, or the writer is gone.
fn work<F: BlockFormat>(
    mut packer: F::Packer,
    todo: &Receiver<Block>,
    done: &Sender<PackedBlock<F>>,
    empty: &Sender<Vec<u8>>,
) {
    for mut block in todo {
        let packed = F::pack(&mut packer, &block);
        block.bytes.clear();
        // surplus buffers are freed
        _ = empty.try_send(block.bytes);
        if done.send((block.number, packed)).is_err() {
            return;
        }
    }
}

/// Writes compressed blocks in order of their numbers.
fn write_in_order<F: BlockFormat>(
    mut format: F,
    mut inner: Inner,
    results: &Receiver<PackedBlock<F>>,
    written: &Sender<()>,
) -> io::Result<(Inner, F)> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for (number, packed) in results {
        waiting.insert(number, packed?);
        while let Some((bytes, sum)) = waiting.remove(&next) {
            inner.write_all(&bytes)?;
            format.add(sum, bytes.len());
            next += 1;
            // fails at the end, when no block is waiting
            _ = written.try_send(());
        }
    }
    Ok((inner, format))
}

/// Returns the error for missing threads. Compression cannot continue without them, because it runs
/// concurrently with gathering.
fn no_thread(why: io::Error) -> io::Error {
    io::Error::other(format!(
        "no thread can be started to pack it ({why}); allow more of them (ulimit -u), or do not pack"
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A test format whose first block takes half a second.
    #[derive(Clone, Default)]
    struct Slow {
        others: Arc<AtomicUsize>,
        others_meanwhile: Arc<AtomicUsize>,
    }

    impl BlockFormat for Slow {
        const BLOCK: usize = 16;
        const WINDOW: usize = 0;
        type Packer = Slow;
        type Sum = ();

        fn packer(&self) -> io::Result<Slow> {
            Ok(self.clone())
        }
        fn pack(slow: &mut Slow, block: &Block) -> io::Result<(Vec<u8>, ())> {
            if block.number > 0 {
                slow.others.fetch_add(1, Relaxed);
            } else {
                std::thread::sleep(Duration::from_millis(500));
                slow.others_meanwhile.store(slow.others.load(Relaxed), Relaxed);
            }
            Ok((block.bytes.clone(), ()))
        }
        fn head(&self) -> &'static [u8] {
            b""
        }
        fn add(&mut self, (): (), _: usize) {}
        fn tail(self) -> io::Result<Vec<u8>> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn blocks_wait_for_a_slow_block_within_the_limit() {
        let (slow, bytes) = (Slow::default(), vec![7; 16 * 1000]);
        assert_eq!(packed(slow.clone(), &bytes, 100, 4), bytes);
        let meanwhile = slow.others_meanwhile.load(Relaxed);
        assert!((1..AHEAD * 4).contains(&meanwhile), "{meanwhile} blocks waited");
        assert_eq!(slow.others.load(Relaxed), 999);
    }

    /// Compresses `bytes`, written in steps of this length.
    pub(in super::super) fn packed<F: BlockFormat>(
        format: F,
        bytes: &[u8],
        step: usize,
        threads: usize,
    ) -> Vec<u8> {
        let out = Shared::default();
        let mut blocks = Blocks::new(format, Box::new(out.clone()), threads).unwrap();
        bytes.chunks(step).for_each(|chunk| blocks.write_all(chunk).unwrap());
        blocks.finish().unwrap();
        out.0.lock().unwrap().clone()
    }

    /// Checks that write errors after the head are returned.
    pub(in super::super) fn fails<F: BlockFormat>(format: F) {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if bytes.len() == self.0 {
                    Ok(bytes.len())
                } else {
                    Err(io::ErrorKind::StorageFull.into())
                }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let full = Full(format.head().len());
        let mut blocks = Blocks::new(format, Box::new(full), 2).unwrap();
        let noise = (0..F::BLOCK as u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes());
        let noise: Vec<u8> = noise.collect();
        let failed = (0..20).find_map(|_| blocks.write_all(&noise).err());
        assert_eq!(failed.expect("an error").kind(), io::ErrorKind::StorageFull);
    }
}
