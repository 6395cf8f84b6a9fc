//! Finds commands in Markdown pages and help texts.

/// A command shown on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// File and line, or the verb of the help.
    pub(super) place: String,
    /// Section of the page; commands of one section run in one folder.
    pub(super) section: String,
    pub(super) line: String,
    /// Expected output, if the page shows it.
    pub(super) prints: Option<String>,
    /// Reason why the command is not run.
    pub(super) not_run: Option<String>,
}

/// Returns the commands in `sh` and `console` blocks.
pub(super) fn markdown_commands(file: &str, text: &str) -> Vec<Command> {
    let (mut all, mut section, mut not_run) = (Vec::new(), String::new(), None);
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.starts_with('#') {
            section = format!("{file}: {line}");
        }
        if let Some(reason) = line.strip_prefix("<!-- not run: ") {
            not_run = Some(reason.trim_end_matches("-->").trim().to_owned());
        }
        let Some(language) = line.strip_prefix("```") else { continue };
        let block: Vec<(usize, &str)> =
            lines.by_ref().take_while(|(_, line)| !line.starts_with("```")).collect();
        let reason = not_run.take();
        let found = match language {
            "sh" => shell(&block),
            "console" => console(&block),
            _ => Vec::new(),
        };
        assert!(language != "sh" && language != "console" || !found.is_empty(), "{file}:{number}");
        all.extend(found.into_iter().map(|(at, line, prints)| Command {
            place: format!("{file}:{}", at + 1),
            section: section.clone(),
            line,
            prints,
            not_run: reason.clone(),
        }));
    }
    all
}

type Found = (usize, String, Option<String>);

/// Returns one command per line; a trailing backslash continues it.
fn shell(block: &[(usize, &str)]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut goes_on = false;
    for &(at, line) in block {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (text, more) = text.strip_suffix('\\').map_or((text, false), |text| (text, true));
        match found.last_mut().filter(|_| goes_on) {
            Some(last) => last.1.push_str(text),
            None => found.push((at, text.to_owned(), None)),
        }
        goes_on = more;
    }
    found
}

/// Returns the commands after `$ ` with their output.
fn console(block: &[(usize, &str)]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for &(at, line) in block {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((at, command.to_owned(), Some(String::new()))),
            (None, Some((_, _, Some(prints)))) => {
                prints.push_str(line.trim_end());
                prints.push('\n');
            }
            (None, _) => panic!("line {}: a block of console begins with `$ `", at + 1),
        }
    }
    found
}

/// Programs that examples begin with.
const PROGRAMS: [&str; 5] = ["tracemill ", "find ", "curl ", "ssh ", "mkdir "];

/// Returns the commands below `Examples:`; the heading of each example starts a section.
pub(super) fn help_examples(verb: &str, help: &str) -> Vec<Command> {
    let (_, examples) = help.split_once("\nExamples:\n").expect("the help has examples");
    let (mut all, mut heading) = (Vec::new(), String::new());
    for line in examples.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(command) = line.strip_prefix("    ") {
            // help wraps at 100 columns, and a wrapped example cannot be copied
            let begins = PROGRAMS.iter().any(|program| command.starts_with(program));
            assert!(begins, "{verb}: an example is wrapped: {line}");
            all.push(Command {
                place: format!("{verb} --help"),
                section: format!("{verb}: {heading}"),
                line: command.to_owned(),
                prints: None,
                not_run: needs_network(command),
            });
        } else {
            assert!(line.starts_with("  "), "{verb}: {line}");
            heading = line.to_owned();
        }
    }
    all
}

fn needs_network(line: &str) -> Option<String> {
    let remote = ["curl ", "ssh "].iter().any(|program| line.contains(program));
    remote.then(|| "needs a network".to_owned())
}

/// Returns whether `printed` matches the output on a page, in which a line `…` matches any lines.
pub(super) fn is_as_shown(shown: &str, printed: &str) -> bool {
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let shown: Vec<&str> = shown.lines().collect();
    matches(&shown, &printed)
}

fn matches(shown: &[&str], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((line, rest)), _) if line.trim() == "…" => {
            (0..=printed.len()).any(|skip| matches(rest, &printed[skip..]))
        }
        (Some((a, shown)), Some((b, printed))) => a == b && matches(shown, printed),
        _ => false,
    }
}

#[test]
fn commands_and_not_run_marks_are_found() {
    let text = "# A\n```sh\na \\\n  b\n# a remark\n\nc # status 1\n```\n<!-- not run: needs a recorder -->\n\n```sh\nd\n```\n\
                ## B\n```console\n$ e\n1\n…\n$ f\n```\n```text\ng\n```\n";
    let found = markdown_commands("x", text);
    let lines: Vec<&str> = found.iter().map(|command| command.line.as_str()).collect();
    assert_eq!(lines, ["a b", "c # status 1", "d", "e", "f"]);
    assert_eq!(found[0].place, "x:3");
    assert_eq!(found[2].not_run.as_deref(), Some("needs a recorder"));
    assert_eq!((&*found[2].section, &*found[3].section), ("x: # A", "x: ## B"));
    assert_eq!(found[3].prints.as_deref(), Some("1\n…\n"));
    assert_eq!((found[3].not_run.as_ref(), found[4].prints.as_deref()), (None, Some("")));
}

#[test]
fn ellipsis_lines_match_any_lines() {
    for (shown, printed, is_right) in [
        ("a\n", "a\n", true),
        ("a\n", "a\nb\n", false),
        ("a\n…\n", "a\nb\nc\n", true),
        ("…\nc\n", "a\nb\nc\n", true),
        ("a\n…\nc\n", "a\nc\n", true),
        ("a\n…\nd\n", "a\nb\nc\n", false),
        ("", "", true),
        ("", "a", false),
    ] {
        assert_eq!(is_as_shown(shown, printed), is_right, "{shown:?} {printed:?}");
    }
}

#[test]
fn examples_have_headings() {
    let help = "Usage\n\nExamples:\n  One:\n    mkdir b\n    tracemill c\n\n  Two:\n    ssh d e\n";
    let found = help_examples("v", help);
    let sections: Vec<&str> = found.iter().map(|command| command.section.as_str()).collect();
    assert_eq!(sections, ["v:   One:", "v:   One:", "v:   Two:"]);
    assert_eq!(found[2].not_run.as_deref(), Some("needs a network"));
}
