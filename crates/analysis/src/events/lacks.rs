//! Missing fields that make DevTools refuse a trace, because it reads them without a check.

use crate::events::meta::Meta;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::spill::hash::HashSet;
use tracemill_viewers::required_args::{Lack, ReadOn};

/// The condition under which DevTools reads the missing args; then the input, pid and tid of the
/// event.
type Place = (ReadOn, usize, Box<[u8]>, Box<[u8]>);

/// Missing fields of the events of a chunk, or of all inputs.
#[derive(Default)]
pub(crate) struct Lacks {
    pub(crate) names: bool,
    pub(crate) categories: bool,
    pub(crate) starts: bool,
    args: bool,
    /// Threads with missing args that DevTools reads only under a condition.
    shown: HashSet<Place>,
    bytes: usize,
}

impl Lacks {
    #[cold]
    pub(crate) fn note(&mut self, lack: Lack, event: &Event<'_>) {
        match lack {
            Lack::Name => self.names = true,
            Lack::Category => self.categories = true,
            Lack::Start => self.starts = true,
            Lack::Args(ReadOn::Anywhere) => self.args = true,
            Lack::Args(reach) => {
                let id = |field| event.field(field).unwrap_or_default().into();
                self.push((reach, 0, id(Field::Pid), id(Field::Tid)));
            }
        }
    }

    fn push(&mut self, place: Place) {
        let size = size_of::<Place>() + place.2.len() + place.3.len();
        if self.shown.insert(place) {
            self.bytes += size;
        }
    }

    pub(crate) fn append(&mut self, later: Lacks, input: usize) {
        self.names |= later.names;
        self.categories |= later.categories;
        self.starts |= later.starts;
        self.args |= later.args;
        later.shown.into_iter().for_each(|(reach, _, pid, tid)| {
            self.push((reach, input, pid, tid));
        });
    }

    pub(crate) fn heap(&self) -> u64 {
        2 * self.bytes as u64
    }

    /// Returns whether DevTools reads args that are missing.
    pub(crate) fn are_args_read<'p>(
        &self,
        meta: &Meta,
        is_generic: bool,
        place: impl Fn(usize) -> &'p InputPlace,
    ) -> bool {
        let is_read = |(reach, input, pid, tid): &Place| {
            let pid = place(*input).pid(pid);
            let page = meta.page(pid);
            match reach {
                ReadOn::Anywhere => true,
                ReadOn::Shown => is_generic || page.is_some_and(|page| page.url.is_some()),
                ReadOn::MainThread => {
                    page.is_some_and(|page| page.url.is_some() && page.is_on_main_frame)
                        && meta.thread_name(pid, tid) == Some(b"CrRendererMain")
                }
            }
        };
        self.args || self.shown.iter().any(is_read)
    }
}
