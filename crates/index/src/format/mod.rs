//! The format of `.tmi` files, which contain the locations of events in a trace.
//!
//! This module has only the format: pages of numbers and bytes, a directory of pages, checksums,
//! and the fingerprint of the trace. It also specifies the sections. The modules `build` and
//! `query` write and read the sections.
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
//! assert!(Index::open(&file[..file.len() - 1]).is_err()); // a truncated file is rejected
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The file
//!
//! All integers are little-endian. The parts are adjacent, and a checksum covers every byte.
//!
//! ```text
//!    0  head        64 bytes
//!   64  pages       consecutive, in the order of the directory
//!    D  directory   to the end of the file
//! ```
//!
//! | offset in the head | bytes | content |
//! |---|--:|---|
//! | 0 | 8 | `TMIX\r\n\x1a\n` |
//! | 8 | 2 | [`VERSION`]; readers reject any other version |
//! | 16 | 8 | length of the trace's file in bytes |
//! | 24 | 8 | time of the last change of that file, in ns since 1970, signed |
//! | 32 | 16 | [`Fingerprint`] of that file |
//! | 48 | 8 | offset D of the directory |
//! | 56 | 4 | bytes of the directory |
//! | 60 | 4 | low half of the XXH3-64 of the first 60 bytes |
//!
//! The **directory** has the number of sections (4 bytes), then the sections by ascending id. Last
//! is the XXH3-64 of the directory before it (8 bytes). Numbers of bytes are in parentheses.
//!
//! * A section: id (4), number of rows (8), number of pages (4), and its pages.
//! * A page: bytes in the file (4), bytes when unpacked (4), first key (8), last key (8), XXH3-64
//!   of its bytes in the file (8).
//!
//! A **page** has at most [`PAGE_MOST`] bytes when unpacked. The file has a page as a zstd frame if
//! that is smaller, otherwise unchanged.
//!
//! * An unpacked page: number of rows (4), number of columns (4), and the columns.
//! * A column: encoding (1), length in bytes (4), and its bytes.
//!
//! A column has either bytes or 64-bit numbers, one per row:
//!
//! | encoding | content |
//! |---|---|
//! | 0 | bytes |
//! | 1 | numbers, each as LEB128 |
//! | 2 | differences from the previous number (first: from 0) modulo 2⁶⁴, zigzag, as LEB128 |
//! | 3 | runs: a number and its count, both as LEB128 |
//!
//! Zigzag encoding moves the sign of a number to the lowest bit ([`zigzag`]).
//!
//! Each page can be read without any other page. Readers ignore unknown columns at the end of a
//! page, and unknown sections.
//!
//! # Sections
//!
//! A place is an offset in the text; the text is the unpacked trace. Times are in nanoseconds,
//! rounded down, and signed (two's complement). Columns are numbers unless the list says bytes.
//!
//! | id | name | rows |
//! |--:|---|---|
//! | 1 | [`id::META`] | a part of the JSON text per page |
//! | 2 | [`id::GRANULES`] | blocks: ranges of consecutive events, by place |
//! | 3 | [`id::PLACES`] | events that every window needs, by place |
//! | 4 | [`id::SPANS`] | slices longer than T, by thread, then by start |
//! | 5 | [`id::STREAMS`] | CPU profile streams by (pid, id), in the order of their first events |
//! | 6 | [`id::STREAM_EVENTS`] | events of streams, by place |
//! | 7 | [`id::PACK`] | zstd frames or gzip members where unpacking can begin; the first is at place 0 |
//! | 8 | [`id::NAMES`] | displayed names (cut to 200 bytes), by first appearance, while there is room |
//! | 9 | [`id::LANES`] | tracks: threads in the order of their first events, then all other tracks |
//! | 10 | [`id::BINS`] | time intervals (bins) of tracks, by track and time |
//! | 11 | [`id::GRANULE_NAMES`] | names of the events that begin in a block, by block |
//!
//! Columns of each section:
//!
//! * META: bytes of a JSON text; the next page continues the text.
//! * GRANULES: place · bytes to the end of the last event · number of events · least time ·
//!   greatest time less the least · sum of the events · total bytes of the events.
//! * PLACES: place · bytes · [`event_sum`].
//! * SPANS: kind, see [`spans`] · flags, see [`spans`] · row of the thread in LANES (2³² − 1: none)
//!   · start · duration (0 without an end; ends of X events are rounded up) · place of the begin
//!   event · place of the end event less that of the begin event · [`event_sum`] of the begin event
//!   · [`event_sum`] of the end event (0 if it is the begin event) · for async operations, row in
//!   LANES after those of threads · number of the name, or [`bins::NO_NAME`].
//! * STREAMS: known data, see [`streams`] · least time of an event or sample · greatest such time
//!   less the least · least time of an event · greatest time of an event less the least.
//! * STREAM_EVENTS: place · bytes · row in STREAMS · [`event_sum`]. With [`streams::CHUNKS`] also
//!   (see below): time · kind, see [`streams`] · number of samples · sum of the steps · least time
//!   of a sample, relative to the last sample of the previous chunk · sum of the steps less the
//!   greatest such time · least node id · number of ids from the least to the greatest (0: no
//!   nodes; a greatest id of 2³² − 1: all ids from the least on).
//! * PACK: place · offset in the file.
//! * NAMES: number of slices and instants · sum of their durations · longest duration · bytes of
//!   the name · bytes: all names.
//! * LANES: kind, see [`bins`] · bytes of the pid · bytes of the second key · bytes: pid and second
//!   key of all tracks, as written. The second key is a tid or a category; for counters name, 0xFF,
//!   series.
//! * BINS: row in LANES · start divided by the length of a bin · number of slices and instants that
//!   begin in the bin and are not in SPANS · sum of their durations (counters: bits of the least
//!   value) · longest duration (counters: bits of the greatest value) · number of the name of the
//!   longest.
//! * GRANULE_NAMES: row in GRANULES · row in NAMES.
//!
//! **Blocks**: the times of blocks, and the jumps of time that separate blocks, are those of timed
//! events. Metadata does not count, nor do events of CPU profiles of phase P, which STREAM_EVENTS
//! has. A block without such an event has 2⁶³ − 1 as its least time. The sum of a block's events is
//! the sum modulo 2³² of the [`event_sum`] of each event, so blocks can be joined without reading
//! the text. Pages of GRANULES have 8192 rows, except the last page.
//!
//! **Look-back T**: META has a level k, and T is 2ᵏ ns. SPANS has all slices that are longer than T
//! or never end. So each slice that is open at a time either began at most T before that time, or
//! is in SPANS. Pages of SPANS have 8192 rows, except the last page. The keys of a page are its
//! least start and its greatest end.
//!
//! **Streams**: a chunk of a CPU profile depends on earlier chunks, so a reader of a chunk needs
//! the whole stream. If the stream has [`streams::CHUNKS`], a reader needs only the following: the
//! sums of the steps of earlier chunks, the chunks whose range of ids may contain a used node, and
//! the chunks that may contain the parents of that node. Without room for these columns they are
//! zeros, and no stream has the bit.
//!
//! Times in these columns are zigzag-encoded, in the unit that [`streams::MICROS`] gives. The first
//! time is relative to that of the stream's previous event (0 if there is none) plus the sum of the
//! steps of the event. The least id of a chunk with nodes is zigzag-encoded, relative to the id
//! after the greatest of the previous chunk with nodes (0 if there is none).
//!
//! The times of a stream are known if all of these are true: it has a `Profile` event; its chunks
//! are in time order; each chunk has as many steps as samples; all events of the stream have a
//! time; no time is more than 2⁶¹ ns from 0.
//!
//! **Bins** are for drawing. META has a level k, and a bin is 2ᵏ ns long. The longest slice of a
//! bin may be in SPANS; then its name is [`bins::NO_NAME`]. Traces without known offsets where
//! unpacking can begin have no bins.
//!
//! If the content of a section is not exact, or has no room, the index lacks the section, and META
//! has its name. Readers that need the section read the trace.

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
