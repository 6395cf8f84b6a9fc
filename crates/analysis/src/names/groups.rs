//! Groups of rows, as DevTools' UI classes derive them from events (`TimelineTreeView`,
//! `TimelineUIUtils`).

use crate::entries::Entry;
use crate::entries::walk::Counted;
use crate::events::entities::Owner;
use crate::events::kinds::{NO_CAT, flag};
use crate::events::styles::style;
use crate::profile::functions::{Frame, IDLE, IDLE_LABEL};
use crate::profile::model::Model;
use crate::trace::{Thread, Trace, id_text};
use crate::tree::views::{Identify, Received, ReceivedKind};
use crate::value::args::is_of_request;
use crate::value::urls::{Url, package, without_query};
use std::cell::RefCell;
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::hash::HashMap;

/// The grouping of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupBy {
    /// Does not group rows.
    #[default]
    None,
    /// Groups rows by DevTools' name of the event.
    Activity,
    /// Groups rows by DevTools' category of the event.
    Category,
    /// Groups rows by the last two labels of the URL's host.
    Domain,
    /// Groups rows by page frame.
    Frame,
    /// Groups rows by the URL's host.
    Subdomain,
    /// Groups rows by URL.
    Url,
    /// Groups rows by owner of the URL: companies of [`Trace::entities`], else root domains.
    ThirdParty,
    /// Groups rows by package: the last one in `node_modules`, Node itself, third-party code marked
    /// by source maps, native functions, else no package.
    Package,
    /// Groups rows by file: URL or path without query and fragment. Native functions are a group.
    File,
    /// Groups rows by process.
    Process,
    /// Groups rows by thread.
    Thread,
}

impl GroupBy {
    /// All groupings.
    pub const ALL: [GroupBy; 12] = [
        GroupBy::None,
        GroupBy::Activity,
        GroupBy::Category,
        GroupBy::Domain,
        GroupBy::Frame,
        GroupBy::Subdomain,
        GroupBy::Url,
        GroupBy::ThirdParty,
        GroupBy::Package,
        GroupBy::File,
        GroupBy::Process,
        GroupBy::Thread,
    ];

    /// Returns the name by which options select the grouping.
    pub fn name(self) -> &'static str {
        match self {
            GroupBy::None => "none",
            GroupBy::Activity => "activity",
            GroupBy::Category => "category",
            GroupBy::Domain => "domain",
            GroupBy::Frame => "frame",
            GroupBy::Subdomain => "subdomain",
            GroupBy::Url => "url",
            GroupBy::ThirdParty => "third-party",
            GroupBy::Package => "package",
            GroupBy::File => "file",
            GroupBy::Process => "process",
            GroupBy::Thread => "thread",
        }
    }
}

/// Group by package or file of calls to functions without a script.
const NATIVE_GROUP: &[u8] = b"[native]";

/// Flag of ids of calls, which are numbers of functions; other ids are numbers of texts.
const CALL: u32 = 1 << 31;

/// Key of the cache of groups: whether the entry is a call, its kind or node, and its details.
type Asked = (bool, u32, u32);

/// The numbers on which the id, label and location of an entry depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// A call of this function of the thread's profile.
    Call(u32),
    /// An event of this kind, with the texts of its row and title.
    Event(u32, u32, u32),
}

/// Ids, groups and labels of the entries of a thread.
pub struct Ids<'t> {
    pub(crate) trace: &'t Trace,
    thread: &'t Thread,
    pub(crate) by: GroupBy,
    /// Whether to leave out, as DevTools does, labels of events without categories, and owners of
    /// functions in standalone CPU profiles.
    pub(crate) as_devtools: bool,
    /// Whether third-party groups depend only on owners. If so, V8's own functions have no group.
    by_owner: bool,
    /// Prefix of DevTools' keys of calls.
    pub(crate) call_keys: String,
    /// Names of groups, and a cache of the groups of entries.
    groups: RefCell<(Names, HashMap<Asked, u32>)>,
}

impl<'t> Ids<'t> {
    pub(crate) fn new(
        trace: &'t Trace,
        thread: &'t Thread,
        by: GroupBy,
        as_devtools: bool,
    ) -> Self {
        let [pid, tid] = [&thread.pid, &thread.tid].map(|id| id_text(id));
        let (by_owner, call_keys) = (false, format!("p-{pid}-{tid}-"));
        Ids { trace, thread, by, as_devtools, by_owner, call_keys, groups: RefCell::default() }
    }

    /// Makes third-party groups depend only on the owner of each entry.
    pub fn by_owner(self) -> Self {
        Ids { by_owner: true, ..self }
    }

    pub(crate) fn model(&self) -> Option<&'t Model> {
        self.thread.model.as_deref()
    }

    pub(crate) fn name(&self, entry: &Entry) -> &'t [u8] {
        self.trace.names.bytes_of(self.trace.kinds.all[entry.kind as usize].name)
    }

    pub(crate) fn cat(&self, entry: &Entry) -> &'t [u8] {
        match self.trace.kinds.all[entry.kind as usize].cat {
            NO_CAT => b"",
            cat => self.trace.names.bytes_of(cat),
        }
    }

    /// Returns the function of a call.
    pub fn frame(&self, entry: &Entry) -> Option<Frame> {
        if !entry.is_call() {
            return None;
        }
        Some(self.model()?.frame(entry.kind))
    }

    /// Returns the numbers on which the id, label and location of an entry depend.
    #[inline]
    pub fn named(&self, entry: &Entry) -> Named {
        if entry.is_call() {
            return Named::Call(self.model().map_or(0, |model| model.node(entry.kind).frame));
        }
        let details = &self.trace.details.all[entry.details as usize];
        Named::Event(entry.kind, details.row, details.title)
    }

    /// Returns the number of the reserved colour that an event names.
    pub(crate) fn color(&self, entry: &Entry) -> u8 {
        match entry.is_call() {
            true => 0,
            false => self.trace.details.all[entry.details as usize].color,
        }
    }

    /// Returns the text of a row id.
    pub fn text(&self, id: u32) -> String {
        match self.model().filter(|_| id & CALL != 0) {
            Some(model) => model.row_text(id & !CALL, &self.trace.names),
            None => self.trace.names.text(id),
        }
    }

    pub(crate) fn frame_url(&self, entry: &Entry) -> Option<String> {
        let url = self.frame(entry)?.url;
        (url != 0).then(|| self.trace.names.text(url))
    }

    /// Returns the title and category of an entry (DevTools: `eventStyle`).
    pub(crate) fn style(&self, entry: &Entry) -> (String, &'static str) {
        let title = match self.frame(entry) {
            Some(frame) if frame.function == IDLE => "ProfileCall".to_owned(),
            Some(_) => "JS frame".to_owned(),
            None => {
                let style = style(self.name(entry)).filter(|_| !self.is_from_console(entry));
                let plain = || unescaped_text(self.name(entry));
                style.map_or_else(plain, |style| style.title.to_owned())
            }
        };
        (title, self.category(entry))
    }

    /// Returns the category of an entry (DevTools: `eventStyle`).
    pub(crate) fn category(&self, entry: &Entry) -> &'static str {
        match self.frame(entry) {
            Some(frame) => frame.category(),
            None if self.is_from_console(entry) => "scripting",
            None => style(self.name(entry)).map_or("other", |style| style.category),
        }
    }

    /// Returns whether an event comes from `console` or from `performance.mark` and `measure`.
    fn is_from_console(&self, entry: &Entry) -> bool {
        matches!(self.cat(entry), b"blink.console" | b"blink.user_timing")
    }

    fn url(&self, entry: &Entry) -> &'t [u8] {
        if let Some(frame) = self.frame(entry) {
            return self.trace.names.bytes_of(frame.url);
        }
        if self.is_image(entry)
            && let Some(url) =
                entry.event_number().and_then(|number| self.trace.image_urls.get(&number))
        {
            return url;
        }
        let details = &self.trace.details.all[entry.details as usize];
        match details.url {
            0 if !details.is_located => self.url_of_request(entry),
            url => self.trace.names.bytes_of(url),
        }
    }

    fn is_image(&self, entry: &Entry) -> bool {
        !entry.is_call() && self.trace.flags[entry.kind as usize] & flag::IMAGE != 0
    }

    /// Returns whether the group of an event may differ from that of events with equal details, so
    /// that it is not cached.
    fn is_single(&self, entry: &Entry) -> bool {
        !entry.is_call() && self.trace.flags[entry.kind as usize] & (flag::IMAGE | flag::ONCE) != 0
    }

    /// Returns the URL of an event's request. Returns an empty text if the event has no request.
    fn url_of_request(&self, entry: &Entry) -> &'t [u8] {
        let id = match self.trace.details.all[entry.details as usize].request {
            0 => return b"",
            request => self.trace.names.bytes_of(request),
        };
        self.trace.meta.requests.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the owner of an entry (DevTools: `entityForEvent`). Events of a request have the
    /// owner of its final URL. Other entries that overlap their parent have no owner.
    pub fn owner(&self, entry: &Entry) -> Option<Owner> {
        let entities = &self.trace.entities;
        if let Some(frame) = self.frame(entry) {
            let is_alone = self.as_devtools && self.trace.is_cpu_profile;
            let is_of_nobody = is_alone || !entry.has_place();
            let owner = || entities.owner(self.trace.names.bytes_of(frame.url));
            return (!is_of_nobody).then(owner).flatten();
        }
        let of_request = self.is_of_request(entry).then(|| self.url_of_request(entry));
        of_request.and_then(|url| entities.owner(url)).or_else(|| {
            let url = self.trace.details.all[entry.details as usize].url;
            entities.owner(self.trace.names.bytes_of(url)).filter(|_| entry.has_place())
        })
    }

    fn is_of_request(&self, entry: &Entry) -> bool {
        is_of_request(self.name(entry))
            && entry.event_number().is_some_and(|number| {
                let is_once = self.trace.flags[entry.kind as usize] & flag::ONCE != 0;
                !is_once || self.trace.of_requests.contains(&number)
            })
    }

    /// Returns the domain group of an entry (DevTools: `domainByEvent`).
    fn domain(&self, entry: &Entry) -> Vec<u8> {
        let url = self.url(entry);
        let is_by_owner = self.by == GroupBy::ThirdParty;
        let owner = || self.owner(entry).filter(|_| is_by_owner);
        if url.is_empty() {
            return owner().map_or_else(Vec::new, |entity| entity.extension.unwrap_or(entity.name));
        }
        for special in [&b"extensions::"[..], b"native "] {
            if url.starts_with(special) {
                return special.to_vec();
            }
        }
        let Some(parts) = Url::parse(url) else { return Vec::new() };
        if parts.scheme == b"chrome-extension" {
            return [&*parts.scheme, b"://", parts.host].concat();
        }
        if is_by_owner {
            return owner().map_or_else(Vec::new, |entity| entity.name);
        }
        parts.domain(self.by == GroupBy::Subdomain).to_vec()
    }

    /// Returns whether the entry is a call to V8's `(idle)`.
    pub fn is_idle(&self, entry: &Entry) -> bool {
        self.frame(entry).is_some_and(|frame| frame.function == IDLE)
    }

    /// Returns whether the entry is a call to a function without a script: code of V8 or of the
    /// program that embeds it.
    fn is_native(&self, entry: &Entry) -> bool {
        entry.is_call() && {
            let url = self.url(entry);
            url.is_empty() || url.starts_with(b"native ")
        }
    }

    fn group_text(&self, entry: &Entry) -> Vec<u8> {
        if !self.as_devtools && self.is_idle(entry) {
            return IDLE_LABEL.into();
        }
        match self.by {
            GroupBy::None => Vec::new(),
            GroupBy::Activity => self.style(entry).0.into_bytes(),
            GroupBy::Category => self.style(entry).1.as_bytes().to_vec(),
            GroupBy::Url => self.url(entry).to_vec(),
            _ if self.by_owner => self.owner(entry).map(|owner| owner.name).unwrap_or_default(),
            GroupBy::Domain | GroupBy::Subdomain | GroupBy::ThirdParty => self.domain(entry),
            GroupBy::Package | GroupBy::File if self.is_native(entry) => NATIVE_GROUP.into(),
            GroupBy::Package => {
                let is_library = self
                    .frame(entry)
                    .is_some_and(|frame| self.trace.libraries.contains(&frame.url));
                match package(self.url(entry)) {
                    b"[no package]" if is_library => b"[library]".to_vec(),
                    package => package.to_vec(),
                }
            }
            GroupBy::File => without_query(self.url(entry)).to_vec(),
            GroupBy::Process => self.process().into_bytes(),
            GroupBy::Thread => {
                let name = self.thread.name.as_deref().unwrap_or_default();
                let ids = format!("{}/{}", self.thread.pid_text(), self.thread.tid_text());
                format!("{ids} {name}").trim_end().to_owned().into_bytes()
            }
            GroupBy::Frame => {
                let frame = match entry.is_call() {
                    true => 0,
                    false => self.trace.details.all[entry.details as usize].frame,
                };
                match frame {
                    0 => self.trace.meta.main_frame.clone().unwrap_or_default(),
                    frame => self.trace.names.bytes_of(frame).to_vec(),
                }
            }
        }
    }

    /// Returns the pid, followed by the process name if the process has one.
    fn process(&self) -> String {
        let name = self.trace.meta.process_names.get(&self.thread.pid);
        let name = name.map(|name| unescaped_text(name)).unwrap_or_default();
        format!("{} {name}", self.thread.pid_text()).trim_end().to_owned()
    }

    pub(crate) fn group_id(&self, group: u32) -> String {
        self.groups.borrow().0.text(group)
    }
}

impl Identify for Ids<'_> {
    #[inline]
    fn id(&self, entry: &Entry) -> u32 {
        if entry.is_call() {
            return CALL | entry.row();
        }
        match self.trace.details.all[entry.details as usize].row {
            0 => self.trace.kinds.all[entry.kind as usize].name,
            row => row,
        }
    }

    fn group(&self, entry: &Entry) -> u32 {
        if self.is_single(entry) || !entry.has_place() {
            return self.groups.borrow_mut().0.number(&self.group_text(entry));
        }
        // Calls in different samples have the same group.
        let details = if entry.is_call() { 0 } else { entry.details };
        let key = (entry.is_call(), entry.kind, details);
        if let Some(&known) = self.groups.borrow().1.get(&key) {
            return known;
        }
        let text = self.group_text(entry);
        let (names, known) = &mut *self.groups.borrow_mut();
        let number = names.number(&text);
        known.insert(key, number);
        number
    }

    #[inline]
    fn cpu_time(&self, Counted { written, entry }: &Counted, sum: f64) -> Option<f64> {
        let whole = self.trace.cpu_time(written)?;
        let clock = self.trace.clock;
        let uncut = |entry: &Entry| clock.sum(entry.end()) - clock.sum(entry.ts);
        let is_whole = entry.dur == written.dur && sum == uncut(entry);
        Some(if is_whole { whole } else { whole * (sum / uncut(written)) })
    }

    #[inline]
    fn received(&self, entry: &Entry) -> Option<Received> {
        if entry.is_call() || self.trace.flags[entry.kind as usize] & flag::RECEIVED == 0 {
            return None;
        }
        let details = &self.trace.details.all[entry.details as usize];
        let kind = match self.name(entry) {
            b"ResourceReceivedData" => ReceivedKind::Data,
            b"ResourceFinish" => ReceivedKind::Finish,
            _ => ReceivedKind::Response,
        };
        let (bytes, is_cached) = (f64::from_bits(details.bytes), details.is_cached);
        Some(Received { bytes, kind, is_cached })
    }
}
