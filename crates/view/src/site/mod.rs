//! Answers requests without a socket. Each route has a function that returns the reply.

mod replies;

use crate::ask::devtools::{self, Devtools};
use crate::ask::reply::{Content, Reply};
use crate::ask::so_far::so_far;
use crate::ask::viewers::Viewers;
use crate::ask::{Ask, Door, UrlQuery};
use crate::causes::{CauseStore, FoundCauses};
use crate::indexed::shown::{OpenedTrace, Shown};
use crate::model::Model;
use crate::site::replies::{
    PX_MOST, drawn, event, event_at, gone, groups, lanes_of, names, nothing, search_start, window,
};
use crate::slices::Slices;
use crate::tile::{overview, stats};
use serde_json::json;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use tempfile::TempPath;
use tracemill_index::drawing::Seen;
use tracemill_join::config::Config;
use tracemill_join::report::warning::Warning;
use tracemill_trace::os::check_temporary;
use tracemill_trace::run::limits::{Cancel, Progress};
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::words::shell_word;
use tracemill_trace::time::windows::TimeSpan;
use tracemill_trace::{Error, Source};

const PAGE: &[u8] = include_bytes!("../../page/index.html");
const SCRIPT: &[u8] = include_bytes!("../../page/dist/app.js");
const STYLE: &[u8] = include_bytes!("../../page/dist/app.css");

#[derive(Clone)]
enum ReadStage {
    Reading,
    Ready(Arc<Shown>),
    Failed(String),
}

/// The trace viewer: its state, and its replies to requests.
pub struct Site {
    door: Door,
    stage: RwLock<ReadStage>,
    sources: Vec<Source>,
    /// Warnings for the user, and the reason why a large input was read completely.
    notices: Mutex<(Vec<Warning>, Option<String>)>,
    /// Names of the inputs, for the page.
    title: String,
    /// Names of the inputs, quoted for a shell command.
    words: String,
    config: Config,
    slices: Slices,
    /// Events seen so far while an index is built.
    seen: Arc<Seen>,
    devtools: Option<Devtools>,
    speedscope: Option<Viewers>,
    /// Address of Perfetto, if the user set one.
    perfetto: Option<String>,
    no_calls: OnceLock<String>,
    causes: CauseStore,
    /// The file that redirects a browser to the page. It is removed when the page is loaded.
    redirect: Mutex<Option<TempPath>>,
}

impl Site {
    /// Creates a site for inputs that have not been read yet.
    pub fn new(sources: Vec<Source>, config: Config, token: String, port: u16) -> Self {
        let names: Vec<String> = sources.iter().map(ToString::to_string).collect();
        let words: Vec<String> = names.iter().map(|name| shell_word(name)).collect();
        let slices = Slices::new(&sources, &config);
        Site {
            door: Door { token, port, host: Ipv4Addr::LOCALHOST.into(), has_devtools: false },
            stage: RwLock::new(ReadStage::Reading),
            sources,
            notices: Mutex::default(),
            title: names.join(", "),
            words: words.join(" "),
            config,
            slices,
            seen: Arc::default(),
            devtools: None,
            speedscope: None,
            perfetto: None,
            no_calls: OnceLock::new(),
            causes: CauseStore::default(),
            redirect: Mutex::default(),
        }
    }

    /// Sets an address other than 127.0.0.1. Requests may then name any IP address.
    #[must_use]
    pub fn on(mut self, host: IpAddr) -> Self {
        self.door.host = host;
        self
    }

    /// Adds DevTools. `program` is the browser in which slices are opened.
    #[must_use]
    pub fn with_devtools(mut self, program: PathBuf) -> Self {
        self.devtools = Some(Devtools::new(program, &self.config.limits.tmp_dir));
        self.door.has_devtools = true;
        self
    }

    /// Adds a viewer from a folder of the user.
    #[must_use]
    pub fn with_viewers(mut self, viewers: Viewers) -> Self {
        self.speedscope = Some(viewers);
        self
    }

    /// Sets an address for Perfetto other than ui.perfetto.dev.
    #[must_use]
    pub fn with_perfetto(mut self, address: String) -> Self {
        self.perfetto = Some(address);
        self
    }

    /// Returns the URL of the page.
    pub fn address(&self) -> String {
        let host = match self.door.host {
            host if host.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            host => host,
        };
        format!("http://{}/{}/", SocketAddr::new(host, self.door.port), self.door.token)
    }

    /// Writes a file that redirects a browser to [`Site::address`], and returns its path. Only this
    /// user can read the file, so other users do not see the token in the browser's arguments. The
    /// file is removed after a browser has followed it, or when the site is dropped.
    ///
    /// # Errors
    /// Returns an I/O error if the file cannot be written.
    pub fn redirect(&self, part: &str) -> io::Result<PathBuf> {
        let mut named = tempfile::Builder::new();
        let named = named.prefix("tracemill-").suffix(".html");
        let mut file = named.tempfile_in(&self.config.limits.tmp_dir)?;
        let address = self.address() + part;
        writeln!(
            file,
            r#"<!doctype html><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">{address}</a>"#
        )?;
        let (path, file) = (file.path().to_owned(), file.into_temp_path());
        *self.redirect.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        Ok(path)
    }

    /// Reads the inputs. Until this method returns, requests that need the inputs get status 503.
    ///
    /// # Errors
    /// Returns the reason why the inputs cannot be shown. The page shows the reason too.
    pub fn read(&self) -> Result<(), Error> {
        let (stage, done) = match Shown::read(&self.sources, &self.seen, &self.config) {
            Ok(OpenedTrace { shown, warnings, whole }) => {
                *self.notices.lock().unwrap_or_else(PoisonError::into_inner) = (warnings, whole);
                (ReadStage::Ready(Arc::new(shown)), Ok(()))
            }
            Err(error) => (ReadStage::Failed(error.to_string()), Err(error)),
        };
        *self.stage.write().unwrap_or_else(PoisonError::into_inner) = stage;
        done
    }

    /// Computes the calls of CPU profiles in a trace that is shown by its index. Returns when the
    /// calls are shown or the site is closed. If there are no CPU profiles, does nothing.
    ///
    /// Cost: a pass over the trace. A slice interrupts the work, which starts again later.
    ///
    /// # Errors
    /// Returns the reason why calls cannot be shown. The page shows the reason too.
    pub fn read_calls(&self) -> Result<(), Error> {
        let Ok(shown) = self.shown() else { return Ok(()) };
        let Some(index) = shown.without_calls() else { return Ok(()) };
        let done = self.slices.room.spare(|cancel| {
            let calls = index.read_calls(cancel)?;
            index.with_calls(calls)
        });
        match done {
            None | Some(Ok(None)) => Ok(()),
            Some(Ok(Some(index))) => {
                let shown = Arc::new(Shown::Indexed(Box::new(index)));
                *self.stage.write().unwrap_or_else(PoisonError::into_inner) =
                    ReadStage::Ready(shown);
                Ok(())
            }
            Some(Err(error)) => {
                let stored = self.no_calls.set(error.to_string());
                debug_assert!(stored.is_ok(), "they are worked out once");
                Err(error)
            }
        }
    }

    /// Reads the inputs again for the causes of events, once a request needs them. Returns when the
    /// causes are found or the site is closed.
    ///
    /// Cost: a pass over the trace. A slice interrupts the work, which starts again later.
    ///
    /// # Errors
    /// Returns the reason why causes cannot be shown. The page shows the reason too.
    pub fn read_causes(&self) -> Result<(), Error> {
        let Ok(shown) = self.shown() else { return Ok(()) };
        self.slices.room.wait_for_need();
        let done = self.slices.room.spare(|cancel| {
            let found = FoundCauses::read(&self.sources, &self.config, cancel)?;
            shown.check_unchanged()?;
            Ok(found)
        });
        let Some(done) = done else { return Ok(()) };
        let (found, result) = match done {
            Ok(found) => (Ok(found), Ok(())),
            Err(error) => (Err(Error::to_string(&error)), Err(error)),
        };
        self.causes.set(found);
        result
    }

    /// Stops background work.
    pub fn close(&self) {
        self.slices.room.close();
    }

    /// Returns the reports of the inputs; empty until they are read.
    pub fn inputs(&self) -> Vec<InputReport> {
        self.shown().map_or_else(|_| Vec::new(), |shown| shown.whole().inputs().to_vec())
    }

    /// Returns the warnings for the user.
    pub fn warnings(&self) -> Vec<Warning> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Returns the reason why a large input was read completely, as a sentence without a full stop.
    pub fn whole(&self) -> Option<String> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Returns the changes by a merge of several inputs, as a sentence without a full stop.
    pub fn joined(&self) -> Option<String> {
        self.shown().ok().and_then(|shown| shown.whole().facts.joined.clone())
    }

    fn shown(&self) -> Result<Arc<Shown>, Reply> {
        let stage = self.stage.read().unwrap_or_else(PoisonError::into_inner);
        match &*stage {
            ReadStage::Ready(shown) => Ok(Arc::clone(shown)),
            ReadStage::Reading => {
                Err(Reply::error(503, "the trace is being read", "api/progress says how far."))
            }
            ReadStage::Failed(why) => {
                let (error, hint) = (why.clone(), "The command says more; start it again.");
                Err(Reply::error(409, error, hint))
            }
        }
    }

    pub(crate) fn is_reading(&self) -> bool {
        matches!(*self.stage.read().unwrap_or_else(PoisonError::into_inner), ReadStage::Reading)
    }

    /// Returns a line of progress, and whether it is the last one.
    pub(crate) fn progress(&self) -> (String, bool) {
        let of = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let Progress { bytes_expected, bytes_scanned, .. } = &*self.config.limits.progress;
        let stage = self.stage.read().unwrap_or_else(PoisonError::into_inner);
        let (state, error) = match &*stage {
            ReadStage::Reading => ("reading", None),
            ReadStage::Ready(_) => ("ready", None),
            ReadStage::Failed(why) => ("failed", Some(why.clone())),
        };
        let waits = matches!(&*stage, ReadStage::Ready(shown) if self.waits_for_calls(shown));
        let value = json!({ "state": state, "error": error, "calls": waits,
            "bytes": of(bytes_scanned), "expected": of(bytes_expected) });
        (value.to_string(), state != "reading" && !waits)
    }

    fn waits_for_calls(&self, shown: &Shown) -> bool {
        shown.without_calls().is_some() && self.no_calls.get().is_none()
    }

    /// Returns whether a request can be answered without a separate thread.
    pub(crate) fn is_quick(ask: &Ask<'_>) -> bool {
        let (route, takes_long) = (ask.route(), ["api/", "slice", "speedscope/", "open"]);
        route == "api/progress" || !takes_long.iter().any(|begin| route.starts_with(begin))
    }

    /// Answers a request. `cancel` can end long work early; the reply then has no meaning.
    pub fn answer(&self, ask: &Ask<'_>, cancel: &Cancel) -> Reply {
        let answered = self.door.open(ask).and_then(|(path, query)| match path {
            "" | "index.html" => Ok(Reply::fixed("text/html; charset=utf-8", PAGE)),
            "app.js" => {
                drop(self.redirect.lock().unwrap_or_else(PoisonError::into_inner).take());
                Ok(Reply::fixed("text/javascript; charset=utf-8", SCRIPT))
            }
            "app.css" => Ok(Reply::fixed("text/css; charset=utf-8", STYLE)),
            "api/progress" => {
                let (kind, content) = ("text/event-stream", Content::Progress);
                Ok(Reply { status: 200, kind, content, headers: Vec::new() })
            }
            "api/seen" => {
                let px = UrlQuery(query).number::<u32>("px")?.clamp(1, PX_MOST);
                Ok(Reply::json(&so_far(&self.seen, px as usize)))
            }
            _ => self.of_model(path, &UrlQuery(query), cancel).and_then(|reply| {
                // reads of rows in temporary files may have failed
                check_temporary().map_err(|error| Reply::failed(&error))?;
                Ok(reply)
            }),
        });
        let mut reply = answered.unwrap_or_else(|refused| refused);
        if reply.status != 403 && ask.origin == Some(devtools::ORIGIN) {
            reply.headers.push(("access-control-allow-origin", devtools::ORIGIN.to_owned()));
        }
        reply
    }

    fn opened(&self, model: &Model, query: &UrlQuery<'_>) -> Result<Reply, Reply> {
        let hint = "Save the slice, and drop it on the Performance panel.";
        let Some(devtools) = &self.devtools else {
            return Err(Reply::error(404, "there is no browser of its own", hint));
        };
        let TimeSpan { from, to } = window(model, query)?;
        let [from, to] = [from, to].map(|time| time - model.bounds.start);
        let route = format!("slice.json.gz?from={from}&to={to}&for=devtools");
        let name = format!("{}.slice.json.gz", self.slices.stem());
        match devtools.open(&format!("{}{route}", self.address()), &name) {
            Ok(()) => Ok(Reply::json(&json!({ "opened": true }))),
            Err(error) => Err(Reply::error(503, format!("{error}."), hint)),
        }
    }

    fn of_model(&self, path: &str, query: &UrlQuery<'_>, cancel: &Cancel) -> Result<Reply, Reply> {
        if let Some((viewers, name)) =
            self.speedscope.as_ref().zip(path.strip_prefix("speedscope/"))
        {
            return viewers.file(name);
        }
        if !is_route(path) {
            return Err(Reply::error(
                404,
                "there is nothing here",
                "The documentation lists the routes.",
            ));
        }
        let shown = self.shown()?;
        let model = shown.whole();
        let goes_on = || cancel.check().is_ok();
        let failed = |error: Error| Reply::failed(&error);
        match path {
            "api/trace" => Ok(Reply::json(&self.trace(&shown))),
            "api/overview" => {
                let px = query.number::<u32>("px")?.clamp(1, PX_MOST);
                Ok(Reply::bytes(overview(model, px, &groups(model))))
            }
            "api/tile" => drawn(&shown, query, cancel),
            "open" => self.opened(model, query),
            "api/around" => {
                let found = shown.around(event_at(model, query)?, cancel).map_err(failed)?;
                found.map(|found| Reply::json(&found)).ok_or_else(nothing)
            }
            "api/causes" | "api/tree" | "api/pages" => {
                self.of_second_pass(path, &shown, query, cancel)
            }
            "api/event" => event(&shown, query, cancel),
            "api/names" => names(model, query),
            "api/find" => {
                let from = search_start(model, query)?;
                let text = query.get("name").unwrap_or_default();
                let found = shown.find(&text, from, cancel).map_err(failed)?;
                Ok(Reply::json(&found))
            }
            "api/matches" => {
                let px = query.number::<u32>("px")?.clamp(1, PX_MOST);
                let text = query.get("q").unwrap_or_default();
                let current = query.get("at").map(|_| search_start(model, query)).transpose()?;
                let found = shown.matches(&text, px, current, cancel).map_err(failed)?;
                Ok(Reply::json(&found))
            }
            "api/stats" => {
                let window = window(model, query)?;
                let lanes = lanes_of(model, query)?;
                let summed_model = shown.summed(window, cancel).map_err(failed)?;
                let found = stats::stats(&summed_model, &lanes, window, &goes_on);
                found.map(|found| Reply::json(&found)).ok_or_else(gone)
            }
            "api/size" => {
                let (events, bytes) = shown.size(window(model, query)?).map_err(failed)?;
                Ok(Reply::json(&json!({ "events": events, "bytes": bytes, "exact": false })))
            }
            _ => {
                shown.check_unchanged().map_err(failed)?;
                self.slices.answer(path, query, model, window(model, query)?, cancel)
            }
        }
    }

    /// Answers a request that needs the causes of events, which a second pass over the inputs finds.
    fn of_second_pass(
        &self,
        path: &str,
        shown: &Shown,
        query: &UrlQuery<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, Reply> {
        self.slices.room.need_causes();
        let model = shown.whole();
        let found = match path {
            "api/causes" => {
                let at = event_at(model, query)?;
                self.causes.answer(|found| found.answer(shown, at, cancel))
            }
            "api/tree" => {
                let (lanes, span) = (lanes_of(model, query)?, window(model, query)?);
                let is_bottom_up = query.get("shape").as_deref() == Some("bottom-up");
                self.causes.answer(|found| found.tree(model, &lanes, span, is_bottom_up).map(Some))
            }
            _ => self.causes.answer(|found| found.pages(model).map(Some)),
        };
        let found = found.map_err(|error| Reply::failed(&error))?;
        found.map(|found| Reply::json(&found)).ok_or_else(nothing)
    }

    fn trace(&self, shown: &Shown) -> serde_json::Value {
        let model = shown.whole();
        let mut value = model.described(&self.title);
        value["command"] = json!(self.words);
        value["joined"] = json!(model.facts.joined);
        value["merged"] = json!(model.is_merged());
        value["warnings"] = json!(self.warnings());
        value["whole"] = json!(self.whole());
        let [devtools, speedscope] = [self.devtools.is_some(), self.speedscope.is_some()];
        value["viewers"] =
            json!({ "perfetto": self.perfetto, "devtools": devtools, "speedscope": speedscope });
        value["calls"] = match self.no_calls.get() {
            Some(why) => json!(why),
            None => json!(self.waits_for_calls(shown)),
        };
        let changed = shown.check_unchanged().err();
        value["changed"] = json!(changed.map(|error| error.to_string()));
        value
    }
}

fn is_route(path: &str) -> bool {
    const ROUTES: [&str; 14] = [
        "api/matches",
        "api/tree",
        "api/pages",
        "api/around",
        "api/causes",
        "open",
        "api/trace",
        "api/overview",
        "api/tile",
        "api/event",
        "api/names",
        "api/find",
        "api/stats",
        "api/size",
    ];
    ROUTES.contains(&path) || Slices::is_one(path)
}
