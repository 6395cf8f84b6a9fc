//! The members of `args` that the scan reads. Most events have none of them.

use crate::value::Value;
use crate::value::typed::{List, Object, object};
use std::borrow::Cow;

object! {
    pub(crate) struct Args {
        pub(crate) data: Object<Data>, begin_data: Object<BeginData>, sample_trace_id, pub(crate) detail, pub(crate) count,
        #[serde(rename = "LazyPixelRef")] pub(crate) lazy_pixel_ref,
    }

    pub(crate) struct Data {
        sample_trace_id, frame, pub(crate) url, stylesheet_url, stack_trace: List<Object<Located>, 1>, pub(crate) request_id,
        pub(crate) encoded_data_length, pub(crate) from_cache, pub(crate) name, pub(crate) message, pub(crate) r#type,
    }

    struct BeginData { sample_trace_id, frame, url }

    /// A stack frame; only its URL is read.
    struct Located { url }
}

object! {
    /// Members of `args` that say why events ran.
    pub(crate) struct CauseArgs {
        pub(crate) data: Object<CauseData>, pub(crate) begin_data: Object<CauseBegin>, pub(crate) stack_trace: List<Object<WrittenFrame>>,
        pub(crate) task_name, pub(crate) trace_id,
    }

    pub(crate) struct CauseData {
        pub(crate) frame, pub(crate) timer_id, pub(crate) id, pub(crate) identifier, pub(crate) task_id, pub(crate) trigger_async_id,
        pub(crate) stack_trace: List<Object<WrittenFrame>>,
        function_name, url, script_id, line_number, column_number,
    }

    pub(crate) struct CauseBegin { pub(crate) frame, pub(crate) stack_trace: List<Object<WrittenFrame>> }

    /// A frame of a stack in `args`.
    pub(crate) struct WrittenFrame {
        pub(crate) function_name, pub(crate) url, pub(crate) script_id, pub(crate) line_number, pub(crate) column_number,
    }
}

impl CauseData {
    /// Returns the function of a `FunctionCall`, if all its members exist.
    pub(crate) fn frame_of_call(&mut self) -> Option<WrittenFrame> {
        let members = [
            &self.function_name,
            &self.url,
            &self.script_id,
            &self.line_number,
            &self.column_number,
        ];
        let is_whole = members.iter().all(|member| **member != Value::Missing);
        is_whole.then(|| WrittenFrame {
            function_name: std::mem::take(&mut self.function_name),
            url: std::mem::take(&mut self.url),
            script_id: std::mem::take(&mut self.script_id),
            line_number: std::mem::take(&mut self.line_number),
            column_number: std::mem::take(&mut self.column_number),
        })
    }
}

static NO_TEXT: Value = Value::Text(Vec::new());

impl Args {
    /// Returns the id of a request, converted as in a JavaScript template.
    pub(crate) fn request_id(&self) -> Cow<'_, [u8]> {
        self.data.0.as_ref().map_or(b"undefined".into(), |data| data.request_id.template())
    }

    /// Returns the trace id of a sample (DevTools: `extractSampleTraceId`). If `args` has
    /// `beginData`, reads no other member.
    pub(crate) fn trace_id(&self) -> Option<f64> {
        let value = match (&self.begin_data.0, &self.sample_trace_id, &self.data.0) {
            (Some(begin), ..) => &begin.sample_trace_id,
            (None, Value::Missing | Value::Null, Some(data)) => &data.sample_trace_id,
            (None, value, _) => value,
        };
        value.number().filter(|id| *id != 0.0)
    }

    /// Returns the frame id (DevTools: `frameIDForEvent`).
    pub(crate) fn frame(&self) -> Option<&Value> {
        let begin = self.begin_data.0.as_ref().map(|begin| &begin.frame);
        let begin = begin.filter(|frame| frame.text().is_some());
        begin.or_else(|| self.data.0.as_ref()?.frame.truthy())
    }

    /// Returns the URL of an event with this name, and the id of its request (DevTools:
    /// `getNonResolvedURL`). If the event has no URL, that of the request applies.
    pub(crate) fn url_or_request(&self, name: &[u8]) -> (Option<&Value>, Option<&Value>) {
        let data = self.data.0.as_ref();
        let is_there = |value: &&Value| **value != Value::Missing;
        let request = data.map(|data| &data.request_id).filter(is_there);
        // Events of a request keep its id, whether or not they have a URL.
        let named_request = request.filter(|_| is_of_request(name));
        if name == b"ParseAuthorStyleSheet" {
            return (data.map(|data| &data.stylesheet_url).filter(is_there), named_request);
        }
        if let Some(Object(first)) = data.and_then(|data| data.stack_trace.0.as_ref()?.first()) {
            let url = first.as_ref().map(|frame| &frame.url).filter(is_there);
            return (Some(url.unwrap_or(&NO_TEXT)), named_request);
        }
        if name == b"ParseHTML" {
            let begin = self.begin_data.0.as_ref();
            return (begin.map(|begin| &begin.url).filter(is_there), named_request);
        }
        match data.and_then(|data| data.url.truthy()) {
            Some(url) => (Some(url), named_request),
            None => (None, named_request.or(request.and_then(Value::truthy))),
        }
    }
}

/// Returns whether events with this name belong to a network request.
pub(crate) fn is_of_request(name: &[u8]) -> bool {
    matches!(
        name,
        b"ResourceChangePriority"
            | b"ResourceWillSendRequest"
            | b"ResourceSendRequest"
            | b"ResourceReceiveResponse"
            | b"ResourceReceivedData"
            | b"ResourceFinish"
            | b"ResourceMarkAsCached"
            | b"PreloadRenderBlockingStatusChange"
    )
}
