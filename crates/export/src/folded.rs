//! Writes folded stacks: one line per row that has self time. A line has the frames from the
//! outermost to the innermost, then nanoseconds.

use crate::stacks::{Frame, Stacks, step};
use std::io::{self, Write};

/// Writes folded stacks. In names, replaces `;` by `:` and control characters by blanks.
pub(crate) fn write(stacks: &Stacks, out: &mut dyn Write) -> io::Result<()> {
    let frames: Vec<String> = stacks.frames.iter().map(text).collect();
    let titled = stacks.trees.len() > 1;
    let (mut path, mut line) = (Vec::new(), String::new());
    for tree in &stacks.trees {
        let title = plain(&tree.title);
        for row in stacks.lines(tree) {
            step(&mut path, &row);
            if row.own <= 0 {
                continue;
            }
            line.clear();
            if titled {
                line.push_str(&title);
                line.push(';');
            }
            for &frame in &path {
                line.push_str(&frames[frame as usize]);
                line.push(';');
            }
            line.pop();
            line.push_str(&format!(" {}\n", row.own));
            out.write_all(line.as_bytes())?;
        }
        path.clear();
    }
    Ok(())
}

/// Formats a frame as `name (url:line:column)`, as in a stack trace.
fn text(frame: &Frame) -> String {
    let mut text = plain(&frame.name);
    if !frame.url.is_empty() {
        text.push_str(&format!(" ({}", plain(&frame.url)));
        for number in [frame.line, frame.column].into_iter().map_while(|number| number) {
            text.push_str(&format!(":{number}"));
        }
        text.push(')');
    }
    text
}

fn plain(text: &str) -> String {
    let sound = |letter: char| match letter {
        ';' => ':',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    text.chars().map(sound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_texts_contain_no_separators() {
        let frame = |name: &str, url: &str, line, column| {
            text(&Frame {
                name: name.into(),
                url: url.into(),
                line,
                column,
                category: "other",
                color: 0,
            })
        };
        assert_eq!(frame("a;b\n c", "", None, None), "a:b  c");
        assert_eq!(frame("f", "x.js", Some(3), Some(1)), "f (x.js:3:1)");
        assert_eq!(frame("f", "x.js", None, Some(1)), "f (x.js)");
    }
}
