//! Errors in text are shown with a caret, and misspelled words get a suggestion.

use crate::support::{Folder, Run, trace};

/// Returns the excerpt in standard error, and the column of the caret.
#[track_caller]
fn pointed(run: &Run) -> (String, usize) {
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.stderr);
    let plain = |line: &str| line.strip_prefix("tracemill:   ").expect("the name").to_owned();
    let (text, caret) = (plain(lines[1]), plain(lines[2]));
    assert_eq!(caret.trim_start(), "^", "{}", run.stderr);
    (text, caret.len() - 1)
}

/// Returns the text above and after the caret.
#[track_caller]
fn below(run: &Run) -> String {
    let (text, column) = pointed(run);
    text.chars().skip(column).collect()
}

#[test]
fn strict_defects_are_shown_with_a_caret() {
    for (text, rest, expected) in [
        (trace([1, 2]).replace("\"dur\":1,", "\"dur\":tru,"), "tru,\"pid\"", "`true`, `false`"),
        (trace([1]).replace("\"pid\":1,", "\"pid\":1 "), "\"tid\":2", "`,` or `}`"),
        (trace([1]).replace("]}", "]"), "", "`,` or `}`"),
    ] {
        let folder = Folder::new().with("a.json", &text);
        let run = folder.run("merge --strict a.json -o out.json").ends(3);
        assert!(run.stderr.starts_with("tracemill: error: a.json: defect at byte "), "{run:?}");
        assert!(run.stderr.contains(&format!("expected {expected}")), "{run:?}");
        assert!(below(&run).starts_with(rest), "{run:?}");
        // pipes are spooled, so their bytes are available too
        let piped = folder.pipe("merge --strict -", text).ends(3);
        assert_eq!(pointed(&piped), pointed(&run));
    }
}

#[test]
fn compressed_inputs_are_shown_decompressed() {
    let text = trace([1]).replace("\"dur\":1", "\"dur\":01");
    let folder = Folder::new().with("a.json", &text);
    let plain = folder.run("check --strict a.json").ends(3);
    let gzip = std::process::Command::new("gzip").arg("-k").arg(folder.path("a.json")).status();
    assert!(gzip.expect("gzip is there").success());
    let packed = folder.run("info --strict a.json.gz").ends(3);
    assert!(below(&plain).starts_with("1,\"pid\""), "{plain:?}");
    assert_eq!(below(&packed), below(&plain));
}

#[test]
fn other_bytes_are_shown_safely_and_long_lines_are_cut() {
    let name = format!("{}\u{1b}]0;x\u{7}\\\u{e9}", "x".repeat(300));
    let mut text = trace([1]).replace("\"e\"", &format!("\"{name}\"")).into_bytes();
    let cut = text.iter().position(|&byte| byte == 0xC3).expect("the é");
    text.remove(cut + 1);
    let folder = Folder::new().with("a.json", &text);
    let run = folder.run("merge --strict a.json").ends(3);
    let (shown, _) = pointed(&run);
    assert!(shown.starts_with("…xxx") && shown.contains("\\u{1b}]0;x\\u{7}"), "{shown}");
    assert!(!run.stderr.contains('\u{1b}') && shown.chars().count() < 80, "{}", run.stderr);
}

#[test]
fn other_files_are_shown() {
    let folder =
        Folder::new().with("a.txt", "{\"error\":\"not found\"}").with("b.txt", "Not found\n");
    let run = folder.run("merge a.txt").ends(3);
    assert_eq!(pointed(&run), ("{\"error\":\"not found\"}".to_owned(), 0));
    assert_eq!(pointed(&folder.run("info b.txt").ends(3)), ("Not found".to_owned(), 0));
    folder.with("c.txt", "<html>").run("merge c.txt").ends(3).says(&["HTML"]);
}

#[test]
fn findings_are_shown_with_a_caret() {
    let text = trace([1, 2]).replace("\"ts\":2,", "\"ts\":2,\"n\":NaN,");
    let folder = Folder::new().with("a.json", &text);
    let run = folder.run("check a.json").ends(1).quietly();
    let at = text.find("NaN").expect("it is there");
    let lines: Vec<&str> = run.stdout.lines().collect();
    let place = lines.iter().position(|line| line.contains(&format!("byte {at}: expected")));
    let place = place.unwrap_or_else(|| panic!("{}", run.stdout));
    let column = lines[place + 2].find('^').expect("a caret");
    let below: String = lines[place + 1].chars().skip(column).collect();
    assert!(below.starts_with("NaN,\"dur\""), "{}", run.stdout);
    // for a bare quote in a name, the position where it was noticed helps
    let text = trace([1, 2, 3]).replacen("\"e\"", "\"5\" disk\"", 1);
    let folder = folder.with("b.json", text);
    let run = folder.run("check b.json").ends(1);
    assert!(run.stdout.contains(", noticed at byte "), "{}", run.stdout);
    assert!(run.stdout.contains('^'), "{}", run.stdout);
}

#[test]
fn carets_are_coloured_on_terminals_only() {
    let folder = Folder::new().with("a.json", "[{\"ts\":x}]");
    let plain = folder.run("merge --strict a.json").ends(3).stderr;
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let coloured = folder.run("merge --strict --color always a.json").ends(3).stderr;
    assert_eq!(coloured.matches("\u{1b}[31m").count(), 2, "{coloured}");
    assert_eq!(coloured.replace("\u{1b}[1m\u{1b}[31m", "").replace("\u{1b}[0m", ""), plain);
}

#[test]
fn misspelled_values_get_a_suggestion() {
    let folder =
        Folder::new().with("a.json", trace([1])).with("m", "{\"inputs\":[{\"pth\":\"a\"}]}");
    for (words, suggestion) in [
        ("merge a.json --align base-tiem", "did you mean base-time?"),
        ("merge a.json --align marker=x", "did you mean marker:NAME?"),
        ("split a.json --by thid", "did you mean tid?"),
        ("filter a.json --drop netwrok", "a similar value exists: 'network'"),
        ("merge --manifest m", "did you mean path?"),
        ("profile lst a.json", "a similar subcommand exists: 'list'"),
        ("slice a.json --durtaion 1s", "a similar argument exists: '--duration'"),
        ("check --for devtool a.json", "a similar value exists: 'devtools'"),
    ] {
        let run = folder.run(words).ends(2);
        assert!(run.stderr.contains(suggestion), "{words}: {}", run.stderr);
    }
}

#[test]
fn verbose_explains_every_verb() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    for verb in [
        "merge",
        "info",
        "check",
        "convert",
        "filter --tid 2",
        "slice --head 1s",
        "split --by tid --dry-run",
        "profile list",
    ] {
        let run = folder.run(&format!("{verb} a.json -v -@ 2 -m 64M"));
        let first = run.stderr.lines().next().unwrap_or_default();
        for part in [
            "2 threads (-@)",
            "scan by ",
            "(the fastest of this processor)",
            "at most 64.0 MiB of heap (-m)",
            "temporary files in ",
        ] {
            assert!(first.contains(part), "{verb}: {part}: {}", run.stderr);
        }
        assert!(run.stderr.contains("a.json: 2 events"), "{verb}: {}", run.stderr);
    }
    let run = folder.run("merge a.json -v -o b.json.gz").ends(0);
    let packed = "written as object (by the first input and the name of the output), packed as gz, level 6 (by the name of the output)";
    assert!(run.stderr.contains(packed), "{}", run.stderr);
    let run = folder.run("convert a.json -v --format array -z zst -o c").ends(0);
    let packed = "written as array (--format), packed as zst, level 3 (-z)";
    assert!(run.stderr.contains(packed), "{}", run.stderr);
    let run = folder.run("merge a.json -v --tier scalar").ends(0);
    assert!(run.stderr.contains("(all processors), scan by scalar (--tier), "), "{}", run.stderr);
    assert!(run.stderr.contains("(a quarter of the memory)"), "{}", run.stderr);
}

#[test]
fn verbose_describes_the_order_of_chunks() {
    let folder = Folder::new();
    for (name, order) in [
        ("node/trace.json", "chunks in time order, as they stand"),
        ("quirks/profile-chunks-shuffled.json", "chunks put in time order: as they stand"),
        ("quirks/profile-ts-order-breaks.json", "chunks in the order of the file: by time"),
    ] {
        let input = crate::support::testdata().join(name);
        let words = format!("profile extract -v -f {} -d out", input.display());
        let run = folder.run(&words);
        assert!(run.stderr.contains(order), "{name}: {}", run.stderr);
    }
}
