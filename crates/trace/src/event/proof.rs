//! Whether what is found in an input is JSON: every event is proved so by the worker that scans it, while it is in cache.
//!
//! The scan itself knows brackets and strings only, so `"pid" 1` and `tru` pass it. An event that is no JSON is lost like
//! any other that is damaged, for what is written is to be JSON. But where it is clear what was meant
//! ([`Lapse`]) and there are readers that take it, the event keeps its bytes and is counted; whoever asks for it to be
//! mended gets it as JSON.
//!
//! Cost: sound events are scanned and proved in one look at their bytes; nothing is allocated unless values nest deeper than
//! 63.
//!
//! ```
//! use tracemill_trace::event::envelope::{Collect, Envelope};
//! use tracemill_trace::event::proof::{Feed, Proof};
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
//! proof.scanner(Tier::best(), 0).feed(Window::whole(text), Stop::NEVER, &mut Feed::new(&mut found, proof));
//! let stats = found.0.stats;
//! assert_eq!(stats.events, 2); // the second is kept: what NaN means is clear
//! assert_eq!(stats.losses.first().map(|(_, lost)| lost.offset), Some(36)); // the third is lost
//! ```

use crate::event::envelope::{Collect, Document, KeyValue};
use crate::run::losses::InputReport;
use tracemill_tokenizer::{
    Damage, DamageKind, Event, Form, Lapse, Member, Note, Scanner, Sink, Tier, Validator, lapses,
};

/// What is done about events that are not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Nothing: the verb does not write them, or every byte was looked at already.
    None,
    /// The scan tells which are, as far as it does ([`Event::is_proved`]); whoever takes the events looks at the others.
    Told {
        /// Instruction set.
        tier: Tier,
    },
    /// They are found. `mends`: all lapses are mended when they are written, so none is a loss.
    Full {
        /// Instruction set.
        tier: Tier,
        /// Whether what can be mended is mended.
        mends: bool,
    },
}

impl Proof {
    /// A scanner that stands before an input whose first `offset` bytes are no part of it, and proves on its way what is to be
    /// proved: what it does not, [`Feed`] does.
    pub fn scanner(self, tier: Tier, offset: u64) -> Scanner {
        let mut scanner = Scanner::starting_at(tier, offset);
        if let Proof::Full { tier, .. } | Proof::Told { tier } = self {
            scanner.prove(tier);
        }
        scanner
    }
}

/// Hands what a scanner finds to a part, less what is no JSON; what that is it counts there.
pub struct Feed<'p, C> {
    part: &'p mut C,
    proof: Option<Prover>,
}

/// The proof at work.
struct Prover {
    validator: Validator,
    mends: bool,
    /// Whether the document at hand has keys that are no trace's: those of a CPU profile are looked at elsewhere.
    plain: bool,
}

impl<'p, C: Collect> Feed<'p, C> {
    /// Hands what `proof` lets through to `part`.
    pub fn new(part: &'p mut C, proof: Proof) -> Self {
        let proof = match proof {
            Proof::None | Proof::Told { .. } => None,
            Proof::Full { tier, mends } => {
                Some(Prover { validator: Validator::new(tier), mends, plain: false })
            }
        };
        Feed { part, proof }
    }

    /// Counts what is not JSON, and noticed at an offset in it; false if it is lost.
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

/// Takes the keys out of a document of one input that are no JSON, and counts them: of a document without events, which
/// turned out to be no CPU profile.
///
/// `value`: the bytes of a key's value, and where they stand in the input.
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

/// The first lapse of what is not JSON; where the defect is if it is to be lost.
///
/// A backslash that begins no escape is one, unless it is mended: no reader takes it.
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
    fn what_is_meant_is_kept_and_the_rest_is_lost() {
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
