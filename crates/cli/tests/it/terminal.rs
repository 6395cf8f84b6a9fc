//! What is shown on terminals of several widths: no line is broken within a word, and what goes on below is indented.

use crate::progress::on_terminal;
use crate::support::{binary, testdata};
use std::process::{Command, Stdio};

/// Lines of a run without what colours them.
fn lines(words: &str, columns: u16) -> Vec<String> {
    let mut command = Command::new(binary());
    let files = testdata();
    command.current_dir(files).args(words.split(' ')).stdin(Stdio::null());
    let shown = on_terminal(command, columns, true, |_| ());
    let mut plain = String::new();
    let mut pieces = shown.split("\u{1b}[");
    plain.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
    }
    plain.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

#[test]
fn no_line_of_info_and_check_is_wider_than_the_terminal() {
    for words in [
        "info node/trace.json",
        "info chromium/trace.json.gz",
        "check --for devtools node/trace.json",
        "check cases/whole.json",
    ] {
        let wide = lines(words, 1000);
        for columns in [60, 80, 200] {
            let narrow = lines(words, columns);
            let too_wide = |line: &&String| line.chars().count() > usize::from(columns);
            assert_eq!(narrow.iter().find(too_wide), None, "{words}, {columns}");
            let all = |lines: &[String]| -> Vec<String> {
                // the last line says how fast it was
                let lines = lines.iter().filter(|line| !line.contains("MiB/s"));
                lines.flat_map(|line| line.split_whitespace().map(str::to_owned)).collect()
            };
            let (wide, narrow) = (all(&wide), all(&narrow));
            let same = wide.iter().zip(&narrow).take_while(|(a, b)| a == b).count();
            assert!(same + 20 > wide.len(), "{words}, {columns}: {:?}", &narrow[same..]);
        }
        let broken = lines(words, 60);
        let more = broken.iter().filter(|line| line.starts_with("         ")).count();
        assert!(more > 0, "{words}: {broken:?}");
    }
}
