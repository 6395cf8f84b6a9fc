//! Bytes to events: the resumable scanner.
//!
//! ```text
//!   window of 16 KiB ── simd: positions of { } [ ] : ──> walk: depth, items, keys ──> Sink
//!        ^                        │ suspect byte                │ wrong bracket
//!        └── next event <── resync: find the next event boundary <┘
//! ```
//!
//! The walk knows three levels at which events can stand, the *level* being the depth of what holds them: 0, lines of
//! NDJSON; 1, the array form; 2, the `traceEvents` of the object form. A value one deeper than the level is an item; its
//! colons at that depth are envelope keys; everything deeper is only counted. Any number of documents may follow each
//! other. At level 0 an object may turn out to be an event or a document with `traceEvents` in it, whatever comes first:
//! its keys are remembered until that is known ([`members`]).
//!
//! **Damage**. An event is taken as good if its brackets match, no byte in it is suspect (see
//! [`crate::simd`]) and every bracket stands where a value may stand. Else the bytes from its start up to the next event
//! boundary are reported as lost and the scan goes on there ([`resync`]). What the format allows (no `]` at the end, a
//! trailing comma) is noted, not lost. All decisions depend on the bytes alone: where the input was cut into windows,
//! reads or chunks cannot be seen in the result.
//!
//! **Proof**. A scanner that proves ([`Scanner::prove`]) takes sound events by another way, in which one look at a byte serves
//! the scan and the proof that it is JSON ([`walk`]'s `sound`); what that leaves goes the way above. The findings are the same.
//!
//! **Cost.** No byte is classified twice on sound input ([`Scanner::classified`] counts; a test holds it to that). Memory:
//! 33 KiB, plus a bit a nesting level. The caller keeps the bytes from [`Scanner::retain_from`] on.
//!
//! **One file on many cores**: [`speculate`] guesses an event start in a chunk; [`Scanner::fork`] scans from there as if
//! that were right; the scanner of the chunk before runs until the first event start at or after the border
//! ([`Status::Border`]) and so proves or refutes the guess. A refuted chunk is scanned again from the true place. A
//! guess costs 0.25 µs and is right on every real layout that was tried.

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

/// Windows right after damage are small, since the next damage may be near; they double up to [`WINDOW`].
const WINDOW_AFTER_DAMAGE: usize = 8 * BLOCK;

/// A scan in progress: bytes go in by [`Scanner::feed`], findings come out of it as calls of a [`Sink`].
///
/// It reads the object form, the array form, one event a line, and any number of documents one behind the other. It asks
/// for no closing brackets and does not mind commas between events that are missing or too many. Where the bytes cannot be
/// read as events it looks for the next one, tells what it passed over as [`Damage`], and goes on: nothing ends a scan but
/// the end of the input.
///
/// Findings follow from the bytes alone, whatever the [`Tier`] and wherever windows end. Cost: one pass, 64 bytes at a
/// step; after damage the search for the next event is linear in what is lost. Memory: 33 KiB, and a bit a level of nesting.
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
    /// How events are proved; `None` where they are not.
    prove: Option<Prove>,
    /// Shapes of events that were proved.
    shapes: Shapes,
    /// What the block before `scanned` left.
    carry: Carry,
    positions: Positions,
    /// Offset up to which the walk has come.
    scanned: u64,
    /// Bytes that go through the block scan at a time.
    window: usize,
    classified: u64,
    state: State,
    /// The search for the next event, while it lasts.
    search: Option<Search>,
    ended: bool,
}

impl Scanner {
    /// A scanner that stands before the first byte of an input.
    pub fn new(tier: Tier) -> Self {
        Self::starting_at(tier, 0)
    }

    /// A scanner that stands before an input whose first `offset` bytes are no part of it, such as a byte order mark.
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

    /// A scanner for events like those that this one stands before, that begins at `offset`.
    ///
    /// Its findings hold if a scanner that comes from before stops at the border `offset` in the same [`Self::level`]. So an
    /// input is scanned by several threads: each begins where [`speculate`] says, and what it found counts once the one
    /// before it has come there.
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

    /// Proves events from here on, with the instructions of `tier`. An event that is whole in its window and in an array is found and proved to be JSON in one look at its
    /// bytes ([`Event::is_proved`](crate::Event::is_proved)): by the shapes of events before it, or as one of a new shape. The findings are the same.
    pub fn prove(&mut self, tier: Tier) {
        self.prove = Some(Prove::of(tier));
    }

    /// Exchanges the shapes that this scanner has learned for others. A worker that scans one chunk after another, with a scanner each,
    /// hands them on, so that no chunk begins without. The findings are the same.
    pub fn swap_shapes(&mut self, shapes: &mut Shapes) {
        std::mem::swap(&mut self.shapes, shapes);
        self.shapes.begin();
    }

    /// Depth of what holds the events that come next: 0 NDJSON, 1 array form, 2 object form; `None` where no event is
    /// expected next.
    pub fn level(&self) -> Option<u8> {
        self.state.event_level()
    }

    /// Offset of the first byte that is still needed: whoever reads a pipe may forget those before it.
    ///
    /// It is the begin of the item at hand, which is an event as a rule; after damage, of what is lost so far.
    pub fn retain_from(&self) -> u64 {
        self.search.as_ref().map_or_else(|| self.state.retain_from(), |search| search.lost_from)
    }

    /// How many bytes went through the block scan.
    pub fn classified(&self) -> u64 {
        self.classified
    }

    /// Scans on. `window` must reach from [`Self::retain_from`] to beyond what was there before, unless it is the last.
    ///
    /// Calls `sink` for everything that is decided. A window may end anywhere; a cut inside a block leaves up to 63 bytes
    /// for the next call. What is found is found once: whoever stops at a border or at the events and calls again gets
    /// what comes behind.
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

    /// Takes the events that are proved at a glance, if the scan stands before any.
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

    /// Whether the walk leaves the next event to [`Self::sound_events`].
    fn pauses(&self) -> bool {
        let by_shapes_alone = matches!(self.prove, Some(Prove::Nothing));
        self.prove.is_some() && (!by_shapes_alone || self.shapes.are_tried(self.scanned))
    }

    /// One window through block scan and walk.
    fn scan_window<S: Sink>(
        &mut self,
        window: Window<'_>,
        piece: &[u8],
        stop: Stop,
        sink: &mut S,
    ) -> Option<Status> {
        let suspect = self.kernel.flatten(piece, &mut self.carry, &mut self.positions);
        self.classified += piece.len() as u64;
        let positions = (self.scanned, self.positions.as_slice());
        match self.state.walk(window, positions, self.pauses(), stop, sink) {
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

    /// Goes on at `offset`, a place outside strings.
    fn restart(&mut self, offset: u64) {
        self.scanned = offset;
        self.carry = Carry::OUTSIDE;
    }

    fn begin_search<S: Sink>(&mut self, window: Window<'_>, fault: Fault, sink: &mut S) {
        let (lost_from, event) = self.state.lose(window, fault.noticed, sink);
        self.search = Some(Search::new(fault, lost_from, event));
    }

    /// Looks for the next event after damage; `None` to scan on.
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
