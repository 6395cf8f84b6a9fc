//! Converts bytes to events; the entry point is [`Scanner`].
//!
//! ```text
//!   window of 16 KiB ── simd: positions of { } [ ] : ──> walk: depth, items, keys ──> Sink
//!        ^                        │ suspect byte                │ wrong bracket
//!        └── next event <── resync: find the next event boundary <┘
//! ```
//!
//! The *level* is the depth of the container of the events: 0 in NDJSON, 1 in the array form, 2 in
//! the object form. A value directly inside that container is an item, and its own keys are
//! envelope keys; deeper brackets are only counted. [`members`] keeps the keys of an object at
//! level 0 until it is known to be an event or a document.
//!
//! **Damage**: an event is sound if its brackets match, open only where a value may begin, and no
//! byte is suspect ([`crate::simd`]). Otherwise the bytes up to the next event ([`resync`]) are
//! lost.
//!
//! **Proof**: after [`Scanner::prove`], one pass finds sound events and proves that they are JSON
//! ([`walk`]'s `sound`). The path above reads all other events, with the same results.
//!
//! **Parallel scans**: [`speculate`] guesses where an event begins in a chunk, and
//! [`Scanner::fork`] scans from there. The guess is right if the scanner of the previous chunk
//! stops at the same offset ([`Status::Border`]); otherwise the chunk is scanned again.

pub(crate) mod find;
mod findings;
mod members;
mod resync;
mod shapes;
pub(crate) mod visit;
mod walk;

use crate::simd::grammar::Prove;
use crate::simd::{BLOCK, Carry, Kernel, Positions, Tier, WINDOW};
use findings::Fault;
pub use findings::{Damage, DamageKind, Form, Member, Note, Sink, Status, Stop, Window};
pub use resync::speculate;
use resync::{Search, SearchEnd};
pub use shapes::Shapes;
pub(crate) use walk::CLOSING_BIT;
use walk::{Sound, State, Walk};

/// Bytes of the first window after damage; later windows double up to [`WINDOW`].
const WINDOW_AFTER_DAMAGE: usize = 8 * BLOCK;

/// Reads bytes with [`Scanner::feed`] and passes events, keys and damage to a [`Sink`].
///
/// Reads the object form, the array form, NDJSON, and any number of consecutive documents. Closing
/// brackets may be missing, and commas between events may be missing or repeated. If bytes cannot
/// be read as events, the scanner reports [`Damage`] and continues at the next event.
///
/// The results depend only on the bytes, not on the [`Tier`] or on where windows end. Cost: one
/// pass, 64 bytes per step; after damage, the search for the next event is linear in the lost
/// bytes. Memory: 33 KiB, one bit per nesting level, and up to 260 KiB of learned shapes.
///
/// ```
/// use tracemill_tokenizer::{Damage, DamageKind, Event, Scanner, Sink, Stop, Tier, Window};
///
/// #[derive(Default)]
/// struct Found(Vec<i64>, Vec<(DamageKind, String)>);
///
/// impl Sink for Found {
///     fn event(&mut self, event: &Event<'_>) {
///         self.0.extend(event.ts().map(|ts| ts.floor));
///     }
///     fn damage(&mut self, damage: Damage<'_>) {
///         self.1.push((damage.kind, String::from_utf8_lossy(damage.lost).into_owned()));
///     }
/// }
///
/// // the second event has a quote that nothing escapes, and the file was cut in the fourth
/// let trace = br#"[{"ph":"i","ts":1},{"ph":"i","ts":2,"name":"a"b"},{"ph":"i","ts":3},{"ph":"i","#;
/// let mut found = Found::default();
/// Scanner::new(Tier::best()).feed(Window::whole(trace), Stop::NEVER, &mut found);
/// assert_eq!(found.0, [1000, 3000]); // nanoseconds
/// assert_eq!(found.1[0], (DamageKind::Malformed, r#"{"ph":"i","ts":2,"name":"a"b"},"#.to_owned()));
/// assert_eq!(found.1[1], (DamageKind::Truncated, r#"{"ph":"i","#.to_owned()));
/// ```
pub struct Scanner {
    kernel: Kernel,
    /// Instructions of the proof; `None` if events are not proved.
    prove: Option<Prove>,
    /// Shapes of the proved events.
    shapes: Shapes,
    /// State of the block scan at `scanned`.
    carry: Carry,
    positions: Positions,
    /// Offset of the first byte that the walk has not processed.
    scanned: u64,
    /// Number of bytes of the next block scan, at most.
    window: usize,
    classified: u64,
    state: State,
    /// The unfinished search for the next event.
    search: Option<Search>,
    ended: bool,
}

impl Scanner {
    /// Creates a scanner for an input that begins at offset 0.
    pub fn new(tier: Tier) -> Self {
        Self::starting_at(tier, 0)
    }

    /// Creates a scanner that skips the first `offset` bytes of the input, such as a byte order
    /// mark.
    pub fn starting_at(tier: Tier, offset: u64) -> Self {
        Self::at(Kernel::of(tier), offset, State::new(offset))
    }

    fn at(kernel: Kernel, offset: u64, state: State) -> Self {
        Scanner {
            kernel,
            prove: None,
            shapes: Shapes::default(),
            carry: Carry::OUTSIDE,
            positions: Positions::new(),
            scanned: offset,
            window: WINDOW,
            classified: 0,
            state,
            search: None,
            ended: false,
        }
    }

    /// Creates a scanner that begins at `offset`, where an event of the current level must begin.
    ///
    /// Its results are valid if the scanner of the preceding bytes stops at the border `offset`
    /// with the same [`Self::level`]. To scan in parallel, fork a scanner at each offset that
    /// [`speculate`] returns, and check those borders afterwards.
    ///
    /// ```
    /// use tracemill_tokenizer::{Damage, Event, Scanner, Sink, Status, Stop, Tier, Window, speculate};
    ///
    /// struct Times(Vec<i64>);
    ///
    /// impl Sink for Times {
    ///     fn event(&mut self, event: &Event<'_>) {
    ///         self.0.extend(event.ts().map(|ts| ts.floor));
    ///     }
    ///     fn damage(&mut self, _: Damage<'_>) {}
    /// }
    ///
    /// let trace = br#"[{"ph":"i","ts":1},{"ph":"i","ts":2},{"ph":"i","ts":3}]"#;
    /// let (mut first, mut second) = (Times(Vec::new()), Times(Vec::new()));
    /// let mut scanner = Scanner::new(Tier::best());
    /// scanner.feed(Window::whole(trace), Stop { at_events: true, ..Stop::NEVER }, &mut first);
    ///
    /// let border = speculate(trace, 25, trace.len()).expect("an event begins behind the middle") as u64;
    /// let mut behind = scanner.fork(border); // on another thread
    /// let level = behind.level();
    /// behind.feed(Window::whole(trace), Stop::NEVER, &mut second);
    ///
    /// let status = scanner.feed(Window::whole(trace), Stop { border, at_events: false }, &mut first);
    /// assert!(status == Status::Border(border) && scanner.level() == level, "the guess was right");
    /// assert_eq!([first.0, second.0], [vec![1000, 2000], vec![3000]]);
    /// ```
    pub fn fork(&self, offset: u64) -> Self {
        Scanner { prove: self.prove, ..Self::at(self.kernel, offset, self.state.fork(offset)) }
    }

    /// Enables the proof that events are JSON, with the instructions of `tier`.
    ///
    /// Events in arrays that lie completely in the window are found and proved in one pass
    /// ([`Event::is_proved`](crate::Event::is_proved)). The results are otherwise the same.
    pub fn prove(&mut self, tier: Tier) {
        self.prove = Some(Prove::of(tier));
    }

    /// Exchanges the learned shapes of this scanner for `shapes`.
    ///
    /// A worker passes the shapes from the scanner of one chunk to the scanner of the next chunk.
    /// The results of the scan are the same.
    pub fn swap_shapes(&mut self, shapes: &mut Shapes) {
        std::mem::swap(&mut self.shapes, shapes);
        self.shapes.begin();
    }

    /// Returns the depth of the container of the next events: 0 in NDJSON, 1 in the array form, 2
    /// in the object form. Returns `None` if no event is expected next.
    pub fn level(&self) -> Option<u8> {
        self.state.event_level()
    }

    /// Returns the offset of the first byte that the next call needs; earlier bytes can be dropped.
    ///
    /// This is usually the start of the current event; after damage, the start of the lost bytes.
    pub fn retain_from(&self) -> u64 {
        self.search.as_ref().map_or_else(|| self.state.retain_from(), |search| search.lost_from)
    }

    /// Returns the number of bytes that the block scan has processed.
    pub fn classified(&self) -> u64 {
        self.classified
    }

    /// Continues the scan, and calls `sink` for everything that is complete.
    ///
    /// `window` must begin at or before [`Self::retain_from`] and reach further than the previous
    /// window, unless it is the last. It may end anywhere; up to 63 bytes then wait for the next
    /// call. After a stop, the next call continues where the scan stopped.
    pub fn feed<S: Sink>(&mut self, window: Window<'_>, stop: Stop, sink: &mut S) -> Status {
        debug_assert!(window.base <= self.retain_from());
        loop {
            if self.ended {
                return Status::End;
            }
            if self.search.is_some() {
                match self.resync(window, stop, sink) {
                    None => continue,
                    Some(status) => return status,
                }
            }
            if let Some(status) = self.sound_events(window, stop, sink) {
                return status;
            }
            let rest = &window.bytes[window.index(self.scanned)..];
            let size = rest.len().min(self.window);
            let size = if window.last && size == rest.len() { size } else { size & !(BLOCK - 1) };
            if size == 0 {
                if !window.last {
                    return Status::NeedInput;
                }
                match self.state.finish(window, sink) {
                    Some(fault) => self.begin_search(window, fault, sink),
                    None => self.ended = true,
                }
                continue;
            }
            if let Some(status) = self.scan_window(window, &rest[..size], stop, sink) {
                return status;
            }
        }
    }

    /// Reads events and proves that they are JSON, if the scan is between the items of an array.
    fn sound_events<S: Sink>(
        &mut self,
        window: Window<'_>,
        stop: Stop,
        sink: &mut S,
    ) -> Option<Status> {
        let prove = self.prove?;
        let from = self.state.gap();
        let sound = Sound { window, prove, kernel: self.kernel, shapes: &mut self.shapes };
        let walk = self.state.sound_events(sound, stop, sink);
        if let Some(Walk::Stopped(status, offset)) = walk {
            self.restart(offset);
            return Some(status);
        }
        if self.state.gap() > from {
            self.restart(self.state.gap());
            self.window = WINDOW_AFTER_DAMAGE;
        }
        None
    }

    /// Returns whether the walk leaves the next event to [`Self::sound_events`].
    fn pauses(&self) -> bool {
        let by_shapes_alone = matches!(self.prove, Some(Prove::Nothing));
        self.prove.is_some() && (!by_shapes_alone || self.shapes.are_tried(self.scanned))
    }

    /// Scans and walks `piece`, the next bytes of `window`.
    fn scan_window<S: Sink>(
        &mut self,
        window: Window<'_>,
        piece: &[u8],
        stop: Stop,
        sink: &mut S,
    ) -> Option<Status> {
        let suspect = self.kernel.flatten(piece, &mut self.carry, &mut self.positions);
        self.classified += piece.len() as u64;
        let positions = self.positions.as_slice();
        match self.state.walk(window, self.scanned, positions, self.pauses(), stop, sink) {
            Walk::Through => {
                if let Some(at) = suspect {
                    let noticed = self.scanned + at as u64;
                    let kind = self.state.kind_of_suspect();
                    self.begin_search(window, Fault { kind, noticed }, sink);
                } else {
                    self.scanned += piece.len() as u64;
                    self.window = (self.window * 2).min(WINDOW);
                }
                None
            }
            Walk::Stopped(status, offset) => {
                self.restart(offset);
                Some(status)
            }
            Walk::Paused => {
                self.restart(self.state.gap());
                self.window = WINDOW_AFTER_DAMAGE;
                None
            }
            Walk::Lost(fault) => {
                self.begin_search(window, fault, sink);
                None
            }
        }
    }

    /// Continues the block scan at `offset`, which must be outside strings.
    fn restart(&mut self, offset: u64) {
        self.scanned = offset;
        self.carry = Carry::OUTSIDE;
    }

    fn begin_search<S: Sink>(&mut self, window: Window<'_>, fault: Fault, sink: &mut S) {
        let (lost_from, event) = self.state.lose(window, fault.noticed, sink);
        self.search = Some(Search::new(fault, lost_from, event));
    }

    /// Searches for the next event after damage; returns `None` if the scan can continue.
    fn resync<S: Sink>(&mut self, window: Window<'_>, stop: Stop, sink: &mut S) -> Option<Status> {
        let search = self.search.as_mut().expect("checked by the caller");
        let found = match search.advance(window, self.state.closes_with()) {
            SearchEnd::NeedInput => return Some(Status::NeedInput),
            found => found,
        };
        let Search { fault, lost_from, .. } = *search;
        self.search = None;
        let end = match found {
            SearchEnd::Event(at) | SearchEnd::EventsEnd(at) => at,
            SearchEnd::Nothing | SearchEnd::NeedInput => window.end(),
        };
        let lost = window.slice(lost_from, end);
        if !lost.is_empty() || matches!(found, SearchEnd::Event(_)) {
            let Fault { kind, noticed } = fault;
            sink.damage(Damage { kind, offset: lost_from, noticed, lost });
        }
        self.window = WINDOW_AFTER_DAMAGE;
        self.restart(end);
        match found {
            SearchEnd::Event(at) => {
                self.state.resume_at_event(at, sink);
                (at >= stop.border).then_some(Status::Border(at))
            }
            SearchEnd::EventsEnd(at) => {
                self.state.resume_at_gap(at);
                None
            }
            SearchEnd::Nothing | SearchEnd::NeedInput => {
                self.ended = true;
                None
            }
        }
    }
}
