//! gzip on many cores: one member, as DevTools needs it, of blocks that are packed side by side.
//!
//! ```text
//!   bytes ─> block of 512 KiB ─┬─> deflate ─┐
//!                              ├─> deflate ─┼─> in order ─> header, blocks, trailer
//!                              └─> deflate ─┘
//! ```
//!
//! Each block is raw deflate that ends on a byte and begins with the 32 KiB before it as its dictionary, so the blocks
//! one after the other are one stream and cost next to nothing over packing in one go (0.1 % at level 6). Where blocks
//! begin depends on nothing but the bytes, so the output does not depend on threads.

use crossbeam_channel::{Receiver, Sender, bounded};
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread::{Builder, JoinHandle};

/// Bytes packed as one.
const BLOCK: usize = 512 << 10;
/// How far deflate looks back.
const WINDOW: usize = 32 << 10;
/// Magic, deflate, no flags, no time, no extra flags, unknown system.
const HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];

/// A block to be packed.
struct Block {
    number: usize,
    /// The dictionary and the block itself.
    bytes: Vec<u8>,
    dictionary: usize,
    last: bool,
}

/// A packed block.
struct Packed {
    number: usize,
    bytes: Vec<u8>,
    crc: Crc,
}

type Inner = Box<dyn Write + Send>;

/// Packs what is written to it.
pub(super) struct Gzip {
    /// The dictionary and what has come of the next block.
    bytes: Vec<u8>,
    dictionary: usize,
    number: usize,
    blocks: Option<Sender<Block>>,
    workers: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<io::Result<(Inner, Crc)>>>,
}

impl Gzip {
    /// Packs to `inner` with `threads` workers, or as many of them as can be had.
    ///
    /// # Errors
    /// If `inner` fails, or there is no thread to pack or none to write.
    pub(super) fn new(mut inner: Inner, level: u32, threads: usize) -> io::Result<Self> {
        inner.write_all(&HEADER)?;
        let (blocks, todo) = bounded::<Block>(threads);
        let (done, results) = bounded::<Packed>(threads);
        let worker = |todo: Receiver<Block>, done: Sender<Packed>| {
            move || {
                for block in todo {
                    if done.send(pack(&block, level)).is_err() {
                        return;
                    }
                }
            }
        };
        let builder = |name: &str| Builder::new().name(name.into());
        let writer = builder("write").spawn(move || write_in_order(inner, &results));
        let writer = writer.map_err(no_thread)?;
        let start = || builder("pack").spawn(worker(todo.clone(), done.clone()));
        let mut workers = vec![start().map_err(no_thread)?];
        workers.extend((1..threads).map_while(|_| start().ok()));
        Ok(Gzip {
            bytes: Vec::with_capacity(WINDOW + BLOCK),
            dictionary: 0,
            number: 0,
            blocks: Some(blocks),
            workers,
            writer: Some(writer),
        })
    }

    pub(super) fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = self.dictionary + BLOCK - self.bytes.len();
            if room == 0 {
                // only now is it known that this is not the last one
                self.hand_over(false)?;
                continue;
            }
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.bytes.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    fn hand_over(&mut self, last: bool) -> io::Result<()> {
        let tail = self.bytes.len().saturating_sub(WINDOW);
        let mut next = Vec::with_capacity(WINDOW + BLOCK);
        next.extend_from_slice(&self.bytes[tail..]);
        let dictionary = std::mem::replace(&mut self.dictionary, next.len());
        let bytes = std::mem::replace(&mut self.bytes, next);
        let block = Block { number: self.number, bytes, dictionary, last };
        self.number += 1;
        let sent = self.blocks.as_ref().is_some_and(|blocks| blocks.send(block).is_ok());
        // the workers end early only if the writer has failed
        if sent {
            Ok(())
        } else {
            Err(self.join().err().unwrap_or(io::ErrorKind::BrokenPipe.into()))
        }
    }

    /// Ends the threads; gives back where they wrote, and the checksum of it all.
    fn join(&mut self) -> io::Result<(Inner, Crc)> {
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

    /// Packs the rest and ends the member.
    pub(super) fn finish(mut self) -> io::Result<Inner> {
        self.hand_over(true)?;
        let (mut inner, crc) = self.join()?;
        inner.write_all(&crc.sum().to_le_bytes())?;
        // modulo 2^32, as the format has it
        inner.write_all(&crc.amount().to_le_bytes())?;
        Ok(inner)
    }
}

fn pack(block: &Block, level: u32) -> Packed {
    // a new one each time: after a reset zlib-rs 0.6 remembers enough of its last block to pack the next one otherwise
    let mut deflate = Compress::new(Compression::new(level), false);
    let (dictionary, mut rest) = block.bytes.split_at(block.dictionary);
    let mut crc = Crc::new();
    crc.update(rest);
    if !dictionary.is_empty() {
        let _ = deflate.set_dictionary(dictionary);
    }
    let mut bytes = Vec::with_capacity(rest.len() / 4 + 64);
    let flush = if block.last { FlushCompress::Finish } else { FlushCompress::Sync };
    loop {
        let before = deflate.total_in();
        let status = deflate.compress_vec(rest, &mut bytes, flush);
        rest = &rest[(deflate.total_in() - before) as usize..];
        // with room left over, all that was asked for is out
        let done = rest.is_empty() && bytes.len() < bytes.capacity();
        if matches!(status, Ok(Status::StreamEnd) | Err(_)) || (done && !block.last) {
            break;
        }
        bytes.reserve(bytes.capacity().max(1024));
    }
    Packed { number: block.number, bytes, crc }
}

fn write_in_order(mut inner: Inner, results: &Receiver<Packed>) -> io::Result<(Inner, Crc)> {
    let mut waiting = BTreeMap::new();
    let (mut next, mut all) = (0, Crc::new());
    for packed in results {
        waiting.insert(packed.number, packed);
        while let Some(packed) = waiting.remove(&next) {
            inner.write_all(&packed.bytes)?;
            all.combine(&packed.crc);
            next += 1;
        }
    }
    Ok((inner, all))
}

/// Why nothing can be packed: other work goes on without further threads, but what packs works beside who gathers.
pub(super) fn no_thread(why: io::Error) -> io::Error {
    io::Error::other(format!(
        "no thread can be started to pack it ({why}); allow more of them (ulimit -u), or do not pack"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::{Arc, Mutex};

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

    fn packed(bytes: &[u8], step: usize, level: u32, threads: usize) -> Vec<u8> {
        let out = Shared::default();
        let mut gzip = Gzip::new(Box::new(out.clone()), level, threads).unwrap();
        bytes.chunks(step).for_each(|chunk| gzip.write_all(chunk).unwrap());
        gzip.finish().unwrap();
        out.0.lock().unwrap().clone()
    }

    #[test]
    fn one_member_whatever_the_threads() {
        let text: Vec<u8> =
            (0..400_000u32).flat_map(|i| format!("{},", i * 7919).into_bytes()).collect();
        for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, text.len()] {
            for level in [0, 1, 6, 9] {
                let once = packed(&text[..len], 1 << 20, level, 1);
                assert!(once == packed(&text[..len], 4093, level, 3), "{len} bytes, level {level}");
                let mut plain = Vec::new();
                // the decoder for one member: anything behind it would be left over
                let mut decoder = flate2::bufread::GzDecoder::new(&once[..]);
                decoder.read_to_end(&mut plain).unwrap();
                assert!(plain == text[..len], "{len} bytes, level {level}");
                assert!(decoder.into_inner().is_empty());
            }
        }
    }

    #[test]
    fn blocks_cost_next_to_nothing() {
        let text: Vec<u8> =
            (0..400_000u32).flat_map(|i| format!("{},", i % 997).into_bytes()).collect();
        let mut whole = flate2::write::GzEncoder::new(Vec::new(), Compression::new(6));
        whole.write_all(&text).unwrap();
        let whole = whole.finish().unwrap().len();
        let blocks = packed(&text, BLOCK, 6, 2).len();
        assert!(blocks < whole + whole / 50 + 200, "{blocks} against {whole}");
    }

    #[test]
    fn a_failing_writer_is_told() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if bytes.len() == HEADER.len() {
                    Ok(bytes.len())
                } else {
                    Err(io::ErrorKind::StorageFull.into())
                }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut gzip = Gzip::new(Box::new(Full), 1, 2).unwrap();
        let noise: Vec<u8> =
            (0..BLOCK as u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let failed = (0..20).find_map(|_| gzip.write_all(&noise).err());
        assert_eq!(failed.expect("an error").kind(), io::ErrorKind::StorageFull);
    }
}
