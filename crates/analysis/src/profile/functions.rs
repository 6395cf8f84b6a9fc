//! Distinct functions of CPU profiles. Names and locations are stored as numbers of texts; longer
//! texts are built only for comparisons.

use crate::value::space::Space;
use crate::value::{content, is_true, member, named, template};
use foldhash::fast::FixedState;
use memchr::memchr;
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use tracemill_trace::event::names::Names;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillArray, SpillIndex};

record! {
    /// A function, as indices in the table of texts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Frame {
        /// Index of the name.
        pub function: u32,
        /// Index of the text `String(scriptId)`, which is empty if the script id does not
        /// distinguish functions.
        pub(crate) script: u32,
        /// Index of the URL.
        pub url: u32,
        /// Index of the line as text, converted as in a JavaScript template. If the line is
        /// missing, the text is `undefined`, or `-1` in a trace.
        pub line: u32,
        /// Index of the column as text, converted as in a JavaScript template.
        pub column: u32,
        /// Whether the name is missing. If so, rows and classes contain `undefined`, but labels are
        /// empty.
        pub is_nameless: bool,
        /// Number of the profile's first function that has the same row.
        pub(crate) row: u32,
        /// Index of the profile's first function that has the same class, that is, the same script,
        /// name and line.
        pub(crate) class: u32,
    }
}

impl Frame {
    /// Reads the function of a node: its `callFrame`, or the node itself in the old format.
    pub(crate) fn of_node(text: &[u8], is_whole: bool, names: &mut Names) -> Self {
        let frame = call_frame(text);
        let [name, url, script_id, line, column] =
            named(frame, [b"functionName", b"url", b"scriptId", b"lineNumber", b"columnNumber"]);
        let function = name.map(|name| template(Some(name))).unwrap_or_default();
        let url = url.and_then(content).unwrap_or_default();
        // DevTools converts script ids of traces to texts first, so 0 counts there.
        let script = match is_whole {
            true if !is_true(script_id) => Cow::default(),
            _ => template(script_id),
        };
        let position = |value| match value {
            None if is_whole => b"undefined".into(),
            None => b"-1".into(),
            written => template(written),
        };
        Frame {
            function: names.number(&function),
            script: names.number(&script),
            url: names.number(&url),
            line: names.number(&position(line)),
            column: names.number(&position(column)),
            is_nameless: name.is_none(),
            ..Frame::default()
        }
    }

    /// Returns whether the function is a JavaScript API without a location, like `setTimeout`
    /// (DevTools: `isNativeJSFunction`).
    pub fn is_native(&self, names: &Names) -> bool {
        let [script, url, line, column] =
            [self.script, self.url, self.line, self.column].map(|text| names.bytes_of(text));
        url.is_empty() && (script, line, column) == (b"0", b"-1", b"-1")
    }

    fn function<'n>(&self, names: &'n Names) -> &'n [u8] {
        if self.is_nameless { b"undefined" } else { names.bytes_of(self.function) }
    }

    /// Returns the id of the function's row in trees.
    pub(crate) fn row_text(&self, names: &Names) -> Vec<u8> {
        let function = self.function(names);
        let title = if self.url == NATIVE { native_group(function).as_bytes() } else { function };
        let place = if self.script == 0 { self.url } else { self.script };
        let [place, line, column] =
            [place, self.line, self.column].map(|number| names.bytes_of(number));
        [b"f:", title, b"@", place, b":", line, b":", column].concat()
    }

    /// Returns the category in DevTools' panel of calls to the function.
    pub(crate) fn category(&self) -> &'static str {
        if self.function == IDLE { "idle" } else { "scripting" }
    }

    /// Returns the text that identifies the class of the function.
    fn class_text(&self, names: &Names) -> Vec<u8> {
        let [script, line] = [self.script, self.line].map(|number| names.bytes_of(number));
        [script, b"\0", self.function(names), b"\0", line].concat()
    }
}

/// Returns the `callFrame` of a node, or the node itself without one. The result may extend beyond
/// the closing bracket, where readers stop.
fn call_frame(text: &[u8]) -> &[u8] {
    const FIRST: &[u8] = b"{\"callFrame\":";
    static OTHER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"callFrame\""));
    match text.strip_prefix(FIRST) {
        Some(frame @ [b'{', ..])
            if memchr(b'\\', frame).is_none() && OTHER.find(frame).is_none() =>
        {
            frame
        }
        _ => member(text, b"callFrame").unwrap_or(text),
    }
}

/// The functions of a profile, in order of appearance. Functions beyond the memory budget are on
/// disk.
pub(crate) struct Functions {
    pub(crate) all: SpillArray<Frame>,
    numbers: SpillIndex,
    rows: SpillIndex,
    classes: SpillIndex,
}

impl Functions {
    pub(crate) fn new(space: &Space) -> Self {
        let index = || space.index(16);
        Functions { all: space.array(8), numbers: index(), rows: index(), classes: index() }
    }

    /// Returns the number of a function, adding it with its row and class if it is new.
    pub(crate) fn number(&mut self, mut frame: Frame, names: &Names) -> Result<u32, Error> {
        let plain = |frame: &Frame| Frame { row: 0, class: 0, ..*frame };
        let Functions { all, numbers, rows, classes } = self;
        let next = all.len() as u32;
        let known = first(numbers, &frame, next, all, plain)?;
        if known != next {
            return Ok(known);
        }
        frame.row = first(rows, &frame, next, all, |function| function.row_text(names))?;
        frame.class = first(classes, &frame, next, all, |function| function.class_text(names))?;
        all.push(frame)?;
        Ok(next)
    }

    pub(crate) fn get(&self, number: u32) -> Frame {
        self.all.get(number as usize).unwrap_or_default()
    }

    /// Replaces the number of each text by its element of `numbers`. No function may be added
    /// afterwards.
    pub(crate) fn rename(&mut self, numbers: &[u32]) {
        let Functions { all, numbers: known, rows, classes } = self;
        [known, rows, classes].into_iter().for_each(SpillIndex::clear);
        for at in 0..all.len() {
            all.update(at, |Frame { function, script, url, line, column, .. }| {
                for text in [function, script, url, line, column] {
                    *text = numbers[*text as usize];
                }
            });
        }
    }
}

/// Returns the first known function with the same key as `frame`. If there is none, adds and
/// returns `next`.
fn first<K: std::hash::Hash + Eq>(
    index: &mut SpillIndex,
    frame: &Frame,
    next: u32,
    all: &SpillArray<Frame>,
    key: impl Fn(&Frame) -> K,
) -> Result<u32, Error> {
    let wanted = key(frame);
    let hash = FixedState::default().hash_one(&wanted);
    let is_it = |number: u32| all.get(number as usize).is_some_and(|known| key(&known) == wanted);
    match index.find(hash, is_it) {
        Some(known) => Ok(known),
        None => index.insert(hash, next).map(|()| next),
    }
}

// The names of meta nodes have fixed indices in the table of texts; see [`meta_names`].
/// Index of the text `(garbage collector)`.
pub(crate) const GC: u32 = 1;
/// Index of the text `(program)`.
pub(crate) const PROGRAM: u32 = 2;
/// Index of the text `(idle)`.
pub(crate) const IDLE: u32 = 3;
/// Index of the text `native V8Runtime`.
pub(crate) const NATIVE: u32 = 4;

/// Label of V8's `(idle)` calls, and of their group.
pub const IDLE_LABEL: &str = "(idle)";

/// Returns a table with the names of the meta nodes, numbered as above.
pub(crate) fn meta_names() -> Names {
    let mut names = Names::default();
    for text in [&b"(garbage collector)"[..], b"(program)", b"(idle)", b"native V8Runtime"] {
        names.number(text);
    }
    names
}

/// Returns DevTools' name for functions of V8 itself; `null` for others.
pub(crate) fn native_group(function: &[u8]) -> &'static str {
    if function.starts_with(b"Parse") {
        "Parse"
    } else if function.starts_with(b"Compile") || function.starts_with(b"Recompile") {
        "Compile"
    } else {
        "null"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_trace::spill::Record;

    #[test]
    fn functions_with_equal_texts_are_one() {
        let mut names = meta_names();
        let mut functions = Functions::new(&Space::alone(0));
        let mut add = |frame: &str| {
            let frame = Frame::of_node(frame.as_bytes(), false, &mut names);
            functions.number(frame, &names).expect("room on disk")
        };
        let texts = [
            r#"{"callFrame":{"functionName":"a","scriptId":7,"url":"u","lineNumber":1,"columnNumber":2}}"#,
            r#"{"functionName":"a","scriptId":"7","url":"other","lineNumber":1,"columnNumber":2}"#,
            r#"{"functionName":"a","scriptId":7,"url":"u","lineNumber":1,"columnNumber":3}"#,
            r#"{"functionName":"undefined","scriptId":7,"lineNumber":1,"columnNumber":2}"#,
            r#"{"scriptId":7,"lineNumber":1,"columnNumber":2}"#,
            r#"{"functionName":"","scriptId":7,"lineNumber":1,"columnNumber":2}"#,
            r#"{"functionName":"CompileX","scriptId":7,"url":"native V8Runtime","lineNumber":1,"columnNumber":2}"#,
            r#"{"functionName":"CompileY","scriptId":7,"url":"native V8Runtime","lineNumber":1,"columnNumber":2}"#,
        ];
        assert_eq!(texts.map(&mut add), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(texts.map(&mut add), [0, 1, 2, 3, 4, 5, 6, 7]);
        let of = |key: fn(&Frame) -> u32| {
            functions.all.iter().map(|function| key(&function)).collect::<Vec<_>>()
        };
        assert_eq!(of(|frame| frame.row), [0, 0, 2, 3, 3, 5, 6, 6]);
        assert_eq!(of(|frame| frame.class), [0, 0, 0, 3, 3, 5, 6, 7]);
        let row = |at: u32| String::from_utf8(functions.get(at).row_text(&names)).expect("text");
        assert_eq!([1, 4, 6].map(row), ["f:a@7:1:2", "f:undefined@7:1:2", "f:Compile@7:1:2"]);
    }

    #[test]
    fn last_call_frame_of_a_node_wins() {
        let mut names = meta_names();
        let mut read = |text: &str| {
            let frame = Frame::of_node(text.as_bytes(), false, &mut names);
            [frame.function, frame.url, frame.line].map(|number| names.text(number))
        };
        let first = r#"{"functionName":"a","url":"u","lineNumber":1}"#;
        let other = r#"{"functionName":"b","url":"v","lineNumber":2}"#;
        for text in [
            format!(r#"{{"callFrame":{first},"functionName":"b","url":"v","lineNumber":2}}"#),
            format!(r#"{{"callFrame": {first}, "lineNumber":2}}"#),
            format!(r#"{{"id":1,"callFrame":{first},"url":"v"}}"#),
            format!(r#"{{"callFrame":{other},"callFrame":{first}}}"#),
            format!(r#"{{"callFrame":{other},"call\u0046rame":{first}}}"#),
            format!(r#"{{"callFrame":{first},"children":[{{"callFrames":{other}}}]}}"#),
        ] {
            assert_eq!(read(&text), ["a", "u", "1"], "{text}");
        }
        for (text, function) in [
            (r#"{"callFrame":{"functionName":"a"},"url":"v"}"#, "a"),
            (r#"{"callFrame":{},"functionName":"b"}"#, ""),
            (r#"{"callFrame":{"functionName":"a\"}"},"functionName":"b"}"#, "a\"}"),
            (r#"{"callFrame":{"line":{"a":1},"functionName":"a"},"functionName":"b"}"#, "a"),
        ] {
            assert_eq!(read(text)[..2], [function, ""], "{text}");
        }
    }

    #[test]
    fn frames_survive_encoding() {
        let frame = Frame {
            function: 1,
            script: 2,
            url: 3,
            line: 4,
            column: 5,
            is_nameless: true,
            row: 6,
            class: 7,
        };
        let mut bytes = [0; Frame::BYTES];
        frame.encode(&mut bytes);
        assert_eq!(Frame::decode(&bytes), frame);
    }
}
