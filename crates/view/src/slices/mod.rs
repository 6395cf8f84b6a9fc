//! Sends the output of the command `slice` to clients while it is written.

pub(crate) mod room;

use crate::ask::UrlQuery;
use crate::ask::reply::{BodyPiece, BodyPieces, Content, Reply};
use crate::model::Model;
use crate::slices::room::Room;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{Sender, channel};
use tracemill_index::slice;
use tracemill_join::config::{CheckFor, Config};
use tracemill_pipeline::join;
use tracemill_trace::output::target::{Compression, Format, OutputConfig};
use tracemill_trace::run::limits::Cancel;
use tracemill_trace::run::memory::Share;
use tracemill_trace::time::windows::{Edges, Moment, TimeSpan, TimeWindow};
use tracemill_trace::{Error, ErrorKind, Source};

const PIECE: usize = 64 << 10;
/// Maximum number of parts of the output that wait to be sent.
const WAITING: usize = 8;

pub(crate) struct Slices {
    sources: Vec<Source>,
    config: Config,
    /// Whether a slice is being sent. Only one slice has the memory at a time.
    busy: Arc<AtomicBool>,
    /// The memory that slices share with background work.
    pub(crate) room: Arc<Room>,
    /// The merged inputs. They are merged for the first slice that needs them.
    merged: Arc<Mutex<Option<Source>>>,
    stem: String,
}

/// A route, and the format of its output.
struct SliceForm {
    route: &'static str,
    format: Format,
    compression: Compression,
    media_type: &'static str,
}

impl SliceForm {
    const fn new(
        route: &'static str,
        format: Format,
        compression: Compression,
        media_type: &'static str,
    ) -> Self {
        SliceForm { route, format, compression, media_type }
    }
}

const FORMS: [SliceForm; 4] = [
    SliceForm::new("slice.json", Format::Object, Compression::None, "application/json"),
    SliceForm::new(
        "slice.json.gz",
        Format::Object,
        Compression::Gzip { level: 6 },
        "application/gzip",
    ),
    SliceForm::new(
        "slice.json.zst",
        Format::Object,
        Compression::Zstd { level: 3 },
        "application/zstd",
    ),
    SliceForm::new("slice.ndjson", Format::Ndjson, Compression::None, "application/x-ndjson"),
];

impl Slices {
    pub(crate) fn new(sources: &[Source], config: &Config) -> Self {
        let name =
            sources.first().and_then(|source| source.path().file_stem().map(ToOwned::to_owned));
        let name =
            name.map_or_else(|| "trace".to_owned(), |name| name.to_string_lossy().into_owned());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let stem: String =
            name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(80).collect();
        // the displayed model has the other half of the memory
        let mut config = Config { limits: config.limits.within(Share::of(1, 2)), ..config.clone() };
        config.limits.progress = Arc::default();
        let merged = Arc::default();
        Slices {
            sources: sources.to_vec(),
            config,
            busy: Arc::default(),
            room: Arc::default(),
            merged,
            stem,
        }
    }

    pub(crate) fn stem(&self) -> &str {
        &self.stem
    }

    pub(crate) fn is_one(path: &str) -> bool {
        FORMS.iter().any(|form| form.route == path)
    }

    /// Starts a slice, and waits for the first part of its output.
    pub(crate) fn answer(
        &self,
        path: &str,
        query: &UrlQuery<'_>,
        model: &Model,
        window: TimeSpan,
        cancel: &Cancel,
    ) -> Result<Reply, Reply> {
        let Some(form) = FORMS.iter().find(|form| form.route == path) else {
            let hint = "The documentation lists the routes.";
            return Err(Reply::error(404, "there is nothing here", hint));
        };
        let job = self.job(form, query, window, cancel)?;
        let merged = model.is_merged().then(|| Arc::clone(&self.merged));
        let job = Job { merged, ..job };
        model.check_unchanged().map_err(|error| Reply::failed(&error))?;
        if self.busy.swap(true, Ordering::AcqRel) {
            let hint = "Wait until it is there, or give it up.";
            return Err(Reply::error(429, "a slice is being sent", hint));
        }
        let mut pieces = BodyPieces {
            first: None,
            rest: channel(1).1,
            cancel: cancel.clone(),
            busy: Arc::clone(&self.busy),
        };
        let (sender, mut rest) = channel::<BodyPiece>(WAITING);
        let failure = Arc::new(Mutex::new(None));
        let (failure_slot, room) = (Arc::clone(&failure), Arc::clone(&self.room));
        let work = move || {
            let _own = room.take();
            if let Err(error) = job.run(&sender) {
                if let Ok(mut slot) = failure_slot.lock() {
                    *slot = Some(error);
                }
                // the client may have disconnected
                let _gone = sender.blocking_send(Err(()));
            }
        };
        let spawned = std::thread::Builder::new().name("slice".into()).spawn(work);
        spawned.map_err(|error| {
            Reply::error(503, error.to_string(), "The system gives no thread: try again.")
        })?;
        pieces.first = match rest.blocking_recv() {
            Some(Ok(piece)) => Some(piece),
            Some(Err(())) => {
                let error = failure.lock().ok().and_then(|mut failure| failure.take());
                return Err(Reply::failed(&error.unwrap_or_else(|| ErrorKind::Cancelled.into())));
            }
            None => None,
        };
        pieces.rest = rest;
        let end = path.trim_start_matches("slice");
        let name = format!("attachment; filename=\"{}.slice{end}\"", self.stem);
        let headers = vec![("content-disposition", name)];
        Ok(Reply { status: 200, kind: form.media_type, content: Content::Pieces(pieces), headers })
    }

    fn job(
        &self,
        form: &SliceForm,
        query: &UrlQuery<'_>,
        window: TimeSpan,
        cancel: &Cancel,
    ) -> Result<Job, Reply> {
        let wrong = |what: &str, hint: &str| Err(Reply::error(400, what, hint));
        let edges = match query.get("edges").as_deref() {
            None | Some("clip") => Edges::Clip,
            Some("keep") => Edges::Keep,
            Some("drop") => Edges::Drop,
            Some(_) => {
                return wrong("edges is to be clip, keep or drop", "Leave it out for clip.");
            }
        };
        let mut config = self.config.clone();
        config.viewer.viewer = match query.get("for").as_deref() {
            None => None,
            Some("devtools") => Some(CheckFor::Devtools),
            Some("perfetto") => Some(CheckFor::Perfetto),
            Some(_) => {
                return wrong("for is to be devtools or perfetto", "Leave it out for neither.");
            }
        };
        config.limits.cancel = cancel.clone();
        let at = |time| Some(Moment::At(time));
        let window = TimeWindow { from: at(window.from), to: at(window.to) };
        let &SliceForm { format, compression, .. } = form;
        let sources = self.sources.clone();
        Ok(Job { sources, merged: None, window, edges, format, compression, config })
    }
}

struct Job {
    sources: Vec<Source>,
    merged: Option<Arc<Mutex<Option<Source>>>>,
    window: TimeWindow,
    edges: Edges,
    format: Format,
    compression: Compression,
    config: Config,
}

impl Job {
    fn run(&self, sender: &Sender<BodyPiece>) -> Result<(), Error> {
        let out = Arc::new(Mutex::new(Out { sender: sender.clone(), held: Vec::new() }));
        let output = OutputConfig {
            format: Some(self.format),
            compression: self.compression,
            ..OutputConfig::writer(Arc::clone(&out))
        };
        let sources = match &self.merged {
            Some(kept) => vec![self.merged_in(kept)?],
            None => self.sources.clone(),
        };
        slice(&sources, &[self.window], self.edges, &output, &self.config)?;
        flushed(out.lock().map(|mut out| out.flush()))
    }

    /// Returns the inputs merged into a temporary file. Cost: one merge on the first call.
    fn merged_in(&self, kept: &Mutex<Option<Source>>) -> Result<Source, Error> {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = &*kept {
            return Ok(source.clone());
        }
        let joined = join(&self.sources, None, &self.config.as_merged())?;
        let source = joined.map_or_else(|| self.sources[0].clone(), |joined| joined.source());
        *kept = Some(source.clone());
        Ok(source)
    }
}

fn flushed<E>(last: Result<io::Result<()>, E>) -> Result<(), Error> {
    match last {
        Ok(Ok(())) => Ok(()),
        _ => Err(ErrorKind::BrokenPipe.into()),
    }
}

/// A writer that passes its bytes on in parts. It blocks while too many parts wait to be sent.
struct Out {
    sender: Sender<BodyPiece>,
    held: Vec<u8>,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let piece = std::mem::take(&mut self.held);
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.sender.blocking_send(Ok(piece)).map_err(gone)
    }
}
