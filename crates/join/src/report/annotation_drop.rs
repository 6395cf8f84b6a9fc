//! Reasons for dropping DevTools annotations.

/// The reason why a DevTools annotation was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnnotationDrop {
    /// The annotation names no event, and DevTools could not read the annotation either. For
    /// example, its key was written for a call without a sample.
    Malformed,
    /// The annotation names a frame of the Frames track. Only DevTools can number such frames.
    Frame,
    /// The input is damaged before the event, so its event number is unreliable.
    Damaged,
    /// The named item is not in the output.
    Gone,
    /// The annotation names an entry that DevTools builds from several events. Some may be missing.
    Parts,
    /// The annotation names a call in a CPU profile that DevTools might not find in the output.
    Call,
    /// The event numbers changed, and the command does not update annotations.
    Unfollowed,
    /// The annotation is a breadcrumb of a later input, is outside the time range of the output, or
    /// is more than 100 levels deep.
    Breadcrumb,
}

impl AnnotationDrop {
    /// Returns the name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            AnnotationDrop::Malformed => "malformed",
            AnnotationDrop::Frame => "frames",
            AnnotationDrop::Damaged => "damaged",
            AnnotationDrop::Gone => "gone",
            AnnotationDrop::Parts => "parts",
            AnnotationDrop::Call => "calls",
            AnnotationDrop::Unfollowed => "unfollowed",
            AnnotationDrop::Breadcrumb => "breadcrumbs",
        }
    }

    /// Returns a phrase that describes the dropped annotations for users.
    pub fn sentence(self) -> &'static str {
        match self {
            AnnotationDrop::Malformed => "with keys that DevTools cannot read",
            AnnotationDrop::Frame => "for frames, which only DevTools can number",
            AnnotationDrop::Damaged => "for events after damage in their input",
            AnnotationDrop::Gone => "for items that are not in the output",
            AnnotationDrop::Parts => "for entries whose events may be incomplete",
            AnnotationDrop::Call => "for calls in CPU profiles that DevTools might no longer find",
            AnnotationDrop::Unfollowed => "for events whose numbers changed",
            AnnotationDrop::Breadcrumb => {
                "breadcrumbs of other inputs, outside the time range of the output, or more than 100 levels deep"
            }
        }
    }
}

impl AsRef<str> for AnnotationDrop {
    fn as_ref(&self) -> &str {
        self.name()
    }
}
