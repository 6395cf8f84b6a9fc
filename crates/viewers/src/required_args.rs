//! Fields that DevTools reads without checking that they exist. If an event lacks one, DevTools
//! refuses the whole file.
//!
//! The list comes from running the engine (`chrome-devtools-frontend`) on every event name and
//! phase that it knows, with minimal args, with and without a page. The test `refused` of analysis
//! repeats that.

use tracemill_tokenizer::{Event, Field};
use tracemill_trace::json::member;

/// A member of `args` that DevTools requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Name of the required member of `args`.
    pub object: &'static str,
    /// Name of the required member of that object, and a neutral value to insert.
    pub member: Option<(&'static str, &'static str)>,
}

/// The missing field for which DevTools refuses a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A `name` that is a string.
    Name,
    /// The `cat` of a `RunTask` or an `Animation` event.
    Category,
    /// The `args.data` of a `TracingStartedInBrowser` event.
    Start,
    /// The `args`, or the member of `args` that events of this name require.
    Args(ReadOn),
}

/// Threads on which DevTools reads a required field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadOn {
    /// All threads.
    Anywhere,
    /// Threads of the processes that DevTools shows.
    Shown,
    /// The main thread of the page.
    MainThread,
}

/// The threads on which DevTools reads a field, and the field. `None` means `args` itself.
type Needed = (ReadOn, Option<Need>);

/// Returns the missing field for which DevTools refuses the trace, if there is one.
#[inline]
pub fn lacking(event: &Event<'_>) -> Option<Lack> {
    let Some(name @ [b'"', ..]) = event.field_and_rest(Field::Name) else {
        return Some(Lack::Name);
    };
    if name.starts_with(b"\"RunTask\"") || name.starts_with(b"\"Animation\"") {
        let has_cat = matches!(event.field_and_rest(Field::Cat), Some([b'"', ..]));
        if !has_cat {
            return Some(Lack::Category);
        }
    }
    if name.starts_with(START) {
        return page_data(event).is_none().then_some(Lack::Start);
    }
    if odd_thread_name(event).is_some() {
        return Some(Lack::Args(ReadOn::Anywhere));
    }
    lack_of_args(event, name).map(|(reach, _)| Lack::Args(reach))
}

/// Returns whether events of this name can lack a required field even if `args` is an object.
///
/// One call per name spares a check of each event. Cost: up to 256 comparisons with each name that
/// has requirements.
///
/// ```
/// use tracemill_viewers::required_args::may_lack;
///
/// assert!(may_lack(b"Layout") && !may_lack(b"my own work"));
/// ```
pub fn may_lack(name: &[u8]) -> bool {
    const OTHERS: [&[u8]; 7] = [
        b"RunTask",
        b"Animation",
        crate::essential::STARTED,
        b"thread_name",
        b"BeginMainThreadFrame",
        b"ScriptCatchup",
        b"LargeScriptCatchup",
    ];
    let needs_more = |phase| need_of(name, phase).is_some_and(|(_, need)| need.is_some());
    OTHERS.contains(&name) || (0..=u8::MAX).any(needs_more)
}

/// Returns the same as [`lacking`], given whether events of this name [may lack](may_lack) a field.
/// Reads only two bytes of most events.
///
/// ```
/// use tracemill_viewers::required_args::{lacking, lacking_of, may_lack};
/// use tracemill_tokenizer::fields_of;
///
/// for text in [&br#"{"name":"TimeStamp","ph":"I","args":{}}"#[..], br#"{"name":"TimeStamp","ph":"I"}"#] {
///     let spans = fields_of(text);
///     let event = spans.of(text);
///     assert_eq!(lacking_of(&event, may_lack(b"TimeStamp")), lacking(&event));
/// }
/// ```
#[inline]
pub fn lacking_of(event: &Event<'_>, may_lack: bool) -> Option<Lack> {
    let begins = |field, with| event.field_and_rest(field).is_some_and(|value| value[0] == with);
    let has_all = !may_lack && begins(Field::Args, b'{') && begins(Field::Name, b'"');
    if has_all { None } else { lacking(event) }
}

/// Returns the thread name in a `thread_name` event if it is not a string.
#[inline]
pub fn odd_thread_name<'e>(event: &Event<'e>) -> Option<&'e [u8]> {
    if !event.field_and_rest(Field::Name)?.starts_with(b"\"thread_name\"") {
        return None;
    }
    let name = member(event.field(Field::Args)?, b"name")?;
    (name != b"null" && !name.starts_with(b"\"")).then_some(name)
}

/// Name of the event that lists the frames, with its quotes.
const START: &[u8] = b"\"TracingStartedInBrowser\"";

/// Returns `args.data`, unless JavaScript would treat it as false.
pub fn page_data<'e>(event: &Event<'e>) -> Option<&'e [u8]> {
    member(event.field(Field::Args)?, b"data").filter(|data| !is_nothing(Some(data)))
}

const DATA: Need = Need { object: "data", member: None };
const BEGIN: Need = Need { object: "beginData", member: None };
const CONTEXT: Need = Need { object: "context", member: None };
const HOST: Need = Need { object: "render_frame_host", member: None };
const VIEWPORT: Need = Need { object: "data", member: Some(("viewport_rect", "[0,0,0,0,0,0]")) };
const NAVIGATION: Need = Need { object: "data", member: Some(("navigationId", "\"none\"")) };
const FRAME: Need = Need { object: "data", member: Some(("frame", "\"none\"")) };
const URL: Need = Need { object: "data", member: Some(("url", "\"\"")) };

/// Returns the missing member of `args`, unless DevTools requires it on main threads only.
pub fn lacks(event: &Event<'_>) -> Option<Need> {
    let name = event.field_and_rest(Field::Name)?;
    match lack_of_args(event, name)? {
        (ReadOn::MainThread, _) => None,
        (_, need) => need,
    }
}

/// Returns the requirement of `args` that an event does not meet.
#[inline]
fn lack_of_args(event: &Event<'_>, name: &[u8]) -> Option<Needed> {
    let end = name[1..].iter().take(64).position(|&byte| byte == b'"')? + 1;
    let name = &name[1..end];
    let phase = event.phase();
    let lack = |needed: Option<Needed>| match needed? {
        (_, need) if is_present(event, name, need) => None,
        needed => missing(event, name, needed),
    };
    lack(need_of(name, phase)).or_else(|| lack(need_of_category(event, name, phase)))
}

/// Returns whether the event needs only an object as `args`, and has such an object.
#[inline]
fn is_present(event: &Event<'_>, name: &[u8], need: Option<Need>) -> bool {
    let has_args = || event.field_and_rest(Field::Args).is_some_and(|args| args[0] == b'{');
    need.is_none() && name != b"BeginMainThreadFrame" && has_args()
}

/// Returns `needed` if the event does not meet it.
fn missing(event: &Event<'_>, name: &[u8], needed: Needed) -> Option<Needed> {
    let args = event.field(Field::Args).filter(|args| *args != b"null");
    let Some(args) = args else {
        // DevTools tolerates that these two have no args
        let looks = matches!(name, b"ParseAuthorStyleSheet" | b"Layout") && needed.1.is_some();
        return (!looks).then_some(needed);
    };
    let Some(need) = needed.1 else {
        let is_main = name == b"BeginMainThreadFrame" && is_null(member(args, b"data"));
        return is_main.then_some((ReadOn::MainThread, Some(DATA)));
    };
    let object = member(args, need.object.as_bytes());
    if name == b"Layout" {
        return (object == Some(b"null")).then_some(needed);
    }
    if is_null(object) {
        return Some(needed);
    }
    let value = |name: &[u8]| object.and_then(|object| member(object, name));
    let (key, _) = need.member?;
    let is_missing = match key {
        // an empty URL is a URL
        "url" => !value(b"url").is_some_and(|url| url.starts_with(b"\"")),
        "viewport_rect" => is_null(value(b"viewport_rect")),
        _ => is_nothing(value(key.as_bytes())) && !is_soft(name, value(SOFT)),
    };
    is_missing.then_some(needed)
}

/// The member that soft navigations have in place of `navigationId`.
const SOFT: &[u8] = b"performanceTimelineNavigationId";

fn is_soft(name: &[u8], id: Option<&[u8]>) -> bool {
    name == b"largestContentfulPaint::CandidateForSoftNavigation" && !is_nothing(id)
}

fn is_null(value: Option<&[u8]>) -> bool {
    matches!(value, None | Some(b"null"))
}

/// Returns whether JavaScript treats a value as false.
fn is_nothing(value: Option<&[u8]>) -> bool {
    matches!(value, None | Some(b"null" | b"false" | b"0" | b"\"\""))
}

/// Returns an `id` for an event of a CPU profile that only has `id2`.
///
/// DevTools identifies profiles by pid and `id` alone. The new id contains the scope (`global` or
/// `local`), so that it is unique in the process.
pub fn profile_id(event: &Event<'_>) -> Option<Vec<u8>> {
    // two bytes of the name rule out nearly all events
    if !matches!(event.field_and_rest(Field::Name), Some([b'"', b'P' | b'\\', ..]))
        || event.field(Field::Id).is_some()
        || !PROFILE.iter().any(|name| event.is_string(Field::Name, name))
    {
        return None;
    }
    let id2 = event.field(Field::Id2)?;
    let reaches = ["global", "local"].into_iter();
    let (reach, id) = reaches.filter_map(|key| Some((key, member(id2, key.as_bytes())?))).next()?;
    let id = match id {
        [b'"', text @ .., b'"'] => text,
        [b'0'..=b'9' | b'-', ..] => id,
        _ => return None,
    };
    Some([b"\"", reach.as_bytes(), b":", id, b"\""].concat())
}

/// The names of `ProfileChunk` lists that DevTools reads only in `args.data`.
const STEPS: [&str; 3] = ["timeDeltas", "lines", "columns"];

/// A `ProfileChunk` whose `timeDeltas` are in `cpuProfile` instead of `data`, and the lists to
/// move.
pub struct DeltasInside<'e> {
    /// The value of `args.data`.
    pub data: &'e [u8],
    /// The value of `args.data.cpuProfile`.
    pub profile: &'e [u8],
    /// Names and values of the lists to move to `data`.
    pub lists: Vec<(&'static str, &'e [u8])>,
}

/// Returns the time steps of a `ProfileChunk` that DevTools would not find, if there are any.
pub fn deltas_inside<'e>(event: &Event<'e>) -> Option<DeltasInside<'e>> {
    if !event.is_string(Field::Name, b"ProfileChunk") {
        return None;
    }
    let data = page_data(event)?;
    let profile = member(data, b"cpuProfile")?;
    let is_inside = |list: &str| member(data, list.as_bytes()).is_none();
    let inside = STEPS.iter().filter(|list| is_inside(list));
    let lists: Vec<_> =
        inside.filter_map(|&list| Some((list, member(profile, list.as_bytes())?))).collect();
    lists.iter().any(|(list, _)| *list == STEPS[0]).then_some(DeltasInside { data, profile, lists })
}

const PROFILE: [&[u8]; 2] = [b"Profile", b"ProfileChunk"];

/// Returns the requirement on an event of this name and phase.
#[inline]
fn need_of(name: &[u8], phase: u8) -> Option<Needed> {
    let is_complete = phase == b'X';
    let anywhere = |need| Some((ReadOn::Anywhere, need));
    match name {
        b"FunctionCall" if is_complete => anywhere(None),
        b"ParseHTML" if matches!(phase, b'X' | b'I' | b'B') => Some((ReadOn::Shown, Some(BEGIN))),
        b"ParseAuthorStyleSheet" if matches!(phase, b'X' | b'B') => {
            Some((ReadOn::Shown, Some(DATA)))
        }
        b"FireIdleCallback"
        | b"TimerFire"
        | b"RunPostTaskCallback"
        | b"AbortPostTaskCallback"
        | b"PaintImage"
            if is_complete =>
        {
            anywhere(Some(DATA))
        }
        b"RenderFrameHostImpl::DidCommitSameDocumentNavigation" if is_complete => {
            anywhere(Some(HOST))
        }
        b"TimeStamp" | b"DrawFrame" if phase == b'I' => anywhere(None),
        b"Layout" => anywhere(Some(BEGIN)),
        b"PaintTimingVisualizer::Viewport" => anywhere(Some(VIEWPORT)),
        b"SoftNavigationStart" => anywhere(Some(CONTEXT)),
        b"firstPaint"
        | b"firstContentfulPaint"
        | b"SyntheticSoftFirstContentfulPaint"
        | b"largestContentfulPaint::Candidate"
        | b"largestContentfulPaint::CandidateForSoftNavigation" => anywhere(Some(NAVIGATION)),
        b"MarkLoad" | b"MarkDOMContent" => anywhere(Some(FRAME)),
        b"ResourceSendRequest" => anywhere(Some(URL)),
        name if needs_data(name) => anywhere(Some(DATA)),
        name if needs_args(name) => anywhere(None),
        _ => None,
    }
}

/// Returns whether events of this name require `args.data` in every phase.
#[inline]
fn needs_data(name: &[u8]) -> bool {
    matches!(
        name,
        b"DOMStats"
            | b"InvalidateLayout"
            | b"LayoutShift"
            | b"Paint"
            | b"PreloadRenderBlockingStatusChange"
            | b"RequestIdleCallback"
            | b"ResourceChangePriority"
            | b"ResourceFinish"
            | b"ResourceMarkAsCached"
            | b"ResourceReceiveResponse"
            | b"ResourceReceivedData"
            | b"ResourceWillSendRequest"
            | b"SchedulePostTaskCallback"
            | b"ScheduleStyleRecalculation"
            | b"SetLayerTreeId"
            | b"StyleInvalidatorInvalidationTracking"
            | b"StyleRecalcInvalidationTracking"
            | b"TimerInstall"
            | b"WebSocketCreate"
            | b"WebSocketDestroy"
            | b"WebSocketReceive"
            | b"WebSocketReceiveHandshakeResponse"
            | b"WebSocketSend"
            | b"WebSocketSendHandshakeRequest"
    )
}

/// Returns whether events of this name require `args` in every phase.
#[inline]
fn needs_args(name: &[u8]) -> bool {
    matches!(
        name,
        b"ActivateLayerTree"
            | b"BeginMainThreadFrame"
            | b"BeginRemoteFontLoad"
            | b"CommitLoad"
            | b"CompositeLayers"
            | b"EventTiming"
            | b"FrameCommittedInBrowser"
            | b"InteractiveTime"
            | b"LargestImagePaint::Candidate"
            | b"LargestTextPaint::Candidate"
            | b"LayoutInvalidationTracking"
            | b"MetaCharsetCheck"
            | b"NeedsBeginFrameChanged"
            | b"ProfileChunk"
            | b"RequestMainThreadFrame"
            | b"ScheduleStyleInvalidationTracking"
            | b"TracingSessionIdForWorker"
            | b"UpdateLayoutTree"
            | b"UserTiming::Measure"
            | b"navigationStart"
            | b"process_name"
            | b"thread_name"
    )
}

/// Returns whether an event has an id by which DevTools pairs it.
fn has_id(event: &Event<'_>) -> bool {
    let id = event.field(Field::Id);
    !is_nothing(id) || id.is_none() && event.field(Field::Id2).is_some()
}

/// Returns the requirement that follows from the category of an event.
#[inline]
fn need_of_category(event: &Event<'_>, name: &[u8], phase: u8) -> Option<Needed> {
    let is_source = matches!(name, b"ScriptCatchup" | b"LargeScriptCatchup");
    // most events have args
    if !is_source && event.field_and_rest(Field::Args).is_some_and(|args| args[0] == b'{') {
        return None;
    }
    let need = match event.field(Field::Cat)? {
        b"\"blink.user_timing\"" if matches!(phase, b'I' | b'R') => None,
        // DevTools checks the end event together with its begin event
        b"\"blink.user_timing\"" if phase == b'b' && has_id(event) => None,
        b"\"disabled-by-default-devtools.target-rundown\"" => None,
        b"\"disabled-by-default-devtools.v8-source-rundown\"" if name == b"ScriptCatchup" => {
            Some(DATA)
        }
        b"\"disabled-by-default-devtools.v8-source-rundown-sources\"" if is_source => Some(DATA),
        _ if name == b"Screenshot" && event.field(Field::Id).is_some() => None,
        _ => return None,
    };
    Some((ReadOn::Anywhere, need))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    #[test]
    fn thread_names_must_be_strings_or_null() {
        for (name, is_odd) in [("5", true), ("[]", true), ("\"5\"", false), ("null", false)] {
            let event = format!(r#"{{"name":"thread_name","ph":"M","args":{{"name":{name}}}}}"#);
            let spans = fields_of(event.as_bytes());
            let lack = lacking(&spans.of(event.as_bytes()));
            assert_eq!(lack, is_odd.then_some(Lack::Args(ReadOn::Anywhere)), "{event}");
        }
    }

    /// Checks that events of exempt names never lack a field, in any phase, with any category and
    /// any args.
    #[test]
    fn names_that_may_not_lack_a_field_never_do() {
        let names = "RunTask Animation TracingStartedInBrowser thread_name process_name BeginMainThreadFrame ScriptCatchup \
            LargeScriptCatchup Screenshot FunctionCall ParseHTML TimerFire PaintImage TimeStamp DrawFrame Layout firstPaint \
            MarkLoad ResourceSendRequest Paint UpdateLayoutTree CompositeLayers EventTiming ProfileChunk Painter x";
        let (mut exempt, mut lacks) = (0, 0);
        for name in names.split_whitespace() {
            let is_exempt = !may_lack(name.as_bytes());
            exempt += usize::from(is_exempt);
            for phase in 'A'..='z' {
                for cat in ["blink.user_timing", "disabled-by-default-devtools.v8-source-rundown"] {
                    for args in [r#"{}"#, r#"{"data":null}"#, r#"{"name":5}"#] {
                        let event = format!(
                            r#"{{"name":"{name}","ph":"{}","cat":"{cat}","args":{args}}}"#,
                            if phase == '\\' { '/' } else { phase }
                        );
                        let spans = fields_of(event.as_bytes());
                        let lack = lacking(&spans.of(event.as_bytes()));
                        assert!(lack.is_none() || !is_exempt, "{event}");
                        assert_eq!(lacking_of(&spans.of(event.as_bytes()), !is_exempt), lack);
                        lacks += usize::from(lack.is_some());
                    }
                }
            }
        }
        assert!(exempt >= 7 && lacks > 1000, "{exempt}, {lacks}");
    }

    #[test]
    fn finds_missing_args() {
        for (event, need) in [
            (r#"{"name":"Paint","args":{}}"#, Some(DATA)),
            (r#"{"name":"Paint"}"#, Some(DATA)),
            (r#"{"name":"Paint","args":{"data":null}}"#, Some(DATA)),
            (r#"{"name":"Paint","args":{"data":{}}}"#, None),
            (r#"{"name":"Painter","args":{}}"#, None),
            (r#"{"name":"firstPaint","args":{"data":{"navigationId":""}}}"#, Some(NAVIGATION)),
            (r#"{"name":"firstPaint","args":{"data":{"navigationId":"1"}}}"#, None),
            (r#"{"name":"ResourceSendRequest","args":{"data":{"url":""}}}"#, None),
            (r#"{"name":"ParseHTML","ph":"X","args":{"data":{}}}"#, Some(BEGIN)),
            (r#"{"name":"ParseHTML","ph":"E"}"#, None),
            (r#"{"name":"PaintImage","ph":"E","args":{}}"#, None),
            (r#"{"name":"Layout","ph":"X","args":{"data":{}}}"#, None),
            (r#"{"name":"thread_name","ph":"M"}"#, None),
            (r#"{"args":{}}"#, None),
        ] {
            let spans = fields_of(event.as_bytes());
            assert_eq!(lacks(&spans.of(event.as_bytes())), need, "{event}");
        }
    }
}
