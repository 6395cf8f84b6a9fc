//! What DevTools reads of an event without looking whether it is there: an event without it makes it refuse the whole file.
//!
//! Found by asking the engine (`chrome-devtools-frontend`) for every name that it knows, of every phase, with bare args, in traces with
//! and without a page; the test `refused` of analysis asks it again.

use tracemill_tokenizer::{Event, Field};
use tracemill_trace::json::member;

/// What an event of a name must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The member of `args` that must be there.
    pub object: &'static str,
    /// The member that must be in it, and a value that means nothing to DevTools.
    pub member: Option<(&'static str, &'static str)>,
}

/// What an event may lack so that DevTools refuses a trace for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A name that is a text.
    Name,
    /// Categories, of a `RunTask` or an `Animation`.
    Category,
    /// `args.data`, of a `TracingStartedInBrowser`.
    Start,
    /// `args`, or what DevTools reads of it by the name of the event.
    Args(ReadOn),
}

/// Where DevTools reads what an event lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadOn {
    /// Wherever it is.
    Anywhere,
    /// On the threads of processes that it shows.
    Shown,
    /// On the main thread of the page.
    MainThread,
}

/// Where DevTools reads what an event needs, and what that is; `args` itself if it is nothing in it.
type Needed = (ReadOn, Option<Need>);

/// What an event lacks, if DevTools refuses traces for it. Cost: a look at its fields.
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

/// Whether events of this name may lack something that [`lacking`] tells though they have args that are an object: asked once a name it
/// spares a look at each of its events. Cost: that of 256 comparisons with all names that matter.
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

/// As [`lacking`], where it is known whether events of the name [may lack](may_lack) something though they have args. Cost: two looks for those that may not.
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
    let begins = |field, with| event.field_and_rest(field).is_some_and(|own| own[0] == with);
    let has_all = !may_lack && begins(Field::Args, b'{') && begins(Field::Name, b'"');
    if has_all { None } else { lacking(event) }
}

/// What an event calls a thread by, if that is no text.
#[inline]
pub fn odd_thread_name<'e>(event: &Event<'e>) -> Option<&'e [u8]> {
    if !event.field_and_rest(Field::Name)?.starts_with(b"\"thread_name\"") {
        return None;
    }
    let name = member(event.field(Field::Args)?, b"name")?;
    (name != b"null" && !name.starts_with(b"\"")).then_some(name)
}

/// The event that says which frames there are.
const START: &[u8] = b"\"TracingStartedInBrowser\"";

/// `args.data`, if a condition may take it for true.
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

/// What an event lacks in `args`, if DevTools refuses a file for it wherever the event is, or where it shows it.
pub fn lacks(event: &Event<'_>) -> Option<Need> {
    let name = event.field_and_rest(Field::Name)?;
    match lack_of_args(event, name)? {
        (ReadOn::MainThread, _) => None,
        (_, need) => need,
    }
}

/// What an event lacks in `args`.
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

/// Whether `args` is all that is needed, and there: that costs next to nothing.
#[inline]
fn is_present(event: &Event<'_>, name: &[u8], need: Option<Need>) -> bool {
    let has_args = || event.field_and_rest(Field::Args).is_some_and(|args| args[0] == b'{');
    need.is_none() && name != b"BeginMainThreadFrame" && has_args()
}

/// The same of an event that may lack something.
fn missing(event: &Event<'_>, name: &[u8], needed: Needed) -> Option<Needed> {
    let args = event.field(Field::Args).filter(|args| *args != b"null");
    let Some(args) = args else {
        // it looks whether these have any
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
        // an empty URL is one
        "url" => !value(b"url").is_some_and(|url| url.starts_with(b"\"")),
        "viewport_rect" => is_null(value(b"viewport_rect")),
        _ => is_nothing(value(key.as_bytes())) && !is_soft(name, value(SOFT)),
    };
    is_missing.then_some(needed)
}

/// What a paint has in the place of `navigationId` behind a navigation that loads nothing.
const SOFT: &[u8] = b"performanceTimelineNavigationId";

fn is_soft(name: &[u8], id: Option<&[u8]>) -> bool {
    name == b"largestContentfulPaint::CandidateForSoftNavigation" && !is_nothing(id)
}

fn is_null(value: Option<&[u8]>) -> bool {
    matches!(value, None | Some(b"null"))
}

/// Whether a condition takes a value for false.
fn is_nothing(value: Option<&[u8]>) -> bool {
    matches!(value, None | Some(b"null" | b"false" | b"0" | b"\"\""))
}

/// The id that an event of a CPU profile needs, if it has none but in `id2`: DevTools tells profiles apart by pid and `id`
/// alone (devtools-semantics §3.2). It shows where it is from, so that it is none that another profile of the process has.
pub fn profile_id(event: &Event<'_>) -> Option<Vec<u8>> {
    // a look at two bytes spares nearly all
    if !matches!(event.field_and_rest(Field::Name), Some([b'"', b'P' | b'\\', ..]))
        || event.field(Field::Id).is_some()
        || !PROFILE.iter().any(|name| event.is_string(Field::Name, name))
    {
        return None;
    }
    let id2 = event.field(Field::Id2)?;
    let reaches = ["global", "local"].into_iter();
    let (reach, id) = reaches.filter_map(|own| Some((own, member(id2, own.as_bytes())?))).next()?;
    let id = match id {
        [b'"', text @ .., b'"'] => text,
        [b'0'..=b'9' | b'-', ..] => id,
        _ => return None,
    };
    Some([b"\"", reach.as_bytes(), b":", id, b"\""].concat())
}

/// The lists of a `ProfileChunk` that DevTools reads in `args.data` alone (devtools-semantics §3.5).
const STEPS: [&str; 3] = ["timeDeltas", "lines", "columns"];

/// The `data` and `cpuProfile` of a `ProfileChunk` whose `timeDeltas` are in the latter only, with the lists to be moved to
/// the former.
pub struct DeltasInside<'e> {
    /// The value of `args.data`.
    pub data: &'e [u8],
    /// The value of `args.data.cpuProfile`.
    pub profile: &'e [u8],
    /// Names and values of the lists.
    pub lists: Vec<(&'static str, &'e [u8])>,
}

/// Finds time steps of a `ProfileChunk` that DevTools does not find.
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

/// Events of CPU profiles, by name.
const PROFILE: [&[u8]; 2] = [b"Profile", b"ProfileChunk"];

/// What an event of a name and phase must have.
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

/// Events of any phase that must have `args.data`.
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

/// Events of any phase that must have `args`.
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

/// Whether DevTools pairs an event with another one.
fn has_id(event: &Event<'_>) -> bool {
    let id = event.field(Field::Id);
    !is_nothing(id) || id.is_none() && event.field(Field::Id2).is_some()
}

/// What an event must have by its categories.
#[inline]
fn need_of_category(event: &Event<'_>, name: &[u8], phase: u8) -> Option<Needed> {
    let is_source = matches!(name, b"ScriptCatchup" | b"LargeScriptCatchup");
    // most have args
    if !is_source && event.field_and_rest(Field::Args).is_some_and(|args| args[0] == b'{') {
        return None;
    }
    let need = match event.field(Field::Cat)? {
        b"\"blink.user_timing\"" if matches!(phase, b'I' | b'R') => None,
        // its end is looked at with it
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
    fn names_of_threads_are_texts_or_none() {
        for (name, is_odd) in [("5", true), ("[]", true), ("\"5\"", false), ("null", false)] {
            let event = format!(r#"{{"name":"thread_name","ph":"M","args":{{"name":{name}}}}}"#);
            let spans = fields_of(event.as_bytes());
            let lack = lacking(&spans.of(event.as_bytes()));
            assert_eq!(lack, is_odd.then_some(Lack::Args(ReadOn::Anywhere)), "{event}");
        }
    }

    /// What is told by the name alone holds of all phases, categories and args.
    #[test]
    fn names_tell_of_what_nothing_is_lacking() {
        let names = "RunTask Animation TracingStartedInBrowser thread_name process_name BeginMainThreadFrame ScriptCatchup \
            LargeScriptCatchup Screenshot FunctionCall ParseHTML TimerFire PaintImage TimeStamp DrawFrame Layout firstPaint \
            MarkLoad ResourceSendRequest Paint UpdateLayoutTree CompositeLayers EventTiming ProfileChunk Painter x";
        let (mut told, mut lacks) = (0, 0);
        for name in names.split_whitespace() {
            let is_told = !may_lack(name.as_bytes());
            told += usize::from(is_told);
            for phase in 'A'..='z' {
                for cat in ["blink.user_timing", "disabled-by-default-devtools.v8-source-rundown"] {
                    for args in [r#"{}"#, r#"{"data":null}"#, r#"{"name":5}"#] {
                        let event = format!(
                            r#"{{"name":"{name}","ph":"{}","cat":"{cat}","args":{args}}}"#,
                            if phase == '\\' { '/' } else { phase }
                        );
                        let spans = fields_of(event.as_bytes());
                        let lack = lacking(&spans.of(event.as_bytes()));
                        assert!(lack.is_none() || !is_told, "{event}");
                        assert_eq!(lacking_of(&spans.of(event.as_bytes()), !is_told), lack);
                        lacks += usize::from(lack.is_some());
                    }
                }
            }
        }
        assert!(told >= 7 && lacks > 1000, "{told}, {lacks}");
    }

    #[test]
    fn what_is_lacking_is_found() {
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
