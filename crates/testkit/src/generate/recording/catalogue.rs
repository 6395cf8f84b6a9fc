//! Events that DevTools knows, with the args that DevTools requires. DevTools rejects a whole file
//! if an event lacks these args.

use super::parts::{FRAMES, URLS};
use crate::Rng;
use serde_json::{Value, json};

/// Names of slices on threads of pages and Node.
pub(super) const NAMES: [&str; 66] = [
    "FunctionCall",
    "FunctionCall",
    "FunctionCall",
    "EvaluateScript",
    "EvaluateScript",
    "EventDispatch",
    "EventDispatch",
    "TimerFire",
    "FireAnimationFrame",
    "FireIdleCallback",
    "RunPostTaskCallback",
    "AbortPostTaskCallback",
    "HandlePostMessage",
    "RunMicrotasks",
    "V8.Execute",
    "v8.compile",
    "v8.run",
    "v8.evaluateModule",
    "v8.produceCache",
    "v8.parseOnBackground",
    "v8.parseOnBackgroundWaiting",
    "V8.CompileCode",
    "V8.CompileModule",
    "V8.GCScavenger",
    "V8.OptimizeCode",
    "V8.FinalizeDeserialization",
    "V8Console::runTask",
    "v8::Debugger::AsyncTaskRun",
    "v8::Debugger::AsyncTaskScheduled",
    "MinorGC",
    "MajorGC",
    "GCEvent",
    "BlinkGC.AtomicPhase",
    "CppGC.IncrementalSweep",
    "Layout",
    "UpdateLayoutTree",
    "PrePaint",
    "Paint",
    "PaintImage",
    "Decode Image",
    "Decode LazyPixelRef",
    "Layerize",
    "Commit",
    "CompositeLayers",
    "RasterTask",
    "ImageDecodeTask",
    "UpdateLayer",
    "UpdateLayerTree",
    "ScrollLayer",
    "HitTest",
    "ComputeIntersections",
    "IntersectionObserverController::computeIntersections",
    "ParseHTML",
    "ParseAuthorStyleSheet",
    "XHRReadyStateChange",
    "XHRLoad",
    "GPUTask",
    "DoEncrypt",
    "EmbedderCallback",
    "CpuProfiler::StartProfiling",
    "Program",
    "UserTiming",
    "ConsoleTime",
    "Animation",
    "Blink.Something::UMA",
    "of nobody",
];

pub(super) const MOMENTS: [&str; 42] = [
    "TimerInstall",
    "TimerRemove",
    "RequestAnimationFrame",
    "CancelAnimationFrame",
    "RequestIdleCallback",
    "CancelIdleCallback",
    "SchedulePostTaskCallback",
    "SchedulePostMessage",
    "HandlePostMessage",
    "ScheduleStyleRecalculation",
    "InvalidateLayout",
    "MarkDOMContent",
    "MarkLoad",
    "UpdateCounters",
    "WebSocketCreate",
    "WebSocketSendHandshakeRequest",
    "WebSocketReceiveHandshakeResponse",
    "WebSocketSend",
    "WebSocketReceive",
    "WebSocketDestroy",
    "ResourceWillSendRequest",
    "ResourceSendRequest",
    "ResourceReceiveResponse",
    "ResourceReceivedData",
    "ResourceFinish",
    "ResourceMarkAsCached",
    "ResourceChangePriority",
    "PreloadRenderBlockingStatusChange",
    "TimeStamp",
    "TimeStamp",
    "BeginFrame",
    "DrawFrame",
    "DroppedFrame",
    "BeginMainThreadFrame",
    "RequestMainThreadFrame",
    "ActivateLayerTree",
    "NeedsBeginFrameChanged",
    "SetLayerTreeId",
    "FrameStartedLoading",
    "Draw LazyPixelRef",
    "LayoutShift",
    "EventDispatch",
];

/// Returns the categories of an event name in Chrome, if they are unusual.
pub(super) fn categories(name: &str) -> Option<&'static str> {
    Some(match name {
        "TimeStamp" => "disabled-by-default-v8.inspector",
        "UserTiming" => "blink.user_timing",
        "ConsoleTime" => "blink.console",
        "Animation" => "blink.animations,devtools.timeline,benchmark,rail",
        _ => return None,
    })
}

/// Returns args for an event name: everything that DevTools reads unconditionally, and sometimes
/// more.
pub(super) fn args(rng: &mut Rng, name: &str) -> Value {
    if let Some(args) = drawn(rng, name) {
        return args;
    }
    let known = called(rng, name).or_else(|| requested(rng, name)).or_else(|| rendered(rng, name));
    let data = match known {
        Some(data) => data,
        None if rng.chance(30) => return json!({}),
        None if rng.chance(40) => with(url(rng), frame(rng)),
        None => json!({}),
    };
    json!({"data": stacked(rng, data)})
}

fn url(rng: &mut Rng) -> Value {
    json!({"url": rng.pick(&URLS)})
}

fn frame(rng: &mut Rng) -> Value {
    json!({"frame": rng.pick(&FRAMES)})
}

fn id(rng: &mut Rng, name: &str) -> Value {
    json!({name: rng.below(4)})
}

/// Returns the args of events with members outside `data`.
fn drawn(rng: &mut Rng, name: &str) -> Option<Value> {
    Some(match name {
        "ParseHTML" => {
            let begin = with(frame(rng), url(rng));
            json!({"beginData": stacked(rng, begin), "endData": {"endLine": 3}})
        }
        "Layout" | "UpdateLayoutTree" => {
            let begin = frame(rng);
            json!({"beginData": stacked(rng, begin), "endData": {}, "elementCount": 3})
        }
        "Decode LazyPixelRef" | "Draw LazyPixelRef" => id(rng, "LazyPixelRef"),
        "BeginFrame" | "DrawFrame" | "DroppedFrame" | "Commit" => {
            json!({"layerTreeId": 1, "frameSeqId": rng.below(3)})
        }
        "ActivateLayerTree"
        | "RequestMainThreadFrame"
        | "NeedsBeginFrameChanged"
        | "CompositeLayers" => json!({"layerTreeId": 1, "data": {"needsBeginFrame": 1}}),
        "v8::Debugger::AsyncTaskScheduled" => json!({"taskName": "Promise.then"}),
        "Decode Image" => json!({"imageType": "JPEG"}),
        "V8.CompileModule" | "v8.run" => json!({"fileName": rng.pick(&URLS)}),
        "LayoutShift" => {
            let data = json!({"weighted_score_delta": 0.01, "had_recent_input": rng.chance(50)});
            json!({"frame": rng.pick(&FRAMES), "data": data})
        }
        _ => return None,
    })
}

/// Returns `data` of events that run or schedule JavaScript.
fn called(rng: &mut Rng, name: &str) -> Option<Value> {
    Some(match name {
        "EventDispatch" => {
            json!({"type": rng.pick(&["click", "load", "DOMContentLoaded", "", "größer"])})
        }
        "TimerInstall" | "TimerFire" | "TimerRemove" => with(id(rng, "timerId"), frame(rng)),
        "FireAnimationFrame" | "RequestAnimationFrame" | "CancelAnimationFrame" => {
            with(id(rng, "id"), frame(rng))
        }
        "RequestIdleCallback" | "CancelIdleCallback" => with(id(rng, "id"), frame(rng)),
        "FireIdleCallback" => {
            with(id(rng, "id"), json!({"allottedMilliseconds": 1, "timedOut": false}))
        }
        "RunPostTaskCallback" | "AbortPostTaskCallback" | "SchedulePostTaskCallback" => {
            id(rng, "taskId")
        }
        "XHRReadyStateChange" | "XHRLoad" | "v8.compile" | "v8.produceCache" | "EvaluateScript" => {
            with(url(rng), frame(rng))
        }
        "FunctionCall" => {
            let place = json!({"scriptId": "3", "lineNumber": 1, "columnNumber": 2});
            let named = with(place, json!({"functionName": "f", "isolate": "1"}));
            with(named, with(url(rng), frame(rng)))
        }
        "TimeStamp" => stamp(rng),
        _ => return None,
    })
}

fn requested(rng: &mut Rng, name: &str) -> Option<Value> {
    if name.starts_with("WebSocket") {
        return Some(with(id(rng, "identifier"), with(url(rng), frame(rng))));
    }
    if !name.starts_with("Resource") && !name.starts_with("Preload") {
        return None;
    }
    let request = json!({"requestId": format!("7.{}", rng.below(6))});
    let more = match name {
        "ResourceSendRequest" => with(url(rng), json!({"frame": "F", "priority": "High"})),
        "ResourceReceiveResponse" => {
            json!({"fromCache": rng.chance(30), "mimeType": "text/css", "encodedDataLength": rng.below(900)})
        }
        "ResourceReceivedData" => json!({"encodedDataLength": rng.below(9000)}),
        "ResourceFinish" => json!({"encodedDataLength": rng.below(9000), "didFail": false}),
        _ => json!({"priority": "Low", "renderBlocking": "blocking"}),
    };
    Some(with(request, more))
}

fn rendered(rng: &mut Rng, name: &str) -> Option<Value> {
    Some(match name {
        "ParseAuthorStyleSheet" => json!({"stylesheetUrl": rng.pick(&URLS), "styleSheetUrl": "x:"}),
        "PaintImage" => with(url(rng), frame(rng)),
        "SetLayerTreeId" => with(frame(rng), json!({"layerTreeId": 1})),
        "BeginMainThreadFrame" => id(rng, "frameId"),
        "Paint" => with(frame(rng), id(rng, "layerId")),
        "ScheduleStyleRecalculation" | "InvalidateLayout" | "MarkDOMContent" | "MarkLoad" => {
            frame(rng)
        }
        "FrameStartedLoading" | "PrePaint" | "ScrollLayer" | "UpdateLayerTree" => frame(rng),
        "UpdateCounters" => json!({"jsHeapSizeUsed": 1e6, "nodes": 12, "documents": 1}),
        _ => return None,
    })
}

/// Returns args of `console.timeStamp`: a name, and sometimes times, or a track and the names of
/// other time stamps.
fn stamp(rng: &mut Rng) -> Value {
    let name = rng.pick(&["start", "end", "größer", ""]);
    match rng.index(5) {
        0 => json!({"message": name}),
        1 => json!({"name": rng.below(4)}),
        2 => {
            json!({"name": name, "start": "start", "end": "end", "track": "Track", "trackGroup": "Group", "color": "primary"})
        }
        3 => {
            json!({"name": name, "message": "said", "start": 5_000_100, "end": 5_000_300, "track": "Track", "devtools": "{\"a\":1}"})
        }
        _ => json!({"name": name, "message": name, "sampleTraceId": 3}),
    }
}

fn stacked(rng: &mut Rng, args: Value) -> Value {
    let call = |rng: &mut Rng| json!({"functionName": "g", "scriptId": "1", "url": rng.pick(&URLS), "lineNumber": 3, "columnNumber": 1});
    let stack = match rng.index(12) {
        0 => json!([]),
        1 => json!([call(rng)]),
        2 => json!([call(rng), call(rng)]),
        _ => return args,
    };
    with(args, json!({"stackTrace": stack}))
}

fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}
