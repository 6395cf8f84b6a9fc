//! `.tmi` files: what lies where in a trace, beside the trace.
//!
//! This crate is the format and nothing else: pages of numbers and bytes, a directory of them, checksums, and whether the file
//! is still that of its trace. What the sections mean stands here too; who fills and asks them is `tracemill-pipeline`.
//!
//! ```
//! use std::io::Cursor;
//! use tracemill_index::format::{Fingerprint, Index, Input, Writer, id};
//!
//! let trace = br#"[{"ph":"i","ts":7}]"#;
//! let fingerprint = Fingerprint::of(&mut Cursor::new(trace), trace.len() as u64)?;
//! let input = Input { length: trace.len() as u64, modified_ns: 0, fingerprint };
//!
//! let mut writer = Writer::new(Vec::new()); // anything that is `Write`
//! writer.section(id::GRANULES)?;
//! writer.page(2, 7..=9, |page| {
//!     page.numbers(&[7, 9]);
//!     page.bytes(b"any bytes");
//! })?;
//! let (body, head) = writer.finish(&input)?;
//! let file = [&head[..], &body].concat();
//!
//! let index = Index::open(&file)?;
//! assert!(index.input().fingerprint == fingerprint);
//! let granules = index.section(id::GRANULES).expect("it was written");
//! let page = index.page(&granules.pages[0])?;
//! assert_eq!((page.numbers(0)?, page.bytes(1)?), (vec![7, 9], &b"any bytes"[..]));
//! assert!(Index::open(&file[..file.len() - 1]).is_err()); // what is cut, or changed, is refused
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The file
//!
//! All integers are little-endian. Nothing lies between the parts: every byte is under a checksum.
//!
//! ```text
//!    0  head        64 bytes
//!   64  pages       consecutive, in the order of the directory
//!    D  directory   to the end of the file
//! ```
//!
//! | head | bytes | |
//! |---|--:|---|
//! | 0 | 8 | `TMIX\r\n\x1a\n` |
//! | 8 | 2 | [`VERSION`]; another one is refused |
//! | 16 | 8 | bytes of the input's file |
//! | 24 | 8 | when it was last written to, in ns since 1970, signed |
//! | 32 | 16 | its [`Fingerprint`] |
//! | 48 | 8 | where the directory begins |
//! | 56 | 4 | bytes of the directory |
//! | 60 | 4 | the low half of the XXH3-64 of the 60 bytes before |
//!
//! **Directory**: the number of sections, 4 bytes; then of each section, by ascending id: id 4,
//! rows 8, pages 4; and of each of its pages: bytes in the file 4, bytes unpacked 4, first key 8, last key 8, XXH3-64
//! of its bytes in the file 8. At the end the XXH3-64 of the directory before it, 8 bytes.
//!
//! **Page**: at most [`PAGE_MOST`] bytes. One that takes fewer bytes in the file than unpacked is a zstd frame, else it stands as it
//! is. Unpacked: rows 4, columns 4, and the columns: encoding 1, bytes 4, and so many bytes.
//!
//! | encoding | a column of numbers (64 bits, one a row) or of bytes |
//! |---|---|
//! | 0 | bytes, as they are |
//! | 1 | numbers, each as LEB128 |
//! | 2 | numbers, each less the one before (the first less 0) modulo 2⁶⁴, as a signed number whose sign is the lowest bit, as LEB128 |
//! | 3 | runs: number and how often it comes, both as LEB128 |
//!
//! So one page is read without the others, and what a reader does not know at the end of a page, or in another section, it leaves alone.
//!
//! # Sections
//!
//! Places are offsets in the text, which is the file unpacked. Times are nanoseconds rounded down; signed ones stand as two's
//! complement. Columns are numbers unless they are said to be bytes.
//!
//! | id | name | rows | columns |
//! |--:|---|---|---|
//! | 1 | [`id::META`] | 1 | bytes: JSON, continued by the pages behind |
//! | 2 | [`id::GRANULES`] | stretches of events, by place | place · bytes to the end of the last event · events · least time · greatest less least · sum of the events · bytes of the events alone |
//! | 3 | [`id::PLACES`] | events that count wherever they stand, by place | place · bytes · its [`event_sum`] |
//! | 4 | [`id::SPANS`] | what lasts longer than T, by thread, then by start | what it is, see [`spans`] · flags, see there · row of its thread in LANES (2³² − 1: none) · start · greatest end less start, rounded up · place of the begin · place of the end less that · [`event_sum`] of the begin · of the end (0 where that is the begin) · row in LANES behind the threads, of an operation · number of the name, or [`bins::NO_NAME`] |
//! | 5 | [`id::STREAMS`] | CPU profiles: streams by (pid, id), in the order of their first events | what is known, see [`streams`] · least time of an event or a sample · greatest less least · least time of an event · greatest less least |
//! | 6 | [`id::STREAM_EVENTS`] | events of streams, by place | place · bytes · row in STREAMS · its [`event_sum`] · and if its stream has [`streams::CHUNKS`], see below: time · what it is, see [`streams`] · samples · sum of the steps · least time of a sample since the last one of the chunk before · the sum less the greatest such · least id of a node · ids from that to the greatest (0: no nodes; 2³² − 1 as greatest: all from there on) |
//! | 7 | [`id::PACK`] | frames of zstd or members of gzip of a packed trace, where unpacking can begin; the first is at its begin | place · offset in the file |
//! | 8 | [`id::NAMES`] | names, the first that came: as shown, so cut to 200 bytes | intervals and moments · sum of their times · the longest · bytes of the name · bytes: all names |
//! | 9 | [`id::LANES`] | threads, in the order of their first events, then lanes that are none | what it shows, see [`bins`] · bytes of pid · of the rest · bytes: all pids, each with its tid or category (of counters name, 0xFF and series), as they are spelled |
//! | 10 | [`id::BINS`] | stretches of time of lanes, by lane and time | row in LANES · begin divided by the length · intervals and moments that begin in it and are not in SPANS · sum of their times (counters: bits of the least value) · the longest (of the greatest) · number of its name |
//! | 11 | [`id::GRANULE_NAMES`] | names of granules: of what begins in them, by granule | row in GRANULES · row in NAMES |
//!
//! Times of granules, and jumps of time that cut them, are those of events that have one and are no metadata, but for
//! events of CPU profiles of the phase P, which STREAM_EVENTS has; one without any has 2⁶³ − 1 as its least time. The sum of a granule's events is the sum modulo 2³² of the [`event_sum`] of each: so granules can be joined
//! without a look at the text.
//!
//! **Look-back T**: META has its level k, T being 2ᵏ ns. All that lasts longer stands in SPANS, and so does what never ends; so what is open at a
//! moment began less than T before it, or stands there. Pages of SPANS have 8192 rows, but for the last; their keys are
//! the least start and the greatest end.
//!
//! **Streams**: what a chunk of a CPU profile means depends on those before it, so who needs one needs all of its stream; or, of a stream with
//! [`streams::CHUNKS`], the sums of the steps of those before, the chunks whose ids may hold that of a node that is named, and those of its
//! parents. Without room for that zeros stand behind the checksums, and no stream has the bit. Of those columns times, and ids where there
//! are any, stand as signed numbers whose sign is the lowest bit, times in the unit that [`streams::MICROS`] says; the first less
//! the time of the event before of the stream (0 if there is none) and the sum of the own steps; the least id less the one behind
//! the greatest of the chunk with nodes before it (0). The times of a stream are
//! known if it has a `Profile` event, its chunks stand in order of time, each with as many steps as samples, all its events have a time, and no time is farther than 2⁶¹ ns from 0.
//!
//! Pages of GRANULES have 8192 rows, but for the last.
//!
//! **Bins** are for who draws: META has the k of their length, 2ᵏ ns, and whether NAMES has all names. The longest that begins in a bin may be
//! one of SPANS; then it has no name. Only plain text has these sections.
//!
//! What cannot be said exactly, or has no room, is left out: a section is then not there, and META names it. Who needs it reads the
//! trace.

pub mod bins;
mod columns;
mod error;
mod fingerprint;
pub mod id;
mod page;
mod read;
pub mod spans;
pub mod streams;
mod write;

pub use columns::{unzigzag, zigzag};
pub use error::IndexError;
pub use fingerprint::{Fingerprint, Input};
pub use page::{PAGE_MOST, Page, PageBuilder, ROWS_MOST};
pub use read::{Index, PageEntry, SectionEntry};
pub use tracemill_join::read_plan::event_sum;
pub use write::{Sections, Writer};

/// First bytes of every file: not valid text, and damaged by any conversion of line ends.
pub const MAGIC: [u8; 8] = *b"TMIX\r\n\x1a\n";
/// Version of the format; increases when older readers would misread it.
pub const VERSION: u16 = 2;
/// Length of the head in bytes.
pub const HEAD: usize = 64;
