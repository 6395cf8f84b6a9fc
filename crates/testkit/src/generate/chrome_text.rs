//! Names for Chrome-like traces, and fast text output.

pub(super) const NAMES: &[&str] = &[
    "RunTask",
    "FunctionCall",
    "v8.compile",
    "MinorGC",
    "MajorGC",
    "UpdateLayoutTree",
    "EvaluateScript",
    "V8.GCScavenger",
    "ThreadPool_RunTask",
    "SimpleWatcher::OnHandleReady",
    "PrePaint",
    "RasterTask",
    "ThreadControllerImpl::RunTask",
    "HTMLDocumentParser::pumpTokenizer",
    "Scheduler::BeginFrame",
    "ResourceFetcher::requestResource",
    "StyleEngine::UpdateActiveStyle",
    "CompositeLayers",
    "LocalFrameView::performLayout",
    "LayerTreeHostImpl::PrepareToDraw",
];
pub(super) const CATEGORIES: &[&str] = &[
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "toplevel",
    "v8",
    "cc",
    "loading",
    "blink,devtools.timeline",
    "disabled-by-default-v8.gc",
    "ipc,toplevel",
];
pub(super) const THREADS: &[&str] = &[
    "CrRendererMain",
    "Compositor",
    "ThreadPoolForegroundWorker",
    "Chrome_ChildIOThread",
    "v8:ProfEvntProc",
    "GpuMemoryThread",
];

/// Text under construction; appends strings and numbers without formatting machinery.
pub(super) struct TextBuilder(pub(super) Vec<u8>);

impl TextBuilder {
    #[inline]
    pub(super) fn str(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    #[inline]
    pub(super) fn num(&mut self, mut value: u64) -> &mut Self {
        let mut digits = [0_u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        self.0.extend_from_slice(&digits[at..]);
        self
    }

    #[inline]
    pub(super) fn hex(&mut self, value: u64) -> &mut Self {
        let digits = (64 - value.leading_zeros()).div_ceil(4).max(1);
        for i in (0..digits).rev() {
            self.0.push(b"0123456789abcdef"[(value >> (4 * i) & 15) as usize]);
        }
        self
    }
}
