//! The JSON of speedscope: one profile for each tree, in which frames open and close at the sums of self times. So a row is written
//! twice, however deep it is.

use super::stacks::{Frame, Line, Stacks, Tree};
use std::io::{self, Write};
use tracemill_core::json::{push_integer, push_string};

/// Writes it, one frame and one profile a line.
pub(super) fn write(stacks: &Stacks, out: &mut dyn Write) -> io::Result<()> {
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
        push_profile(tree, &mut text);
        out.write_all(&text)?;
        text.clear();
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

fn push_profile(tree: &Tree, out: &mut Vec<u8>) {
    let end: i64 = tree.lines.iter().map(|line| line.own).sum();
    out.extend_from_slice(b"{\"type\":\"evented\",\"name\":");
    push_string(&tree.title, out);
    out.extend_from_slice(b",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
    push_integer(end, out);
    out.extend_from_slice(b",\"events\":[");
    let (mut open, mut at): (Vec<&Line>, i64) = (Vec::new(), 0);
    for line in &tree.lines {
        while open.len() > line.depth as usize {
            close(&mut open, &mut at, out);
        }
        push_event(b'O', line.frame, at, out);
        open.push(line);
    }
    while !open.is_empty() {
        close(&mut open, &mut at, out);
    }
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.extend_from_slice(b"]}");
}

/// The innermost frame closes; its own time comes behind that of what it calls.
fn close(open: &mut Vec<&Line>, at: &mut i64, out: &mut Vec<u8>) {
    if let Some(line) = open.pop() {
        *at += line.own;
        push_event(b'C', line.frame, *at, out);
    }
}

fn push_event(kind: u8, frame: u32, at: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    out.push(kind);
    out.extend_from_slice(b"\",\"frame\":");
    push_integer(frame, out);
    out.extend_from_slice(b",\"at\":");
    push_integer(at, out);
    out.extend_from_slice(b"},");
}
