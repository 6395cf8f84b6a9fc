//! Suggested fixes for errors and warnings.

/// A suggested fix for an error or a warning. Programs translate it to their flags, buttons or
/// calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Read without [`crate::Limits::strict`], which salvages damaged inputs.
    Lenient,
    /// Set another [`crate::Limits::tmp_dir`].
    OtherTmpDir,
    /// Allow replacing the existing file.
    Replace,
    /// Allow at least this many bytes of [`crate::Limits::memory`].
    MoreMemory(u64),
    /// Allow more [`crate::Limits::memory`]; the required bytes are unknown.
    RaiseMemory,
    /// Name the process and thread of a CPU profile.
    NameThread,
    /// Write the object form, which has top-level keys.
    ObjectForm,
    /// Align the clocks of the inputs.
    Align,
    /// Write for DevTools, which then shows the profiles.
    ForDevtools,
    /// Write less, or several parts.
    Smaller {
        /// Suggested slice in milliseconds and its approximate bytes, if the times are known.
        slice: Option<(u64, u64)>,
    },
    /// List the names of the events.
    ListNames,
    /// List the CPU profiles.
    ListProfiles,
    /// Select one CPU profile, or write to a folder.
    ChooseProfile,
    /// Recompress the trace in independent frames or members.
    PackInParts,
    /// Number the files of CPU profiles.
    NumberFiles,
}
