//! Who wrote a trace, told by what is in it.

use crate::kinds::NO_CAT;
use crate::trace::Trace;

/// What wrote a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    /// Chrome, for DevTools.
    Chrome,
    /// Node, with trace events.
    Node,
    /// V8's profiler alone: `.cpuprofile`.
    CpuProfile,
    /// PyTorch's profiler (Kineto).
    Pytorch,
    /// clang -ftime-trace.
    Clang,
    /// Bazel, --profile.
    Bazel,
    /// Anything else.
    Generic,
}

impl Producer {
    /// All of them.
    pub const ALL: [Producer; 7] = [
        Producer::Chrome,
        Producer::Node,
        Producer::CpuProfile,
        Producer::Pytorch,
        Producer::Clang,
        Producer::Bazel,
        Producer::Generic,
    ];

    /// Its name, as options have it.
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

    /// Whether single events say more than calls: how long they last is a section then.
    pub fn is_of_slices(self) -> bool {
        !matches!(self, Producer::Chrome | Producer::CpuProfile | Producer::Clang)
    }
}

/// Categories of Kineto.
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

impl Trace {
    /// Who wrote it. Of traces by several Chrome goes before the others.
    pub fn producer(&self) -> Producer {
        if self.is_cpu_profile {
            return Producer::CpuProfile;
        }
        let alone = |thread: &crate::trace::Thread| self.stands_alone(thread).is_some();
        if !self.is_generic && !self.threads.iter().any(alone) {
            return Producer::Chrome;
        }
        let mut compiler = false;
        let mut found = None;
        for kind in &self.kinds.all {
            let name = self.names.bytes_of(kind.name);
            let cat = if kind.cat == NO_CAT { b"" } else { self.names.bytes_of(kind.cat) };
            compiler |= matches!(name, b"ExecuteCompiler" | b"Total ExecuteCompiler");
            let own = match cat {
                b"build phase marker" | b"critical path component" => Some(Producer::Bazel),
                _ if KINETO.contains(&cat) || name.starts_with(b"ProfilerStep#") => {
                    Some(Producer::Pytorch)
                }
                _ if cat == b"node" || cat.starts_with(b"node,") => Some(Producer::Node),
                _ => None,
            };
            found = found.or(own);
        }
        let is_node =
            |thread: &crate::trace::Thread| thread.name.as_deref() == Some("JavaScriptMainThread");
        match found {
            Some(own) => own,
            None if compiler => Producer::Clang,
            None if self.threads.iter().any(is_node) => Producer::Node,
            None if !self.is_generic => Producer::Chrome,
            None => Producer::Generic,
        }
    }
}
