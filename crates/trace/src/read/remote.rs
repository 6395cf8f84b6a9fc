//! Copies the bytes that a run reads of a remote file to its local file.

use super::pieces::{ChosenPieces, Piece};
use crate::input::byte_order_mark;
use crate::input::remote::RemoteFile;
use crate::run::error::Error;
use crate::run::limits::Limits;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::slice;
use tracemill_tokenizer::{Damage, Event, Scanner, Sink, Status, Stop, Tier, Window};

/// First number of bytes that is copied to find the first event.
const HEAD: u64 = 64 << 10;
/// Number of bytes that are copied for an event of unknown length. If it has more, its checksum is
/// wrong, and the run reads the whole file.
const EVENT: u64 = 16 << 10;

/// Copies some pieces of a remote file and the bytes before the first event. Copies everything if
/// there are no pieces, or if they are parts of a packed file.
pub(super) fn fetch(
    file: &RemoteFile,
    pieces: Option<&ChosenPieces>,
    limits: &Limits,
) -> Result<(), Error> {
    match pieces {
        Some(ChosenPieces { pieces, unpacked: None }) => {
            let range = |piece: &Piece| {
                let range = match piece {
                    Piece::Event(place, 0) => *place..place.saturating_add(EVENT),
                    Piece::Event(place, bytes) => *place..place.saturating_add(*bytes),
                    Piece::Stretch(range) => range.clone(),
                };
                range.start.min(file.length())..range.end.min(file.length())
            };
            file.fetch(&pieces.iter().map(range).collect::<Vec<Range<u64>>>(), limits)?;
            fetch_head(file, limits)
        }
        _ => file.fetch(slice::from_ref(&(0..file.length())), limits),
    }
}

/// Copies the bytes before the first event.
fn fetch_head(file: &RemoteFile, limits: &Limits) -> Result<(), Error> {
    let failed = |error| Error::read(file.path().display(), error);
    let mut length = HEAD;
    loop {
        length = length.min(file.length());
        file.fetch(slice::from_ref(&(0..length)), limits)?;
        let mut head = Vec::new();
        let local = File::open(file.path()).map_err(failed)?;
        local.take(length).read_to_end(&mut head).map_err(failed)?;
        if length == file.length() || has_events(&head) {
            return Ok(());
        }
        length = length.saturating_mul(4);
    }
}

/// Returns whether the events of a trace that begins with `head` begin within it.
fn has_events(head: &[u8]) -> bool {
    struct Nothing;
    impl Sink for Nothing {
        fn event(&mut self, _: &Event<'_>) {}
        fn damage(&mut self, _: Damage<'_>) {}
    }
    let stop = Stop { at_events: true, ..Stop::NEVER };
    let mut scanner = Scanner::starting_at(Tier::best(), byte_order_mark(head) as u64);
    let window = Window { last: false, ..Window::whole(head) };
    matches!(scanner.feed(window, stop, &mut Nothing), Status::Events(_))
}
