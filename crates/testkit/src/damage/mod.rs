//! Injects realistic damage into well-formed traces, and lists the events that must survive.
//!
//! [`damage`] takes the bytes of a trace and the spans of its events (from
//! [`crate::reference::events`]) and lists the events that may be lost. A reader must return all
//! other events with their bytes of the damaged input, in the order of [`Damaged::survivors`]. A
//! reader may find more events: fragments of a broken event that are objects themselves.
//!
//! Spans must be ascending and disjoint. Strings that contain event text make recovery ambiguous;
//! use [`crate::generate::TraceShape::plain`] to count events.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::Rng;

/// A way to damage a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DamageKind {
    /// A trace truncated anywhere after the start of the first event.
    Truncated,
    /// A trace truncated right after an event, with or without its comma, as by a killed producer.
    Unclosed,
    /// A raw `"` inside a string of an event.
    UnescapedQuote,
    /// A raw control byte (including CR and LF) inside a string of an event. The event survives.
    ControlByte,
    /// `NaN`, `Infinity` or `-Infinity` in the args of an event. The event survives.
    NotANumber,
    /// Words between two events.
    Garbage,
    /// An event without its last `}`.
    MissingBrace,
    /// One flipped bit in an event.
    FlippedBit,
    /// An extra `}` or `]` after an event.
    StrayBracket,
    /// A leading comma: `[,{`.
    LeadingComma,
    /// A trailing comma: `},]`.
    TrailingComma,
    /// A comment, `/* … */` or `// …`, between two events.
    Comment,
    /// A range overwritten with NUL bytes.
    NulRun,
    /// A trace truncated anywhere, followed by the whole trace again.
    Restarted,
}

impl DamageKind {
    /// All kinds.
    pub const ALL: [Self; 14] = [
        Self::Truncated,
        Self::Unclosed,
        Self::UnescapedQuote,
        Self::ControlByte,
        Self::NotANumber,
        Self::Garbage,
        Self::MissingBrace,
        Self::FlippedBit,
        Self::StrayBracket,
        Self::LeadingComma,
        Self::TrailingComma,
        Self::Comment,
        Self::NulRun,
        Self::Restarted,
    ];
}

/// A damaged trace, and the events that a reader must recover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The damaged bytes.
    pub bytes: Vec<u8>,
    /// Ordinals of the events that may be lost, ascending. For [`DamageKind::Restarted`], the
    /// events of the second document are numbered after the events of the first document.
    pub touched: Vec<usize>,
    /// All other events in `bytes`: ordinal, and span in `bytes`.
    pub survivors: Vec<(usize, Range<usize>)>,
    /// The kind of damage.
    pub kind: DamageKind,
    /// Whether all events survive and a reader skips only commas, brackets and whitespace. It may
    /// still report the damage.
    pub lossless: bool,
}

/// Damages a well-formed trace with events at `spans`. A trace without events is unchanged.
#[must_use]
pub fn damage(rng: &mut Rng, bytes: &[u8], spans: &[Range<usize>], kind: DamageKind) -> Damaged {
    if spans.is_empty() {
        let (bytes, touched, survivors) = (bytes.to_vec(), Vec::new(), Vec::new());
        return Damaged { bytes, touched, survivors, kind, lossless: true };
    }
    let trace = TraceSpans { bytes, spans };
    match kind {
        DamageKind::Truncated => trace.truncated(rng),
        DamageKind::Unclosed => trace.unclosed(rng),
        DamageKind::UnescapedQuote => trace.quote(rng),
        DamageKind::ControlByte => trace.control_byte(rng),
        DamageKind::NotANumber => trace.not_a_number(rng),
        DamageKind::Garbage => trace.garbage(rng),
        DamageKind::MissingBrace => trace.missing_brace(rng),
        DamageKind::FlippedBit => trace.flipped_bit(rng),
        DamageKind::StrayBracket => trace.stray_bracket(rng),
        DamageKind::LeadingComma => trace.leading_comma(rng),
        DamageKind::TrailingComma => trace.trailing_comma(rng),
        DamageKind::Comment => trace.comment(rng),
        DamageKind::NulRun => trace.nul_run(rng),
        DamageKind::Restarted => trace.restarted(rng),
    }
}

/// Applies damage of a random kind; see [`damage`].
#[must_use]
pub fn any_damage(rng: &mut Rng, bytes: &[u8], spans: &[Range<usize>]) -> Damaged {
    let kind = DamageKind::ALL[rng.index(DamageKind::ALL.len())];
    damage(rng, bytes, spans, kind)
}

#[derive(Clone, Copy)]
struct TraceSpans<'a> {
    bytes: &'a [u8],
    spans: &'a [Range<usize>],
}

impl<'a> TraceSpans<'a> {
    fn event(self, ordinal: usize) -> &'a [u8] {
        &self.bytes[self.spans[ordinal].clone()]
    }

    fn any_event(self, rng: &mut Rng) -> usize {
        rng.index(self.spans.len())
    }

    /// Returns a random event for which `fits` is true, or any event if there is no such event. The
    /// flag is true if `fits` is true.
    fn event_where(self, rng: &mut Rng, fits: impl Fn(usize) -> bool) -> (usize, bool) {
        let fitting: Vec<usize> = (0..self.spans.len()).filter(|&i| fits(i)).collect();
        if fitting.is_empty() {
            (self.any_event(rng), false)
        } else {
            (fitting[rng.index(fitting.len())], true)
        }
    }

    /// Replaces the range `replaced` by the text `by`. Touched events are no survivors; an event
    /// around the replacement changes its length.
    fn spliced(
        self,
        kind: DamageKind,
        replaced: Range<usize>,
        by: &[u8],
        touched: Vec<usize>,
    ) -> Damaged {
        let bytes = [&self.bytes[..replaced.start], by, &self.bytes[replaced.end..]].concat();
        let moved = |at: usize| at - replaced.len() + by.len();
        let survivors = (0..self.spans.len())
            .filter(|ordinal| !touched.contains(ordinal))
            .map(|ordinal| {
                let span = &self.spans[ordinal];
                let start = if span.start >= replaced.end { moved(span.start) } else { span.start };
                let end = if span.end > replaced.start { moved(span.end) } else { span.end };
                (ordinal, start..end)
            })
            .collect();
        Damaged { bytes, touched, survivors, kind, lossless: false }
    }

    fn inserted(self, kind: DamageKind, at: usize, text: &[u8], touched: Vec<usize>) -> Damaged {
        self.spliced(kind, at..at, text, touched)
    }

    fn cut(self, kind: DamageKind, cut: usize) -> Damaged {
        let whole = self.spans.iter().take_while(|span| span.end <= cut).count();
        Damaged {
            bytes: self.bytes[..cut].to_vec(),
            touched: (whole..self.spans.len()).collect(),
            survivors: self.spans[..whole].iter().cloned().enumerate().collect(),
            kind,
            lossless: whole == self.spans.len()
                && self.bytes[cut..].iter().all(|b| b" \t\r\n]},".contains(b)),
        }
    }

    fn truncated(self, rng: &mut Rng) -> Damaged {
        let start = self.spans[0].start;
        let cut = start + rng.index(self.bytes.len() - start + 1);
        self.cut(DamageKind::Truncated, cut)
    }

    fn unclosed(self, rng: &mut Rng) -> Damaged {
        let event = self.any_event(rng);
        let end = self.spans[event].end;
        let after = &self.bytes[end..];
        let space = after.iter().take_while(|b| b" \t\r\n,".contains(b)).count();
        self.cut(DamageKind::Unclosed, end + rng.index(space + 1))
    }

    fn quote(self, rng: &mut Rng) -> Damaged {
        // before a letter or digit, the quote cannot pass for a closing one: the event is certainly
        // broken
        let places = |i: usize| {
            let event = self.event(i);
            string_interiors(event)
                .into_iter()
                .flat_map(move |s| unescaped_places(event, s))
                .filter(|&at| event[at].is_ascii_alphanumeric())
                .collect::<Vec<_>>()
        };
        let (event, found) = self.event_where(rng, |i| !places(i).is_empty());
        let start = self.spans[event].start;
        if !found {
            // `{"}`: the event has no text, so the string continues into the next one
            let touched = self.with_next(vec![event]);
            return self.inserted(DamageKind::UnescapedQuote, start + 1, b"\"", touched);
        }
        let places = places(event);
        let at = start + places[rng.index(places.len())];
        self.inserted(DamageKind::UnescapedQuote, at, b"\"", vec![event])
    }

    /// Adds the event after `touched`, because the damage may swallow the start of that event.
    fn with_next(self, mut touched: Vec<usize>) -> Vec<usize> {
        let next = touched.last().map_or(0, |last| last + 1);
        if next < self.spans.len() {
            touched.push(next);
        }
        touched
    }

    fn control_byte(self, rng: &mut Rng) -> Damaged {
        let kind = DamageKind::ControlByte;
        let (event, found) = self.event_where(rng, |i| !string_values(self.event(i)).is_empty());
        if !found {
            let text = b"\"raw\":\"\x01\"";
            let mut damaged = self.with_member(kind, event, text);
            damaged.lossless = true;
            return damaged;
        }
        let strings = string_values(self.event(event));
        let string = strings[rng.index(strings.len())].clone();
        let places = unescaped_places(self.event(event), string.clone());
        let at = if places.is_empty() { string.end } else { places[rng.index(places.len())] };
        let byte = [b'\n', b'\r', b'\t', 0, 1, 0x1b, 0x1f][rng.index(7)];
        let mut damaged = self.inserted(kind, self.spans[event].start + at, &[byte], Vec::new());
        damaged.lossless = true;
        damaged
    }

    fn not_a_number(self, rng: &mut Rng) -> Damaged {
        let kind = DamageKind::NotANumber;
        let token = ["NaN", "Infinity", "-Infinity"][rng.index(3)];
        let (event, found) = self.event_where(rng, |i| args_object(self.event(i)).is_some());
        let mut damaged = match args_object(self.event(event)) {
            Some(at) if found => {
                let empty = next_token(self.event(event), at) == Some(b'}');
                let member = format!("\"v\":{token}{}", if empty { "" } else { "," });
                self.inserted(kind, self.spans[event].start + at, member.as_bytes(), Vec::new())
            }
            _ => self.with_member(kind, event, format!("\"args\":{{\"v\":{token}}}").as_bytes()),
        };
        damaged.lossless = true;
        damaged
    }

    /// Inserts a member at the start of an event. The event survives.
    fn with_member(self, kind: DamageKind, event: usize, member: &[u8]) -> Damaged {
        let comma: &[u8] = if next_token(self.event(event), 1) == Some(b'}') { b"" } else { b"," };
        let at = self.spans[event].start + 1;
        self.inserted(kind, at, &[member, comma].concat(), Vec::new())
    }

    /// Inserts text outside of all events.
    fn beside_event(self, rng: &mut Rng, kind: DamageKind, text: &[u8]) -> Damaged {
        let span = &self.spans[self.any_event(rng)];
        let at = if rng.chance(50) { span.start } else { span.end };
        self.inserted(kind, at, text, Vec::new())
    }

    fn garbage(self, rng: &mut Rng) -> Damaged {
        let words =
            ["garbage", "Error: trace buffer lost,", "\nWARNING 12: x\n", "%%%", "\u{fffd}", ";;;"];
        self.beside_event(rng, DamageKind::Garbage, rng.clone().pick(&words).as_bytes())
    }

    fn comment(self, rng: &mut Rng) -> Damaged {
        let comments = ["/* a comment */", "// to the end of the line\n", "/**/"];
        self.beside_event(rng, DamageKind::Comment, rng.clone().pick(&comments).as_bytes())
    }

    fn stray_bracket(self, rng: &mut Rng) -> Damaged {
        let end = self.spans[self.any_event(rng)].end;
        let bracket: &[u8] = if rng.chance(50) { b"}" } else { b"]" };
        self.inserted(DamageKind::StrayBracket, end, bracket, Vec::new())
    }

    fn missing_brace(self, rng: &mut Rng) -> Damaged {
        let event = self.any_event(rng);
        let end = self.spans[event].end;
        self.spliced(DamageKind::MissingBrace, end - 1..end, b"", vec![event])
    }

    fn flipped_bit(self, rng: &mut Rng) -> Damaged {
        let event = self.any_event(rng);
        let span = &self.spans[event];
        let at = span.start + rng.index(span.len());
        let (old, new) = (self.bytes[at], self.bytes[at] ^ 1 << rng.below(8));
        // a changed quote, escape or bracket may swallow the start of the next event
        let structural = |b: u8| b"\"\\{}[]".contains(&b);
        let swallows = structural(old) || structural(new);
        let touched = if swallows { self.with_next(vec![event]) } else { vec![event] };
        self.spliced(DamageKind::FlippedBit, at..at + 1, &[new], touched)
    }

    fn leading_comma(self, rng: &mut Rng) -> Damaged {
        let opens = |i: usize| {
            let before = self.bytes[..self.spans[i].start].trim_ascii_end();
            before.ends_with(b"[")
        };
        let (event, found) = self.event_where(rng, opens);
        let start = self.spans[event].start;
        let mut damaged = self.inserted(DamageKind::LeadingComma, start, b",", Vec::new());
        damaged.lossless = found;
        damaged
    }

    fn trailing_comma(self, rng: &mut Rng) -> Damaged {
        let closes = |i: usize| {
            let after = self.bytes[self.spans[i].end..].trim_ascii_start();
            after.starts_with(b"]")
        };
        let (event, found) = self.event_where(rng, closes);
        let end = self.spans[event].end;
        let mut damaged = self.inserted(DamageKind::TrailingComma, end, b",", Vec::new());
        damaged.lossless = found;
        damaged
    }

    fn nul_run(self, rng: &mut Rng) -> Damaged {
        let event = self.any_event(rng);
        let span = &self.spans[event];
        let start = span.start + rng.index(span.len());
        let limit = if rng.chance(70) { 100 } else { 5000 };
        let end = (start + 1 + rng.index(limit)).min(self.bytes.len());
        let hit = |span: &Range<usize>| span.start < end && span.end > start;
        let touched: Vec<usize> = (0..self.spans.len()).filter(|&i| hit(&self.spans[i])).collect();
        // if the run overwrites a closing quote, the string continues into the next event
        let touched = self.with_next(touched);
        self.spliced(DamageKind::NulRun, start..end, &vec![0; end - start], touched)
    }

    fn restarted(self, rng: &mut Rng) -> Damaged {
        let mut damaged = self.truncated(rng);
        damaged.kind = DamageKind::Restarted;
        if rng.chance(70) {
            damaged.bytes.push(b'\n');
        }
        let (start, first) = (damaged.bytes.len(), self.spans.len());
        damaged.bytes.extend_from_slice(self.bytes);
        for (i, span) in self.spans.iter().enumerate() {
            // a cut inside a string swallows the text up to the next quote
            if i == 0 && !damaged.lossless {
                damaged.touched.push(first);
            } else {
                damaged.survivors.push((first + i, span.start + start..span.end + start));
            }
        }
        damaged
    }
}

/// Returns the contents of all strings of an event, including keys.
fn string_interiors(event: &[u8]) -> Vec<Range<usize>> {
    let mut strings = Vec::new();
    let mut at = 0;
    while at < event.len() {
        if event[at] == b'"' {
            let start = at + 1;
            at = start;
            while event[at] != b'"' {
                at += if event[at] == b'\\' { 2 } else { 1 };
            }
            strings.push(start..at);
        }
        at += 1;
    }
    strings
}

/// Returns the contents of the strings of an event that are not keys.
fn string_values(event: &[u8]) -> Vec<Range<usize>> {
    let mut strings = string_interiors(event);
    strings.retain(|s| next_token(event, s.end + 1) != Some(b':'));
    strings
}

/// Returns the offsets in a string where a byte can be inserted without splitting an escape or a
/// character.
fn unescaped_places(event: &[u8], string: Range<usize>) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = string.start;
    while at < string.end {
        if event[at] == b'\\' {
            at += if event[at + 1] == b'u' { 6 } else { 2 };
            continue;
        }
        if event[at] & 0xc0 != 0x80 {
            places.push(at);
        }
        at += 1;
    }
    places
}

/// Returns the offset after the `{` of the event's `args`, if they are an object.
fn args_object(event: &[u8]) -> Option<usize> {
    let strings = string_interiors(event);
    let depth_at = |at: usize| {
        let outside = |i: usize| !strings.iter().any(|s| s.contains(&i));
        let weight = |b: u8| i32::from(b"{[".contains(&b)) - i32::from(b"}]".contains(&b));
        (0..at).filter(|&i| outside(i)).map(|i| weight(event[i])).sum::<i32>()
    };
    let mut args = strings.iter().filter(|s| &event[(*s).clone()] == b"args");
    let key =
        args.find(|s| next_token(event, s.end + 1) == Some(b':') && depth_at(s.start) == 1)?;
    let colon = key.end + 1 + event[key.end + 1..].iter().position(|&b| b == b':')?;
    let brace = colon + 1 + event[colon + 1..].iter().position(|b| !b.is_ascii_whitespace())?;
    (event[brace] == b'{').then_some(brace + 1)
}

fn next_token(text: &[u8], from: usize) -> Option<u8> {
    text[from..].iter().copied().find(|b| !b.is_ascii_whitespace())
}
