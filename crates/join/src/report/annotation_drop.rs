//! Why annotations of DevTools are not in an output.

/// Why a DevTools annotation was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnnotationDrop {
    /// DevTools could not have read it: it names no event, as the keys do that DevTools writes for calls without a sample.
    Malformed,
    /// It names a frame of the Frames track, which only DevTools can count.
    Frame,
    /// The input is damaged before the event, so that its index says nothing.
    Damaged,
    /// What it names is not in the output.
    Gone,
    /// It names an entry that DevTools makes of several events, which may not all be in the output.
    Parts,
    /// It names a call in a CPU profile that DevTools would not find in the output.
    Call,
    /// The output has some of the events, under other numbers, and follows no annotation to them.
    Unfollowed,
    /// A breadcrumb of a later input, or one outside of the output.
    Breadcrumb,
}

impl AnnotationDrop {
    /// Its name in reports.
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

    /// What annotations are of that are dropped for it, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            AnnotationDrop::Malformed => "with keys that DevTools cannot read",
            AnnotationDrop::Frame => "of frames, which only DevTools can count",
            AnnotationDrop::Damaged => "of events after damage in their input",
            AnnotationDrop::Gone => "of items that are not in the output",
            AnnotationDrop::Parts => "of entries whose events may be incomplete",
            AnnotationDrop::Call => "of calls in CPU profiles that DevTools might no longer find",
            AnnotationDrop::Unfollowed => "that refer to events by numbers that changed",
            AnnotationDrop::Breadcrumb => {
                "that are breadcrumbs of other inputs, outside of the output, or more than 100 deep"
            }
        }
    }
}

impl AsRef<str> for AnnotationDrop {
    fn as_ref(&self) -> &str {
        self.name()
    }
}
