//! Composes observers: an `Option` of an observer, and a tuple of observers, are observers too.

use super::chunk::SealedChunk;
use super::look::{EventRef, Look};
use super::observer::Observer;
use crate::event::envelope::ChunkStats;
use crate::read::{InputStart, Needs, Starter};
use crate::run::error::Error;
use tracemill_tokenizer::{Damage, Event, Form, Member, Note};

/// An optional [`Look`]. A look decides whether the index keeps an event; `None` keeps every event.
impl<L: Look> Look for Option<L> {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.as_mut().is_none_or(|look| look.event(event, at))
    }

    fn document(&mut self, form: Form) {
        self.iter_mut().for_each(|look| look.document(form));
    }

    fn member(&mut self, member: &Member<'_>) {
        self.iter_mut().for_each(|look| look.member(member));
    }

    fn damage(&mut self, damage: &Damage<'_>) {
        self.iter_mut().for_each(|look| look.damage(damage));
    }

    fn note(&mut self, note: Note, offset: u64) {
        self.iter_mut().for_each(|look| look.note(note, offset));
    }

    fn seal(&mut self, stats: &mut ChunkStats) {
        self.iter_mut().for_each(|look| look.seal(stats));
    }
}

/// A boxed [`Look`], so that a large look is not moved with its chunk.
impl<L: Look> Look for Box<L> {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        (**self).event(event, at)
    }

    fn document(&mut self, form: Form) {
        (**self).document(form);
    }

    fn member(&mut self, member: &Member<'_>) {
        (**self).member(member);
    }

    fn damage(&mut self, damage: &Damage<'_>) {
        (**self).damage(damage);
    }

    fn note(&mut self, note: Note, offset: u64) {
        (**self).note(note, offset);
    }

    fn seal(&mut self, stats: &mut ChunkStats) {
        (**self).seal(stats);
    }
}

/// A borrowed observer: the caller keeps ownership during the scan.
impl<O: Observer> Observer for &mut O {
    type Chunk = O::Chunk;

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        (**self).begin(input);
    }

    fn starter(&self) -> Starter<Self::Chunk> {
        (**self).starter()
    }

    fn ignores_plain_events(&self) -> bool {
        (**self).ignores_plain_events()
    }

    fn merge(&mut self, found: Self::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        (**self).merge(found, chunk)
    }
}

impl<O: Observer> Observer for Option<O> {
    type Chunk = Option<O::Chunk>;

    fn needs(&self) -> Needs {
        self.as_ref().map_or(Needs::NONE, O::needs)
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.iter_mut().for_each(|observer| observer.begin(input));
    }

    fn starter(&self) -> Starter<Self::Chunk> {
        let start = self.as_ref().map(O::starter);
        Box::new(move |chunk| start.as_ref().map(|start| start(chunk)))
    }

    fn ignores_plain_events(&self) -> bool {
        self.as_ref().is_none_or(O::ignores_plain_events)
    }

    fn merge(&mut self, found: Self::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        match (self, found) {
            (Some(observer), Some(found)) => observer.merge(found, chunk),
            _ => Ok(()),
        }
    }
}

/// Implements [`Look`] and [`Observer`] for a tuple. Every member sees every event; members merge
/// from left to right.
macro_rules! side_by_side {
    ($($name:ident $at:tt),*) => {
        #[allow(unused_variables, non_snake_case, reason = "the empty tuple uses no argument")]
        impl<$($name: Look),*> Look for ($($name,)*) {
            #[inline(always)]
            fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
                // `&`, not `&&`: every look must see the event, even if an earlier one drops it
                true $(& self.$at.event(event, at))*
            }

            fn document(&mut self, form: Form) {
                $(self.$at.document(form);)*
            }

            fn member(&mut self, member: &Member<'_>) {
                $(self.$at.member(member);)*
            }

            fn damage(&mut self, damage: &Damage<'_>) {
                $(self.$at.damage(damage);)*
            }

            fn note(&mut self, note: Note, offset: u64) {
                $(self.$at.note(note, offset);)*
            }

            fn seal(&mut self, stats: &mut ChunkStats) {
                $(self.$at.seal(stats);)*
            }
        }

        #[allow(unused_variables, non_snake_case, reason = "the empty tuple uses no argument")]
        impl<$($name: Observer),*> Observer for ($($name,)*) {
            type Chunk = ($($name::Chunk,)*);

            fn needs(&self) -> Needs {
                Needs::NONE $(.and(self.$at.needs()))*
            }

            fn begin(&mut self, input: &InputStart<'_>) {
                $(self.$at.begin(input);)*
            }

            fn starter(&self) -> Starter<Self::Chunk> {
                $(let $name = self.$at.starter();)*
                Box::new(move |chunk| ($($name(chunk),)*))
            }

            fn ignores_plain_events(&self) -> bool {
                true $(&& self.$at.ignores_plain_events())*
            }

            fn merge(&mut self, found: Self::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error> {
                $(self.$at.merge(found.$at, chunk)?;)*
                Ok(())
            }
        }
    };
}

side_by_side!();
side_by_side!(A 0);
side_by_side!(A 0, B 1);
side_by_side!(A 0, B 1, C 2);
side_by_side!(A 0, B 1, C 2, D 3);
side_by_side!(A 0, B 1, C 2, D 3, E 4);
