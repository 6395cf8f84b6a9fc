//! Runs `redact`, and compares with an independent reading of input and output.

use crate::support::{Folder, testdata};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// Splits a text into its strings and the text outside of strings.
fn apart(text: &str) -> (String, Vec<Value>) {
    let (mut rest, mut strings) = (String::new(), Vec::new());
    let mut chars = text.char_indices();
    while let Some((start, c)) = chars.next() {
        rest.push(c);
        if c != '"' {
            continue;
        }
        while let Some((end, c)) = chars.next() {
            if c == '\\' {
                chars.next();
            } else if c == '"' {
                let written = &text[start..=end];
                // half a surrogate pair is no Rust character
                let value = serde_json::from_str(written);
                strings.push(value.unwrap_or_else(|_| Value::from(written)));
                break;
            }
        }
    }
    (rest, strings)
}

/// Returns whether a text has a secret, found by other means than the tested rules.
fn is_secret(text: &str) -> bool {
    let has_address =
        text.split(|c: char| !c.is_ascii_graphic() || "\"'<>".contains(c)).any(|word| {
            word.split_once("://").is_some_and(|(scheme, rest)| {
                let schemes = ["chrome", "chrome-untrusted", "devtools", "edge"];
                let scheme = scheme.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '-').next();
                let scheme = scheme.unwrap_or_default();
                let is_hash =
                    |part: &str| part.len() == 16 && part.bytes().all(|b| b.is_ascii_hexdigit());
                let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
                let is_hidden = (host.is_empty()
                    || host.strip_suffix(".invalid").is_some_and(is_hash))
                    && (path.is_empty() || is_hash(path.trim_end_matches([',', '.', ')', ';'])));
                !scheme.is_empty()
                    && scheme.as_bytes()[0].is_ascii_alphabetic()
                    && !schemes.contains(&scheme)
                    && !is_hidden
                    && !rest.is_empty()
            })
        });
    has_address
        || ["/home/", "/Users/", "/root/", "/tmp/"].iter().any(|root| text.starts_with(root))
}

#[test]
fn only_strings_change() {
    let mut files = Vec::new();
    crate::remedies::traces(&testdata(), &mut files);
    crate::remedies::traces(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
        &mut files,
    );
    files.sort();
    let folder = Folder::new();
    let (mut compared, mut changed, mut stand_for) = (0, 0, HashMap::new());
    for file in &files {
        let name = file.display();
        let plain = folder.run(&format!("convert --repair -q -f {name} -o plain.json"));
        let run = folder.run(&format!("redact --key k -q -f {name} -o safe.json"));
        assert_eq!(plain.code, run.code, "{name}");
        if !matches!(run.code, Some(0 | 1)) {
            continue;
        }
        let [(rest, strings), (safe_rest, safe)] =
            ["plain.json", "safe.json"].map(|file| apart(&folder.read(file)));
        assert!(rest == safe_rest, "{name}: something beside strings has changed");
        assert_eq!(strings.len(), safe.len(), "{name}");
        compared += 1;
        for (before, after) in strings.iter().zip(&safe) {
            let (before, after) =
                (before.as_str().expect("a text"), after.as_str().expect("a text"));
            changed += usize::from(before != after);
            assert!(!is_secret(after), "{name}: {before} is {after}");
            assert_eq!(
                stand_for.entry(before.to_owned()).or_insert(after.to_owned()),
                after,
                "{name}"
            );
        }
    }
    assert!(compared > 20 && changed > 50, "{compared} {changed}");
}

#[test]
fn outputs_are_equal_and_reports_have_no_secrets() {
    let folder = Folder::new();
    // more than one batch, with secrets of all kinds, escaped or not
    let event = |n: usize| {
        format!(
            r#"{{"ph":"i","ts":{n},"name":"https:\/\/shop.example\/{}","args":{{"f":"C:\\Users\\anna\\x.js","m":"\u0061nna@shop.example","k\ud83d\ude00":"/home/anna/{n}","t":"text/plain"}}}}"#,
            n % 7
        )
    };
    let events: Vec<String> = (0..20_000).map(event).collect();
    let text = format!(
        "{{\"traceEvents\":[\n{}\n],\"metadata\":{{\"/home/anna/y\":1,\"product\":\"Project X\"}}}}\n",
        events.join(",\n")
    );
    let folder = folder.with("a.json", &text);
    let words = "redact --key secret --also Project a.json";
    let run = folder.run(&format!("{words} -o safe.json --report r.json")).ends(0);
    run.says(&["replaced: 20,000 addresses, 40,001 paths, 20,000 user names, 1 match of --also"]);
    let safe = folder.read("safe.json");
    let report = folder.read("r.json");
    for word in ["anna", "nna@", "shop", "Project"] {
        assert!(!safe.contains(word), "{word}");
        assert!(!report.contains(word), "{word}");
    }
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["replaced"]["url"], 20_000);
    assert_eq!(report["output"]["bytes"], safe.len());
    let parsed: Value = serde_json::from_str(&safe).expect("JSON");
    assert_eq!(parsed["traceEvents"][0]["name"], parsed["traceEvents"][7]["name"]);
    assert_ne!(parsed["traceEvents"][0]["name"], parsed["traceEvents"][1]["name"]);
    assert_eq!(parsed["traceEvents"][0]["args"]["t"], "text/plain");
    for knobs in ["-@ 1", "-@ 7 -m 32M", "-z gz"] {
        folder.run(&format!("{words} -q {knobs} -f -o other")).ends(0);
        if knobs == "-z gz" {
            folder.run("convert other -f -o other2").ends(0);
            folder.run("convert safe.json -f -o safe2").ends(0);
            assert!(folder.read("other2") == folder.read("safe2"), "{knobs}");
        } else {
            assert!(folder.read("other") == safe, "{knobs}");
        }
    }
    let run = || folder.run("redact -q a.json").ends(0).stdout;
    assert_ne!(run(), run());
    let run = folder.run("redact --what user --key k a.json -f -o users.json").ends(0);
    run.says(&["replaced: 60,001 user names"]);
    assert!(
        folder.read("users.json").contains("shop.example")
            && !folder.read("users.json").contains("anna")
    );
    let run = folder.pipe("redact --key k", "[{\"ph\":\"i\",\"ts\":1,\"name\":\"n\"}]").ends(0);
    run.says(&["nothing was found to replace"]);
    folder.run("redact a.json -o a.json -f").ends(2);
}

#[test]
fn long_texts_with_escapes_are_replaced_as_a_whole() {
    let long = format!("\\n/home/anna/{}", "x".repeat(5 << 20));
    let folder =
        Folder::new().with("a.json", format!("[{{\"ph\":\"i\",\"ts\":1,\"name\":\"{long}\"}}]"));
    let run = folder.run("redact -m 32M a.json -o safe.json").ends(0);
    run.says(&["replaced: 1 text of more than 4 MiB, as a whole"]);
    assert!(folder.read("safe.json").len() < 200);
}
