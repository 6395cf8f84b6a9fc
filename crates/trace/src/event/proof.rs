//! Checks that every event of an input is JSON, on the worker that scans it.
//!
//! The scanner knows only brackets and strings, so `"pid" 1` and `tru` pass it. Events that are not
//! JSON are lost, because outputs must be JSON. But if the meaning is clear and some readers accept
//! the event ([`Lapse`]), it is kept and counted, or repaired on request.
//!
//! Cost: valid events are scanned and checked in one pass.
//!
//! ```
//! use tracemill_trace::event::envelope::{Collect, Envelope};
//! use tracemill_trace::event::proof::{Feed, Proof, proving_scanner};
//! use tracemill_tokenizer::{Event, Stop, Tier, Window};
//!
//! #[derive(Default)]
//! struct Count(Envelope);
//! impl Collect for Count {
//!     fn envelope(&mut self) -> &mut Envelope {
//!         &mut self.0
//!     }
//!     fn event(&mut self, event: &Event<'_>) {
//!         self.0.event(event);
//!     }
//! }
//!
//! let text = br#"[{"ts":1},{"ts":2,"args":{"x":NaN}},{"ts" 3}]"#;
//! let proof = Proof::Full { tier: Tier::best(), mends: false };
//! let mut found = Count::default();
//! proving_scanner(Tier::best(), 0).feed(Window::whole(text), Stop::NEVER, &mut Feed::new(&mut found, proof));
//! let stats = found.0.stats;
//! assert_eq!(stats.events, 2); // the second is kept: what NaN means is clear
//! assert_eq!(stats.losses.first().map(|(_, lost)| lost.offset), Some(36)); // the third is lost
//! ```

use crate::event::envelope::{Collect, Document, KeyValue};
use crate::run::losses::InputReport;
use tracemill_tokenizer::{
    Damage, DamageKind, Event, Form, Lapse, Member, Note, Scanner, Sink, Tier, Validator, lapses,
};

/// The treatment of events that are not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The scanner flags the events that it proves ([`Event::is_proved`]); readers may check all
    /// other events. Suits commands that write no events, and bytes that are already checked.
    Partial,
    /// Every event is checked.
    Full {
        /// Instruction set of the scanner.
        tier: Tier,
        /// Whether lapses are repaired when events are written, so that no lapse is a loss.
        mends: bool,
    },
}

/// Creates a scanner that starts at byte `offset` of an input and proves events. [`Feed`] checks the
/// events that the scanner does not prove.
pub fn proving_scanner(tier: Tier, offset: u64) -> Scanner {
    let mut scanner = Scanner::starting_at(tier, offset);
    scanner.prove(tier);
    scanner
}

/// Passes the results of a scanner to a chunk. Counts the values that are not JSON, and drops those
/// without a clear meaning.
pub struct Feed<'p, C> {
    part: &'p mut C,
    proof: Option<Prover>,
}

/// Validator and options of a full check.
struct Prover {
    validator: Validator,
    mends: bool,
    /// Whether the document has no events. The keys of such a document are checked later, because
    /// the document may be a CPU profile.
    plain: bool,
}

impl<'p, C: Collect> Feed<'p, C> {
    /// Creates a feed that passes the events accepted by `proof` to `part`.
    pub fn new(part: &'p mut C, proof: Proof) -> Self {
        let proof = match proof {
            Proof::Partial => None,
            Proof::Full { tier, mends } => {
                Some(Prover { validator: Validator::new(tier), mends, plain: false })
            }
        };
        Feed { part, proof }
    }

    /// Counts a value that is not JSON. Returns `false` if it is lost.
    #[cold]
    fn note(&mut self, bytes: &[u8], offset: u64, noticed: u64) -> bool {
        let mends = self.proof.as_ref().is_some_and(|proof| proof.mends);
        match lapse(bytes, mends) {
            Ok(lapse) => {
                self.part.envelope().stats.lapses.add(lapse, offset, offset + noticed, bytes);
                true
            }
            Err(at) => {
                let (kind, noticed) = (DamageKind::NotJson, offset + at);
                self.part.damage(&Damage { kind, offset, noticed, lost: bytes });
                false
            }
        }
    }
}

/// Removes and counts the keys of a document whose values are not JSON.
///
/// `value` returns the bytes of a value and their offset in the input.
pub(crate) fn prove_keys<'p>(
    document: &mut Document,
    tier: Tier,
    mends: bool,
    value: impl Fn(&KeyValue) -> (&'p [u8], u64),
    report: &mut InputReport,
) {
    let mut validator = Validator::new(tier);
    document.keys.retain(|key| {
        let (bytes, offset) = value(key);
        let Err(defect) = validator.check_value(bytes) else { return true };
        match lapse(bytes, mends) {
            Ok(lapse) => {
                report.lapses.add(lapse, offset, offset + defect.offset, bytes);
                true
            }
            Err(at) => {
                let (kind, noticed) = (DamageKind::NotJson, offset + at);
                report.losses.add(&Damage { kind, offset, noticed, lost: bytes });
                false
            }
        }
    });
}

/// Returns the first lapse of a text that is not JSON, or the offset of the defect that makes the
/// text a loss.
///
/// An invalid escape is a loss unless it is repaired, because no reader accepts it.
fn lapse(bytes: &[u8], mends: bool) -> Result<Lapse, u64> {
    let (mut first, mut escape) = (None, None);
    let read = lapses(bytes, |lapse, at| {
        first = first.or(Some(lapse));
        if lapse == Lapse::Escape && !mends {
            escape = escape.or(Some(at.start as u64));
        }
    });
    match (read, escape, first) {
        (Err(defect), escape, _) => Err(escape.unwrap_or(defect.offset).min(defect.offset)),
        (Ok(()), Some(escape), _) => Err(escape),
        (Ok(()), None, first) => first.ok_or(0),
    }
}

impl<C: Collect> Sink for Feed<'_, C> {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>) {
        if let Some(proof) = &mut self.proof
            && !event.is_proved()
            && let Err(defect) = proof.validator.check(event.bytes)
            && !self.note(event.bytes, event.offset, defect.offset)
        {
            return;
        }
        self.part.event(event);
    }

    fn document(&mut self, form: Form) {
        if let Some(proof) = &mut self.proof {
            proof.plain = form == Form::Plain;
        }
        self.part.document(form);
    }

    fn member(&mut self, member: Member<'_>) {
        if let Some(proof) = &mut self.proof
            && !proof.plain
            && let Err(defect) = proof.validator.check_value(member.value)
            && !self.note(member.value, member.value_offset, defect.offset)
        {
            return;
        }
        self.part.member(member);
    }

    fn damage(&mut self, damage: Damage<'_>) {
        self.part.damage(&damage);
    }

    fn note(&mut self, note: Note, offset: u64) {
        self.part.note(note, offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lapses_are_kept_and_other_defects_are_lost() {
        for (text, kept, mended) in [
            (&br#"{"a":[1,],"b":NaN}"#[..], Ok(Lapse::Comma), Ok(Lapse::Comma)),
            (b"{\"a\":\"\xff\"}", Ok(Lapse::Utf8), Ok(Lapse::Utf8)),
            (br#"{"a":NaN,"b":"\q"}"#, Err(14), Ok(Lapse::Number)),
            (br#"{"a":"\q","b":tru}"#, Err(6), Err(14)),
            (br#"{"pid" 1}"#, Err(7), Err(7)),
        ] {
            assert_eq!(lapse(text, false), kept, "{}", text.escape_ascii());
            assert_eq!(lapse(text, true), mended, "{}", text.escape_ascii());
        }
    }
}
