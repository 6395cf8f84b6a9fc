//! Tests the progress bar, which only terminals show.

use crate::support::{Folder, binary, event, trace};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Returns what a run shows on a terminal while `feed` serves its pipes.
fn shown(words: &[&str], folder: &Folder, feed: impl FnOnce(&mut std::process::Child)) -> String {
    let mut command = Command::new(binary());
    command.current_dir(folder.path("")).args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
    on_terminal(command, 100, false, feed)
}

/// Returns what a command shows on a terminal of `columns`: its messages, and its output if
/// `output`.
pub(crate) fn on_terminal(
    mut command: Command,
    columns: u16,
    output: bool,
    feed: impl FnOnce(&mut std::process::Child),
) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal");
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).expect("a size");
    let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("UTF-8");
    let terminal = File::options().read(true).write(true).open(name).expect("a terminal");
    if output {
        command.stdout(Stdio::from(terminal.try_clone().expect("a terminal")));
    }
    command.env("TERM", "xterm").stderr(Stdio::from(terminal));
    let mut child = command.spawn().expect("the command runs");
    // closes the terminal here, so that it closes with the run
    drop(command);
    let mut master = File::from(master);
    let seen = thread::spawn(move || {
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        // reading fails once all writers of the terminal are gone
        while let Ok(count) = master.read(&mut buffer) {
            if count == 0 {
                break;
            }
            all.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    feed(&mut child);
    drop(child.stdin.take());
    let status = child.wait().expect("it ends");
    assert!(status.success() || output, "{status}");
    seen.join().expect("the terminal was read")
}

/// Writes a trace to a pipe for two seconds.
fn slowly(mut pipe: impl Write) {
    let events: Vec<String> = (0..1000).map(event).collect();
    let events = events.join("\n");
    for _ in 0..20 {
        pipe.write_all(events.as_bytes()).expect("it is read");
        pipe.write_all(b"\n").expect("it is read");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn pipes_show_bytes_and_speed() {
    let seen = shown(&["info", "-"], &Folder::new(), |child| {
        slowly(child.stdin.take().expect("a pipe"));
        let mut text = String::new();
        let stdout = child.stdout.as_mut().expect("a pipe");
        stdout.read_to_string(&mut text).expect("text");
        assert!(text.contains("20,000 events"), "{text}");
    });
    assert!(seen.contains("reading") && seen.contains("KiB/s"), "{seen:?}");
    assert!(seen.contains("info: 1 input, 20,000 events"), "{seen:?}");
    assert!(seen.contains("\u{1b}[2K"), "{seen:?}");
}

#[test]
fn known_sizes_show_the_time_left() {
    let folder = Folder::new().with("a.json", trace(0..100_000));
    let seen = shown(&["merge", "a.json"], &folder, |child| {
        // a reader that delays the output for two seconds
        let mut stdout = child.stdout.take().expect("a pipe");
        let mut buffer = vec![0; 1 << 20];
        let mut at = 0;
        loop {
            match stdout.read(&mut buffer[..256 << 10]).expect("it is written") {
                0 => break,
                count => at += count,
            }
            if at < 6 << 20 {
                thread::sleep(Duration::from_millis(60));
            }
        }
    });
    assert!(seen.contains("writing") && seen.contains(" % of "), "{seen:?}");
    assert!(seen.contains("/s, ") && seen.contains("s left"), "{seen:?}");
}

#[test]
fn without_a_terminal_progress_needs_a_flag() {
    let run = |words: &[&str]| {
        let mut child = Command::new(binary())
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        slowly(child.stdin.take().expect("a pipe"));
        let output = child.wait_with_output().expect("it ends");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!(run(&["info", "-"]), "");
    let lines = run(&["info", "-", "--progress", "always"]);
    assert!(lines.contains("tracemill: reading "), "{lines:?}");
    assert!(!lines.contains('\u{1b}') && !lines.contains('\r'), "{lines:?}");
}
