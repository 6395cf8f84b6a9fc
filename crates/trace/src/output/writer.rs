//! Writes bytes in sequence to a file or pipe, plain or compressed on several threads.
//!
//! | compression | memory per thread | |
//! |---|--:|---|
//! | gzip, zstd up to level 3 | 16 MiB | |
//! | zstd 4 to 9 | 24 MiB | |
//! | zstd above 9 | 96 MiB | maximum size of the tables |

use super::blocks::Blocks;
#[cfg(feature = "zstd")]
use super::frames::ZstdFrames;
use super::gzip::Gzip;
use crate::output::target::Compression;
use crate::run::limits::Limits;
use std::io::{self, Write};

/// Memory per compressing thread in bytes: its state, and blocks before and after compression.
const PACKER: u64 = 16 << 20;

/// Memory per thread for zstd levels 4 to 9.
const STRONG_PACKER: u64 = 24 << 20;

/// Memory per thread for zstd above level 9, where tables are largest.
const THOROUGH_PACKER: u64 = 96 << 20;

/// A writer of bytes in sequence, plain or compressed.
pub(super) enum OutputWriter {
    Plain(Box<dyn Write + Send>),
    Gzip(Blocks<Gzip>),
    #[cfg(feature = "zstd")]
    Zstd(Blocks<ZstdFrames>),
}

/// Returns the memory per compressing thread in bytes; 0 without compression.
pub fn packer(compression: Compression) -> u64 {
    match compression {
        Compression::None => 0,
        Compression::Zstd { level: 10.. } => THOROUGH_PACKER,
        Compression::Zstd { level: 4..=9 } => STRONG_PACKER,
        Compression::Gzip { .. } | Compression::Zstd { .. } => PACKER,
    }
}

/// Returns the number of compressing threads that the memory allows.
fn packers(limits: &Limits, compression: Compression) -> usize {
    limits.threads.min(limits.room_for(packer(compression))).max(1)
}

impl OutputWriter {
    pub(super) fn new(
        inner: Box<dyn Write + Send>,
        limits: &Limits,
        compression: Compression,
    ) -> io::Result<Self> {
        let packers = packers(limits, compression);
        Ok(match compression {
            Compression::None => OutputWriter::Plain(inner),
            Compression::Gzip { level } => {
                OutputWriter::Gzip(Blocks::new(Gzip::new(level), inner, packers)?)
            }
            #[cfg(feature = "zstd")]
            Compression::Zstd { level } => {
                OutputWriter::Zstd(Blocks::new(ZstdFrames::new(level), inner, packers)?)
            }
            #[cfg(not(feature = "zstd"))]
            Compression::Zstd { .. } => {
                let message =
                    "this build cannot pack with zstd (feature zstd); choose gzip or none";
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
        })
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            OutputWriter::Plain(writer) => writer.write_all(bytes),
            OutputWriter::Gzip(writer) => writer.write_all(bytes),
            #[cfg(feature = "zstd")]
            OutputWriter::Zstd(writer) => writer.write_all(bytes),
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        let mut inner = match self {
            OutputWriter::Plain(inner) => inner,
            OutputWriter::Gzip(writer) => writer.finish()?,
            #[cfg(feature = "zstd")]
            OutputWriter::Zstd(writer) => writer.finish()?,
        };
        inner.flush()
    }
}
