//! Who recorded a profile.
//!
//! V8 writes it as `source` into the data of a `Profile` event and of chunks. Of several profiles of one thread DevTools shows one, and
//! chooses it by this: a trace that was recorded while somebody profiled by hand may have two.

/// Who recorded a profile, as its events say; of several profiles of one thread DevTools chooses by it.
///
/// Source of the names: V8's enumeration `CpuProfileSource`. Older V8 writes none, so most places have an `Option` of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileSource {
    /// Chrome's tracing itself.
    Internal,
    /// The inspector protocol.
    Inspector,
    /// The JS self-profiling API.
    SelfProfiling,
}

tracemill_trace::serialize_by_name!(ProfileSource);

impl ProfileSource {
    /// Of the text of a JSON value; `None` for any other, which is then counted as a flaw.
    pub(super) fn of(value: &[u8]) -> Option<Self> {
        match value {
            b"\"Internal\"" => Some(ProfileSource::Internal),
            b"\"Inspector\"" => Some(ProfileSource::Inspector),
            b"\"SelfProfiling\"" => Some(ProfileSource::SelfProfiling),
            _ => None,
        }
    }

    /// Its name, as traces have it.
    ///
    /// ```
    /// assert_eq!(tracemill_cpuprofile::ProfileSource::SelfProfiling.name(), "SelfProfiling");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            ProfileSource::Internal => "Internal",
            ProfileSource::Inspector => "Inspector",
            ProfileSource::SelfProfiling => "SelfProfiling",
        }
    }
}
