//! Classifies kernels by name, as HTA does.

use tracemill_analysis::events::devices::Role;
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::hash::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Compute,
    Communication,
    Memory,
    /// A kernel that waits, or an unknown activity.
    Other,
}

impl Class {
    fn of(role: Role, name: &[u8]) -> Self {
        let has = |part: &[u8]| memchr::memmem::find(name, part).is_some();
        let is_memory =
            ["Memcpy", "Memset", "dma"].iter().any(|prefix| name.starts_with(prefix.as_bytes()));
        match () {
            () if name.starts_with(b"nccl") && has(b"Kernel") => Class::Communication,
            () if name.starts_with(b"gloo:") => Class::Communication,
            () if is_memory || role == Role::Memory => Class::Memory,
            () if has(b"Memcpy") || has(b"Sync") => Class::Other,
            () => Class::Compute,
        }
    }

    pub(super) fn mask(self) -> Mask {
        match self {
            Class::Compute => Mask::COMPUTE,
            Class::Communication => Mask::COMMUNICATION,
            Class::Memory => Mask::MEMORY,
            Class::Other => Mask::OTHER,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Class::Compute => "compute",
            Class::Communication => "communication",
            Class::Memory => "memory",
            Class::Other => "other",
        }
    }
}

/// A set of classes, with one bit per class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask(u8);

impl Mask {
    pub(super) const COMPUTE: Mask = Mask(1);
    pub(super) const COMMUNICATION: Mask = Mask(2);
    pub(super) const MEMORY: Mask = Mask(4);
    pub(super) const OTHER: Mask = Mask(8);
    /// Number of possible sets.
    pub(super) const COUNT: usize = 16;
    /// Classes that are reported under a name.
    pub(super) const NAMED: [(Mask, &'static str); 3] = [
        (Mask::COMPUTE, "compute"),
        (Mask::COMMUNICATION, "communication"),
        (Mask::MEMORY, "memory"),
    ];

    pub(super) fn bits(self) -> usize {
        usize::from(self.0)
    }
}

/// A cache of the classes of names.
#[derive(Default)]
pub(super) struct Classes {
    known: HashMap<(Role, u32), Class>,
}

impl Classes {
    pub(super) fn of(&mut self, role: Role, name: u32, names: &Names) -> Class {
        *self.known.entry((role, name)).or_insert_with(|| Class::of(role, names.bytes_of(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_classified_by_name() {
        let of = |name: &str| Class::of(Role::Kernel, name.as_bytes());
        for name in ["ncclDevKernel_AllReduce_Sum_f32", "ncclKernel_AllGather", "gloo:all_reduce"] {
            assert_eq!(of(name), Class::Communication, "{name}");
        }
        for name in ["Memcpy DtoH (Device -> Pinned)", "Memset (Device)", "dma_x"] {
            assert_eq!(of(name), Class::Memory, "{name}");
        }
        for name in ["Stream Wait Event Sync", "a Memcpy"] {
            assert_eq!(of(name), Class::Other, "{name}");
        }
        for name in ["ampere_sgemm", "void at::native::reduce", "nccl", "Kernel nccl"] {
            assert_eq!(of(name), Class::Compute, "{name}");
        }
        assert_eq!(Class::of(Role::Memory, b"CopyHostToDevice"), Class::Memory);
    }
}
