//! Writes speedscope's JSON: one profile for each tree. Frames open and close at the sums of the
//! self times before them.

use crate::stacks::{Frame, Line, Stacks, Tree};
use std::io::{self, Write};
use tracemill_trace::json::{push_integer, push_string};

/// Writes the JSON, with each frame and each profile on a line.
pub(crate) fn write(stacks: &Stacks, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::from(
        &b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"tracemill\",\"shared\":{\"frames\":[\n"[..],
    );
    for (at, frame) in stacks.frames.iter().enumerate() {
        text.extend_from_slice(if at == 0 { b"" } else { b",\n" });
        push_frame(frame, &mut text);
        out.write_all(&text)?;
        text.clear();
    }
    text.extend_from_slice(b"\n]},\"profiles\":[\n");
    for (at, tree) in stacks.trees.iter().enumerate() {
        text.extend_from_slice(if at == 0 { b"" } else { b",\n" });
        write_profile(stacks, tree, &mut text, out)?;
    }
    out.write_all(&text)?;
    out.write_all(b"\n]}\n")
}

fn push_frame(frame: &Frame, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"name\":");
    push_string(&frame.name, out);
    if !frame.url.is_empty() {
        out.extend_from_slice(b",\"file\":");
        push_string(&frame.url, out);
    }
    for (key, number) in [("line", frame.line), ("col", frame.column)] {
        if let Some(number) = number {
            out.extend_from_slice(format!(",\"{key}\":").as_bytes());
            push_integer(number, out);
        }
    }
    out.push(b'}');
}

/// Writes a profile. `text` may begin with output that is not written yet; it is empty afterwards.
fn write_profile(
    stacks: &Stacks,
    tree: &Tree,
    text: &mut Vec<u8>,
    out: &mut dyn Write,
) -> io::Result<()> {
    text.extend_from_slice(b"{\"type\":\"evented\",\"name\":");
    push_string(&tree.title, text);
    text.extend_from_slice(b",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
    push_integer(tree.own, text);
    text.extend_from_slice(b",\"events\":[");
    let mut events = Events { open: Vec::new(), at: 0, is_first: true, text, out };
    for line in stacks.lines(tree) {
        events.close(line.depth as usize)?;
        events.open(line)?;
    }
    events.close(0)?;
    out.write_all(text)?;
    text.clear();
    out.write_all(b"]}")
}

struct Events<'w> {
    open: Vec<Line>,
    /// Nanoseconds since the start of the profile.
    at: i64,
    is_first: bool,
    text: &'w mut Vec<u8>,
    out: &'w mut dyn Write,
}

impl Events<'_> {
    fn open(&mut self, line: Line) -> io::Result<()> {
        self.open.push(line);
        self.event(b'O', line.frame)
    }

    /// Closes the open frames whose depth is at least `depth`. The self time of a frame comes after
    /// its callees.
    fn close(&mut self, depth: usize) -> io::Result<()> {
        while self.open.len() > depth {
            let Some(line) = self.open.pop() else { break };
            self.at += line.own;
            self.event(b'C', line.frame)?;
        }
        Ok(())
    }

    fn event(&mut self, kind: u8, frame: u32) -> io::Result<()> {
        self.text.extend_from_slice(if self.is_first { b"" } else { b"," });
        self.is_first = false;
        push_event(kind, frame, self.at, self.text);
        if self.text.len() >= 16 << 10 {
            self.out.write_all(self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}

fn push_event(kind: u8, frame: u32, at: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    out.push(kind);
    out.extend_from_slice(b"\",\"frame\":");
    push_integer(frame, out);
    out.extend_from_slice(b",\"at\":");
    push_integer(at, out);
    out.push(b'}');
}
