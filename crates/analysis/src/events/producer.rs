//! Detects the producer of a trace by its content, and whether DevTools' rules apply to it.

use crate::events::kinds::{Kinds, NO_CAT};
use crate::events::meta::Meta;
use tracemill_trace::event::names::Names;

/// The program that wrote a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    /// Chrome, recording for DevTools.
    Chrome,
    /// Node, writing trace events.
    Node,
    /// V8's profiler: the inputs are `.cpuprofile` files only.
    CpuProfile,
    /// PyTorch's profiler (Kineto).
    Pytorch,
    /// Clang with `-ftime-trace`.
    Clang,
    /// Bazel with `--profile`.
    Bazel,
    /// Any other program.
    Generic,
}

impl Producer {
    /// All producers.
    pub const ALL: [Producer; 7] = [
        Producer::Chrome,
        Producer::Node,
        Producer::CpuProfile,
        Producer::Pytorch,
        Producer::Clang,
        Producer::Bazel,
        Producer::Generic,
    ];

    /// Returns the name by which options select the producer.
    pub fn name(self) -> &'static str {
        match self {
            Producer::Chrome => "chrome",
            Producer::Node => "node",
            Producer::CpuProfile => "cpuprofile",
            Producer::Pytorch => "pytorch",
            Producer::Clang => "clang",
            Producer::Bazel => "bazel",
            Producer::Generic => "generic",
        }
    }

    /// Returns whether reports for this producer list durations of events instead of calls.
    pub fn is_of_slices(self) -> bool {
        !matches!(self, Producer::Chrome | Producer::CpuProfile | Producer::Clang)
    }
}

const KINETO: [&[u8]; 8] = [
    b"cpu_op",
    b"user_annotation",
    b"cuda_runtime",
    b"kernel",
    b"gpu_memcpy",
    b"gpu_memset",
    b"python_function",
    b"ac2g",
];

/// Facts from which the producer of a trace is detected.
pub(crate) struct Signs<'t> {
    pub(crate) kinds: &'t Kinds,
    pub(crate) names: &'t Names,
    pub(crate) meta: &'t Meta,
    /// Whether an event shows that Chrome recorded the trace for DevTools.
    pub(crate) is_web: bool,
    /// Whether a `.cpuprofile` is among the inputs.
    pub(crate) has_whole: bool,
    pub(crate) has_profiles: bool,
}

impl Signs<'_> {
    /// Detects the producer; Chrome takes precedence if there are several.
    pub(crate) fn producer(&self) -> Producer {
        if self.is_web && !self.has_whole && !self.meta.is_page_made() {
            return Producer::Chrome;
        }
        let mut compiler = false;
        let mut found = None;
        for (name, cat) in self.kinds() {
            compiler |= matches!(name, b"ExecuteCompiler" | b"Total ExecuteCompiler");
            let producer = match cat {
                b"build phase marker" | b"critical path component" => Some(Producer::Bazel),
                _ if KINETO.contains(&cat) || name.starts_with(b"ProfilerStep#") => {
                    Some(Producer::Pytorch)
                }
                _ if cat == b"node" || cat.starts_with(b"node,") => Some(Producer::Node),
                _ => None,
            };
            found = found.or(producer);
        }
        match found {
            Some(producer) => producer,
            None if compiler => Producer::Clang,
            None if !self.meta.node_mains.is_empty() => Producer::Node,
            None if self.is_web || self.has_whole => Producer::Chrome,
            None => Producer::Generic,
        }
    }

    /// Returns whether V8 or Blink wrote the trace. If so, DevTools' rules decide which events
    /// count, and where the trace begins and ends.
    pub(crate) fn follow_devtools(&self, producer: Producer) -> bool {
        let is_v8 = |cat: &[u8]| {
            let cat = cat.strip_prefix(b"disabled-by-default-").unwrap_or(cat);
            [&b"devtools"[..], b"blink", b"v8"].iter().any(|prefix| cat.starts_with(prefix))
        };
        matches!(producer, Producer::Chrome | Producer::Node | Producer::CpuProfile)
            || self.has_profiles
            || self.kinds().any(|(_, cats)| cats.split(|&byte| byte == b',').any(is_v8))
    }

    fn kinds(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let cats = |cat| if cat == NO_CAT { b"" } else { self.names.bytes_of(cat) };
        self.kinds.all.iter().map(move |kind| (self.names.bytes_of(kind.name), cats(kind.cat)))
    }
}
