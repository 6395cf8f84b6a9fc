//! Tests line wrapping on terminals of several widths.

use crate::progress::on_terminal;
use crate::support::{binary, testdata};
use std::process::{Command, Stdio};

/// Returns the lines of a run without colour sequences.
pub(crate) fn lines(words: &str, columns: u16) -> Vec<String> {
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
fn info_and_check_fit_the_terminal() {
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
                // the last line has the speed
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

/// Numbers stay whole, names are shortened in the middle, and columns left out are named.
#[test]
fn tables_fit_the_terminal() {
    for (words, columns) in [
        ("info --full chromium/trace.json.gz", 80),
        ("info --full node/trace.json", 80),
        ("check node/nasty-names.log", 80),
        ("profile list node/trace.json chromium/trace.json.gz", 80),
        ("profile list node-cpu-prof", 80),
        ("top chromium/trace.json.gz", 80),
        ("tree node/trace.json", 80),
        ("tree --bottom-up chromium/trace.json.gz", 80),
        ("tree --log node/trace.json", 80),
        ("tree --heaviest node/trace.json", 80),
        ("tree --peek Layout --main chromium/trace.json.gz", 80),
        ("diff node/trace.json node/trace-2.json", 80),
        ("diff node/trace.json node/trace-2.json", 200),
        ("top chromium/trace.json.gz", 200),
    ] {
        let shown = lines(words, columns);
        let too_wide = |line: &&String| line.chars().count() > usize::from(columns);
        assert_eq!(shown.iter().find(too_wide), None, "{words}, {columns}");
        assert!(shown.len() > 3, "{words}: {shown:?}");
    }
    let row = |lines: &[String]| -> Vec<String> {
        let row = lines.iter().find(|line| line.contains("sortWords")).expect("a row");
        row.split_whitespace().take(4).map(str::to_owned).collect()
    };
    let words = "diff node/trace.json node/trace-2.json";
    assert_eq!(row(&lines(words, 80)), row(&lines(words, 1000)));
    let narrow = lines("profile list node-cpu-prof", 80);
    assert!(narrow.iter().any(|line| line.starts_with("… no room for: ")), "{narrow:?}");
}

/// Commands are below their rows, continued with backslashes; unimportant columns are left out.
#[test]
fn reports_fit_the_terminal() {
    let words = "report chromium/trace.json.gz";
    for words in [words, "report node-cpu-prof", "report pytorch/rank-0.json pytorch/rank-1.json"] {
        for columns in [70, 80, 200] {
            let shown = lines(words, columns);
            // words of a command are never broken
            let is_word = |line: &str| line.trim_start().starts_with('\'');
            let too_wide =
                |line: &&String| line.chars().count() > usize::from(columns) && !is_word(line);
            assert_eq!(shown.iter().find(too_wide), None, "{words}, {columns}");
        }
        let joined = |columns| {
            lines(&format!("{words} -q"), columns).join("\n").replace(" \\\n        ", " ")
        };
        let commands = |text: String| -> Vec<String> {
            let rest = text.split("tracemill ").skip(1);
            rest.map(|command| command.lines().next().unwrap_or_default().trim().to_owned())
                .collect()
        };
        assert_eq!(commands(joined(70)), commands(joined(1000)), "{words}");
    }
    let narrow = lines(words, 80);
    let network = narrow.iter().skip_while(|line| !line.starts_with("## network"));
    let network: Vec<&String> = network.take_while(|line| !line.is_empty()).collect();
    assert!(network.iter().any(|line| line.ends_with("http://demo.test/app.js")), "{network:?}");
    let left_out = "… no room for: sent after, priority, blocking, type".to_owned();
    assert!(network.contains(&&left_out), "{network:?}");
}
