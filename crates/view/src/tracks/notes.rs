//! Metadata of processes and threads: names, labels and sort indexes.

use tracemill_index::drawing::NAME_MOST;
use tracemill_tokenizer::{Event, Field, number_text, parse};
use tracemill_trace::event::metadata::{MetadataEvent, MetadataKind};
use tracemill_trace::json::printable;
use tracemill_trace::spill::hash::HashMap;

/// Metadata of a process or thread. If several events set a value, the last one counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    pub(crate) name: Option<String>,
    pub(crate) sort_index: Option<f64>,
    pub(crate) labels: Option<String>,
}

impl Note {
    fn take(&mut self, later: Note) {
        self.name = later.name.or(self.name.take());
        self.sort_index = later.sort_index.or(self.sort_index);
        self.labels = later.labels.or(self.labels.take());
    }
}

/// A pid and a tid as written in the trace. The tid of a process is `None`.
type NoteOwner = (Box<[u8]>, Option<Box<[u8]>>);

#[derive(Default)]
pub(crate) struct Notes(HashMap<NoteOwner, Note>);

impl Notes {
    pub(crate) fn note(&mut self, event: &Event<'_>) {
        let Some(MetadataEvent { kind, value }) = MetadataEvent::of(event) else { return };
        let text = || value.map(|value| printable(value).chars().take(NAME_MOST).collect());
        let note = match kind {
            MetadataKind::ProcessName | MetadataKind::ThreadName => {
                Note { name: text(), ..Note::default() }
            }
            MetadataKind::ProcessLabels => Note { labels: text(), ..Note::default() },
            MetadataKind::ProcessSortIndex | MetadataKind::ThreadSortIndex => {
                let number = value
                    .and_then(|value| number_text(value, &mut Vec::new()).and_then(parse::<f64>));
                Note { sort_index: number, ..Note::default() }
            }
        };
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default());
        let owner = (pid.into(), (!kind.is_of_process()).then(|| tid.into()));
        self.0.entry(owner).or_default().take(note);
    }

    pub(crate) fn append(&mut self, later: Notes) {
        #[expect(clippy::iter_over_hash_type, reason = "each note is of an owner of its own")]
        for (owner, note) in later.0 {
            self.0.entry(owner).or_default().take(note);
        }
    }

    pub(crate) fn renamed(self, pid: impl Fn(&[u8]) -> Box<[u8]>) -> Self {
        let renamed = self.0.into_iter().map(|((owner, tid), note)| ((pid(&owner), tid), note));
        Notes(renamed.collect())
    }

    pub(crate) fn of(&self, pid: &[u8], tid: Option<&[u8]>) -> Note {
        self.0.get(&(pid.into(), tid.map(Into::into))).cloned().unwrap_or_default()
    }

    pub(crate) fn heap(&self) -> u64 {
        self.0.len() as u64 * 300
    }
}
