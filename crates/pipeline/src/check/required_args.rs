//! What DevTools reads of the args of an event, by its name, without looking whether it is there: an event without it makes it
//! refuse the whole file.
//!
//! Found by asking the engine (`chrome-devtools-frontend`) for every name that it knows, with bare args, in a trace with and
//! without a page.

use tracemill_core::json::member;
use tracemill_tokenizer::{Event, Field};

/// What an event of a name must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// The member of `args` that must be an object.
    pub(crate) object: &'static str,
    /// The member that must be in it, and a value that means nothing to DevTools.
    pub(crate) member: Option<(&'static str, &'static str)>,
}

/// What an event may lack so that DevTools refuses a trace for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A name, where its time is not 0.
    Name,
    /// Categories, of a `RunTask`.
    Category,
    /// `args.data`, of a `TracingStartedInBrowser`.
    Args,
}

/// What an event lacks, if DevTools refuses every trace for it. Cost: a look at its fields.
pub fn lacking(event: &Event<'_>) -> Option<Lack> {
    if matches!(event.field(Field::Name), None | Some(b"null")) {
        // what has no time is not at 0 either
        let is_at_zero = event.ts().is_some_and(|ts| ts.floor == 0 && ts.exact);
        return (!is_at_zero).then_some(Lack::Name);
    }
    if event.field(Field::Cat).is_none() && event.is_string(Field::Name, b"RunTask") {
        return Some(Lack::Category);
    }
    let is_bare_start =
        || event.is_string(Field::Name, b"TracingStartedInBrowser") && page_data(event).is_none();
    is_bare_start().then_some(Lack::Args)
}

/// `args.data`, if it is an object.
pub(crate) fn page_data<'e>(event: &Event<'e>) -> Option<&'e [u8]> {
    member(event.field(Field::Args)?, b"data").filter(|data| data.starts_with(b"{"))
}

const DATA: Need = Need { object: "data", member: None };
const BEGIN: Need = Need { object: "beginData", member: None };
const CONTEXT: Need = Need { object: "context", member: None };
const NAVIGATION: Need = Need { object: "data", member: Some(("navigationId", "\"none\"")) };
const FRAME: Need = Need { object: "data", member: Some(("frame", "\"none\"")) };
const URL: Need = Need { object: "data", member: Some(("url", "\"\"")) };

/// What an event lacks, if DevTools refuses a file for it.
pub(crate) fn lacks(event: &Event<'_>) -> Option<Need> {
    let need = need_of(event.field_and_rest(Field::Name)?)?;
    let object = event.field(Field::Args).and_then(|args| member(args, need.object.as_bytes()));
    let Some(object) = object.filter(|object| object.starts_with(b"{")) else { return Some(need) };
    let (name, _) = need.member?;
    match member(object, name.as_bytes()) {
        None | Some(b"null" | b"false" | b"0") => Some(need),
        // an empty URL is one
        Some(b"\"\"") if name != "url" => Some(need),
        Some(_) => None,
    }
}

/// The id that an event of a CPU profile needs, if it has none but in `id2`: DevTools tells profiles apart by pid and `id`
/// alone (devtools-semantics §3.2). It shows where it is from, so that it is none that another profile of the process has.
pub(crate) fn profile_id(event: &Event<'_>) -> Option<Vec<u8>> {
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

/// Events of CPU profiles, by name.
const PROFILE: [&[u8]; 2] = [b"Profile", b"ProfileChunk"];

/// What an event must have whose name, with its quotes, begins `text`.
#[inline]
fn need_of(text: &[u8]) -> Option<Need> {
    // most names begin like none of these
    let [b'"', b'A' | b'F' | b'I' | b'L' | b'M' | b'P' | b'R'..=b'T' | b'W' | b'f' | b'l', ..] =
        text
    else {
        return None;
    };
    let end = text[1..].iter().take(64).position(|&byte| byte == b'"')? + 1;
    Some(match &text[1..end] {
        b"AbortPostTaskCallback"
        | b"FireIdleCallback"
        | b"InvalidateLayout"
        | b"LayoutShift"
        | b"Paint"
        | b"PaintImage"
        | b"ParseAuthorStyleSheet"
        | b"PreloadRenderBlockingStatusChange"
        | b"RequestIdleCallback"
        | b"ResourceFinish"
        | b"ResourceMarkAsCached"
        | b"ResourceReceiveResponse"
        | b"ResourceReceivedData"
        | b"ResourceWillSendRequest"
        | b"RunPostTaskCallback"
        | b"SchedulePostTaskCallback"
        | b"ScheduleStyleRecalculation"
        | b"SetLayerTreeId"
        | b"StyleInvalidatorInvalidationTracking"
        | b"StyleRecalcInvalidationTracking"
        | b"TimerFire"
        | b"TimerInstall"
        | b"WebSocketCreate"
        | b"WebSocketDestroy"
        | b"WebSocketReceive"
        | b"WebSocketReceiveHandshakeResponse"
        | b"WebSocketSend"
        | b"WebSocketSendHandshakeRequest" => DATA,
        b"ParseHTML" => BEGIN,
        b"SoftNavigationStart" => CONTEXT,
        b"firstPaint"
        | b"firstContentfulPaint"
        | b"SyntheticSoftFirstContentfulPaint"
        | b"largestContentfulPaint::Candidate"
        | b"largestContentfulPaint::CandidateForSoftNavigation" => NAVIGATION,
        b"MarkLoad" | b"MarkDOMContent" => FRAME,
        b"ResourceSendRequest" => URL,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

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
            (r#"{"name":"ParseHTML","args":{"data":{}}}"#, Some(BEGIN)),
            (r#"{"args":{}}"#, None),
        ] {
            let spans = fields_of(event.as_bytes());
            assert_eq!(lacks(&spans.of(event.as_bytes())), need, "{event}");
        }
    }
}
