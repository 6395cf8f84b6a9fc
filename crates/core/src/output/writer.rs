//! Bytes one after the other to a file or pipe: as they are, or packed by as many threads as the budget has room for.

use super::gzip::Gzip;
#[cfg(feature = "zstd")]
use super::gzip::no_thread;
use crate::limits::Limits;
use crate::target::Compression;
#[cfg(feature = "zstd")]
use crate::threads::available;
use std::io::{self, Write};
#[cfg(feature = "zstd")]
use zstd::zstd_safe::CParameter;

/// Bytes of the budget for each thread that packs: its state, and blocks on their way in and out.
const PACKER: u64 = 16 << 20;

/// The same for zstd at level 9 (seen: 17 MiB for the first thread and 14 for each other).
const STRONG_PACKER: u64 = 24 << 20;

/// The same for zstd at levels above 9, whose tables grow up to this.
const THOROUGH_PACKER: u64 = 96 << 20;

/// Bytes that a thread packs at a time with zstd, whose own choice (8 MiB at level 3, 32 MiB at level 19) no small budget
/// has room for: it keeps three of them, and one more for each thread.
#[cfg(feature = "zstd")]
const ZSTD_JOB: u32 = 1 << 20;

/// Something that takes bytes one after the other and can be ended.
pub(super) enum Writer {
    Plain(Box<dyn Write + Send>),
    Gzip(Gzip),
    #[cfg(feature = "zstd")]
    Zstd(zstd::stream::write::Encoder<'static, Box<dyn Write + Send>>),
}

/// Bytes of the budget for each thread that packs.
pub fn packer(compression: Compression) -> u64 {
    match compression {
        Compression::None => 0,
        Compression::Zstd { level: 10.. } => THOROUGH_PACKER,
        Compression::Zstd { level: 9 } => STRONG_PACKER,
        Compression::Gzip { .. } | Compression::Zstd { .. } => PACKER,
    }
}

/// Threads that pack: as many as the budget has room for.
fn packers(config: &Limits, compression: Compression) -> usize {
    config.threads.min(config.room_for(packer(compression))).max(1)
}

impl Writer {
    pub(super) fn new(
        inner: Box<dyn Write + Send>,
        config: &Limits,
        compression: Compression,
    ) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Writer::Plain(inner),
            Compression::Gzip { level } => {
                Writer::Gzip(Gzip::new(inner, level, packers(config, compression))?)
            }
            #[cfg(feature = "zstd")]
            Compression::Zstd { level } => {
                let mut encoder = zstd::stream::write::Encoder::new(inner, level as i32)?;
                encoder.include_checksum(true)?;
                encoder.set_parameter(CParameter::JobSize(ZSTD_JOB))?;
                // its answer depends on whether there are workers at all: always have one
                let packers = available(packers(config, compression)).map_err(no_thread)?;
                encoder.multithread(packers as u32)?;
                Writer::Zstd(encoder)
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
            Writer::Plain(writer) => writer.write_all(bytes),
            Writer::Gzip(writer) => writer.write_all(bytes),
            #[cfg(feature = "zstd")]
            Writer::Zstd(writer) => writer.write_all(bytes),
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        let mut inner = match self {
            Writer::Plain(inner) => inner,
            Writer::Gzip(writer) => writer.finish()?,
            #[cfg(feature = "zstd")]
            Writer::Zstd(writer) => writer.finish()?,
        };
        inner.flush()
    }
}
