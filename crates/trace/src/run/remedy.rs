//! What can be done about an error or a warning.

/// What can be done about it: whoever has flags, buttons or calls says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Read without [`crate::Limits::strict`]: the rest is then saved.
    Lenient,
    /// Name another [`crate::Limits::tmp_dir`].
    OtherTmpDir,
    /// Allow the existing file to be replaced.
    Replace,
    /// Allow at least so many bytes of [`crate::Limits::memory`].
    MoreMemory(u64),
    /// Allow more bytes of [`crate::Limits::memory`]; how many is not known.
    RaiseMemory,
    /// Say which process and thread a CPU profile is of.
    NameThread,
    /// Write the object form, which has a place for keys beside the events.
    ObjectForm,
    /// Have the clocks of the inputs aligned.
    Align,
    /// Write for DevTools, which then shows the profiles.
    ForDevtools,
    /// Write less, or several parts; of a slice of so many milliseconds the text would be about so many bytes.
    Smaller {
        /// Milliseconds and bytes, if the times are known.
        slice: Option<(u64, u64)>,
    },
    /// Look at the names of the events.
    ListNames,
    /// Look at the list of CPU profiles.
    ListProfiles,
    /// Choose one CPU profile, or write to a folder.
    ChooseProfile,
    /// Pack the trace anew, in parts that can be unpacked by themselves.
    PackInParts,
    /// Number the files of CPU profiles.
    NumberFiles,
}
