//! Who recorded a profile.

/// Who recorded a profile, as its chunks say; of several profiles of one thread DevTools chooses by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileSource {
    /// Chrome's tracing itself.
    Internal,
    /// The inspector protocol.
    Inspector,
    /// The JS self-profiling API.
    SelfProfiling,
}

tracemill_core::serialize_by_name!(ProfileSource);

impl ProfileSource {
    pub(super) fn of(value: &[u8]) -> Option<Self> {
        match value {
            b"\"Internal\"" => Some(ProfileSource::Internal),
            b"\"Inspector\"" => Some(ProfileSource::Inspector),
            b"\"SelfProfiling\"" => Some(ProfileSource::SelfProfiling),
            _ => None,
        }
    }

    /// Its name, as traces have it.
    pub fn name(self) -> &'static str {
        match self {
            ProfileSource::Internal => "Internal",
            ProfileSource::Inspector => "Inspector",
            ProfileSource::SelfProfiling => "SelfProfiling",
        }
    }
}
