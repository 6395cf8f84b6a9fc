//! Annotations by what they name: where there are many outputs, each looks at those that it may have, and not at all.

use super::calls::{Ids, RequestedThreads};
use super::read::{Annotated, EntryTarget};
use crate::emit::Emit;
use crate::warning::AnnotationDrop;
use std::sync::Arc;

/// Numbers of annotations by what they name. 16 bytes a name, 24 of a call.
#[derive(Default)]
pub(super) struct AnnotationsByTarget {
    /// Annotations that name an event, by its place.
    events: Vec<(u64, u32)>,
    /// Annotations that name a call, by its thread.
    calls: Vec<(Ids, u32)>,
    /// Annotations that name nothing but a stretch of time.
    ranges: Vec<u32>,
    /// The threads of calls.
    pub(super) wanted: Arc<RequestedThreads>,
}

impl AnnotationsByTarget {
    pub(super) fn of(documents: &[Annotated<'_>]) -> Self {
        let mut all = AnnotationsByTarget::default();
        each(documents, None, |number, _, element| {
            let Ok(element) = element.2 else { return };
            for (_, named) in &element.names {
                match named {
                    EntryTarget::Event(entry) | EntryTarget::Synthetic(entry, _) => {
                        all.events.push((entry.place.offset(), number));
                    }
                    EntryTarget::Call(call) => all.calls.push(((call.pid, call.tid), number)),
                }
            }
            if element.names.is_empty() {
                all.ranges.push(number);
            }
        });
        all.events.sort_unstable();
        all.calls.sort_unstable();
        all.wanted = Arc::new(RequestedThreads::new(all.calls.iter().map(|call| call.0).collect()));
        all
    }

    /// Numbers, ascending, of the annotations that an output may have: they name one of its events, a call of one of the threads
    /// `ids`, or a stretch of time.
    ///
    /// Cost: a binary search for each event of the output.
    pub(super) fn may_have(
        &self,
        emit: &Emit<'_, '_, '_>,
        ids: impl Iterator<Item = Ids>,
    ) -> Vec<u32> {
        let mut found = self.ranges.clone();
        if !self.events.is_empty() {
            let runs = emit.timed.runs();
            let timed = runs.iter().flat_map(|run| run.iter().map(|entry| entry.place));
            for place in emit.lists.iter().chain(timed) {
                found.extend(of_key(&self.events, place.offset()));
            }
        }
        ids.for_each(|ids| found.extend(of_key(&self.calls, ids)));
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// What stands beside a key.
fn of_key<K: Ord + Copy>(sorted: &[(K, u32)], key: K) -> impl Iterator<Item = u32> + '_ {
    let first = sorted.partition_point(|own| own.0 < key);
    sorted[first..].iter().take_while(move |own| own.0 == key).map(|own| own.1)
}

/// An annotation: the number of its list, its document, and itself.
pub(super) type ListedAnnotation<'a, 'p> =
    (usize, &'a Annotated<'p>, &'a Result<super::read::Element<'p>, AnnotationDrop>);

/// Shows annotations with their numbers and those of their documents: the `chosen` ones, which are ascending, or all.
///
/// Numbers are those of [`super::outcomes::Outcomes`]: before the annotations of a document come its lists that are none.
pub(super) fn each<'a, 'p>(
    documents: &'a [Annotated<'p>],
    mut chosen: Option<&[u32]>,
    mut visit: impl FnMut(u32, usize, ListedAnnotation<'a, 'p>),
) {
    let mut next = 0;
    for (number, document) in documents.iter().enumerate() {
        next += document.malformed as u32;
        for (list, own) in document.lists.iter().enumerate() {
            let (first, end) = (next, next + own.len() as u32);
            next = end;
            let mut one =
                |at: u32| visit(at, number, (list, document, &own[(at - first) as usize]));
            match &mut chosen {
                None => (first..end).for_each(&mut one),
                Some(chosen) => {
                    let (here, later) = chosen.split_at(chosen.partition_point(|&at| at < end));
                    *chosen = later;
                    here.iter().copied().for_each(&mut one);
                }
            }
        }
    }
}
