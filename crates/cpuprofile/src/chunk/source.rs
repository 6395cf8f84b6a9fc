//! The API that recorded a profile.

/// The API that recorded a profile, according to the profile's events.
///
/// DevTools shows one profile per thread and selects that profile by this API. Source of the names:
/// V8's enumeration `CpuProfileSource`. Older versions of V8 do not write the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileSource {
    /// Chrome's tracing.
    Internal,
    /// The inspector protocol.
    Inspector,
    /// The JS self-profiling API.
    SelfProfiling,
}

tracemill_trace::serialize_by_name!(ProfileSource);

impl ProfileSource {
    /// Parses the name of a source, in quotes. Returns `None` for other values, which the decoder
    /// counts as a flaw.
    pub(super) fn of(value: &[u8]) -> Option<Self> {
        match value {
            b"\"Internal\"" => Some(ProfileSource::Internal),
            b"\"Inspector\"" => Some(ProfileSource::Inspector),
            b"\"SelfProfiling\"" => Some(ProfileSource::SelfProfiling),
            _ => None,
        }
    }

    /// Returns the name of the source in traces.
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
