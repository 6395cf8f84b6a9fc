//! DevTools' titles and categories of events, and whether it draws them; one row per event, by
//! name.
//!
//! From `models/trace/Styles.ts` of npm `chrome-devtools-frontend@1.0.1705227` (Copyright The
//! Chromium Authors, BSD-3-Clause): names, titles and categories only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventStyle {
    pub(crate) title: &'static str,
    pub(crate) category: &'static str,
    /// Whether DevTools does not draw the events.
    pub(crate) hidden: bool,
}

/// Returns the style of events with this name, if DevTools knows them.
pub(crate) fn style(name: &[u8]) -> Option<EventStyle> {
    let found = STYLES.binary_search_by(|(known, ..)| known.as_bytes().cmp(name)).ok()?;
    let (_, title, category, hidden) = STYLES[found];
    Some(EventStyle { title, category, hidden })
}

/// Returns DevTools' title of events with this name, if it differs from the name.
///
/// ```
/// assert_eq!(tracemill_analysis::title_of("RunTask"), Some("Task"));
/// ```
pub fn title_of(name: &str) -> Option<&'static str> {
    style(name.as_bytes()).map(|style| style.title).filter(|title| *title != name)
}

/// Returns the names of events whose DevTools title `is_meant` accepts.
///
/// ```
/// let names = tracemill_analysis::names_titled(|title| title == "Function call");
/// assert_eq!(names, ["FunctionCall"]);
/// ```
pub fn names_titled(is_meant: impl Fn(&str) -> bool) -> Vec<&'static str> {
    STYLES.iter().filter(|style| is_meant(style.1)).map(|style| style.0).collect()
}

/// Returns the names of the events that DevTools knows, with their categories.
///
/// ```
/// assert!(tracemill_analysis::names_with_categories().any(|known| known == ("FunctionCall", "scripting")));
/// ```
pub fn names_with_categories() -> impl Iterator<Item = (&'static str, &'static str)> {
    STYLES.iter().map(|style| (style.0, style.2))
}

/// Name, title, category, and whether it is hidden.
const STYLES: [(&str, &str, &str, bool); 113] = [
    ("AbortPostTaskCallback", "Cancel postTask", "scripting", false),
    ("Animation", "Animation", "rendering", false),
    ("AsyncTask", "Async task", "async", false),
    ("BeginFrame", "Frame start", "rendering", true),
    ("BeginMainThreadFrame", "Frame start (main thread)", "rendering", true),
    ("BlinkGC.AtomicPhase", "DOM GC", "scripting", false),
    ("CancelAnimationFrame", "Cancel animation frame", "scripting", false),
    ("CancelIdleCallback", "Cancel idle callback", "scripting", false),
    ("Commit", "Commit", "painting", false),
    ("CompositeLayers", "Composite layers", "painting", false),
    ("ComputeIntersections", "Compute intersections", "rendering", false),
    ("ConsoleTime", "Console time", "scripting", false),
    ("CppGC.IncrementalSweep", "C++ GC", "scripting", false),
    ("CpuProfiler::StartProfiling", "Profiling overhead", "other", false),
    ("Decode Image", "Image decode", "painting", false),
    ("DoDecrypt", "Decrypt", "scripting", false),
    ("DoDecryptReply", "Decrypt reply", "scripting", false),
    ("DoDigest", "Digest", "scripting", false),
    ("DoDigestReply", "Digest reply", "scripting", false),
    ("DoEncrypt", "Encrypt", "scripting", false),
    ("DoEncryptReply", "Encrypt reply", "scripting", false),
    ("DoSign", "Sign", "scripting", false),
    ("DoSignReply", "Sign reply", "scripting", false),
    ("DoVerify", "Verify", "scripting", false),
    ("DoVerifyReply", "Verify reply", "scripting", false),
    ("DrawFrame", "Draw frame", "rendering", true),
    ("EmbedderCallback", "Embedder callback", "scripting", false),
    ("EvaluateScript", "Evaluate script", "scripting", false),
    ("EventDispatch", "Event", "scripting", false),
    ("EventTiming", "Event timing", "experience", false),
    ("FireAnimationFrame", "Animation frame fired", "scripting", false),
    ("FireIdleCallback", "Fire idle callback", "scripting", false),
    ("FrameStartedLoading", "Frame started loading", "loading", true),
    ("FunctionCall", "Function call", "scripting", false),
    ("GCEvent", "GC event", "scripting", false),
    ("GPUTask", "GPU", "gpu", false),
    ("HandlePostMessage", "On message", "messaging", false),
    ("HitTest", "Hit test", "rendering", false),
    ("InvalidateLayout", "Invalidate layout", "rendering", true),
    ("JSSample", "JSSample", "scripting", false),
    ("Layerize", "Layerize", "rendering", false),
    ("Layout", "Layout", "rendering", false),
    ("LayoutShift", "Layout shift", "experience", true),
    ("MajorGC", "Major GC", "scripting", false),
    ("MarkDOMContent", "DOMContentLoaded event", "scripting", true),
    ("MarkLoad", "Onload event", "scripting", true),
    ("MinorGC", "Minor GC", "scripting", false),
    ("Paint", "Paint", "painting", false),
    ("PaintImage", "Paint image", "painting", true),
    ("PaintSetup", "Paint setup", "painting", false),
    ("ParseAuthorStyleSheet", "Parse stylesheet", "loading", false),
    ("ParseHTML", "Parse HTML", "loading", false),
    ("PrePaint", "Pre-paint", "rendering", false),
    ("ProfileCall", "JS frame", "scripting", false),
    ("Program", "Other", "other", false),
    ("RasterTask", "Rasterize paint", "painting", false),
    ("RequestAnimationFrame", "Request animation frame", "scripting", false),
    ("RequestIdleCallback", "Request idle callback", "scripting", false),
    ("RequestMainThreadFrame", "Request main thread frame", "rendering", true),
    ("ResourceFinish", "Finish loading", "loading", false),
    ("ResourceReceiveResponse", "Receive response", "loading", false),
    ("ResourceReceivedData", "Receive data", "loading", false),
    ("ResourceSendRequest", "Send request", "loading", false),
    ("ResourceWillSendRequest", "Will send request", "loading", false),
    ("RunMicrotasks", "Run microtasks", "scripting", false),
    ("RunPostTaskCallback", "Fire postTask", "scripting", false),
    ("RunTask", "Task", "other", false),
    ("SchedulePostMessage", "Schedule postMessage", "messaging", false),
    ("SchedulePostTaskCallback", "Schedule postTask", "scripting", false),
    ("ScheduleStyleRecalculation", "Schedule style recalculation", "rendering", false),
    ("ScrollLayer", "Scroll", "rendering", false),
    ("SoftNavigationStart", "Soft navigation start", "loading", true),
    ("SyntheticLayoutShift", "Layout shift", "experience", false),
    ("SyntheticLayoutShiftCluster", "Layout shift cluster", "experience", false),
    ("SyntheticSoftFirstContentfulPaint", "Soft First Contentful Paint", "rendering", true),
    ("TimeStamp", "Timestamp", "scripting", false),
    ("TimerFire", "Timer fired", "scripting", false),
    ("TimerInstall", "Install timer", "scripting", false),
    ("TimerRemove", "Remove timer", "scripting", false),
    ("UpdateLayer", "Update layer", "painting", true),
    ("UpdateLayerTree", "Update layer tree", "rendering", false),
    ("UpdateLayoutTree", "Recalculate style", "rendering", false),
    ("UserTiming", "User timing", "scripting", false),
    ("V8.CompileCode", "Compile code", "scripting", false),
    ("V8.CompileModule", "Compile module", "scripting", false),
    ("V8.FinalizeDeserialization", "Profiling overhead", "other", false),
    ("V8.OptimizeCode", "Optimize code", "scripting", false),
    ("V8Console::runTask", "Run console task", "scripting", false),
    ("WebSocketCreate", "Create WebSocket", "scripting", false),
    ("WebSocketDestroy", "Destroy WebSocket", "scripting", false),
    ("WebSocketReceive", "Receive WebSocket message", "scripting", false),
    ("WebSocketReceiveHandshakeResponse", "Receive WebSocket handshake", "scripting", false),
    ("WebSocketSend", "Send WebSocket message", "scripting", false),
    ("WebSocketSendHandshakeRequest", "Send WebSocket handshake", "scripting", false),
    ("XHRLoad", "`XHR` load", "scripting", false),
    ("XHRReadyStateChange", "`XHR` `readyState` change", "scripting", false),
    ("firstContentfulPaint", "First Contentful Paint", "rendering", true),
    ("firstPaint", "First Paint", "painting", true),
    ("largestContentfulPaint::Candidate", "Largest Contentful Paint", "rendering", true),
    (
        "largestContentfulPaint::CandidateForSoftNavigation",
        "Soft Largest Contentful Paint",
        "rendering",
        true,
    ),
    ("v8.compile", "Compile script", "scripting", false),
    ("v8.deserializeOnBackground", "Deserialize code cache", "scripting", false),
    ("v8.evaluateModule", "Evaluate module", "scripting", false),
    ("v8.parseOnBackground", "Streaming compile task", "other", false),
    ("v8.parseOnBackgroundParsing", "Parse and compile", "scripting", false),
    ("v8.parseOnBackgroundWaiting", "Waiting for network", "idle", false),
    ("v8.produceCache", "Cache script code", "scripting", false),
    ("v8.produceModuleCache", "Cache module code", "scripting", false),
    ("v8.wasm.cachedModule", "Cached Wasm module", "scripting", false),
    ("v8.wasm.compiledModule", "Compiled Wasm module", "scripting", false),
    ("v8.wasm.moduleCacheHit", "Wasm module cache hit", "scripting", false),
    ("v8.wasm.moduleCacheInvalid", "Wasm module cache invalid", "scripting", false),
    ("v8.wasm.streamFromResponseCallback", "Streaming Wasm response", "scripting", false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_sorted_by_name() {
        assert!(STYLES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(style(b"FunctionCall").map(|style| style.title), Some("Function call"));
        assert_eq!(style(b"no such event"), None);
    }
}
