//! Screenshots as files named by time.

use crate::support::Folder;
use std::collections::BTreeMap;
use std::path::Path;
use tracemill_testkit::{Rng, seeds};

/// Encodes bytes in base64.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0, |sum, at| sum << 8 | usize::from(*three.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let letter = char::from(LETTERS[number >> (18 - 6 * at) & 63]);
            text.push(if at > three.len() { '=' } else { letter });
        }
    }
    text
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let all =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    all.map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect()
}

#[test]
fn random_screenshots_become_files_with_their_bytes() {
    for seed in seeds(7700, 20) {
        let mut rng = Rng::new(seed);
        let start = 1000 + rng.index(5000) as u64;
        let mut events = vec![
            r#"{"ph":"M","name":"process_name","pid":1,"ts":0,"args":{"name":"p"}}"#.to_owned(),
            format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{start},"dur":5}}"#),
            r#"{"ph":"O","name":"Screenshot","pid":1,"tid":1,"ts":9999,"args":{"snapshot":""}}"#
                .to_owned(),
        ];
        let mut expected = BTreeMap::new();
        let mut at = start;
        for _ in 0..1 + rng.index(6) {
            at += 1 + rng.index(70_000) as u64;
            let (head, extension): (&[u8], _) = match rng.index(3) {
                0 => (b"\x89PNG", "png"),
                1 => (b"RIFF", "webp"),
                _ => (b"\xff\xd8", "jpg"),
            };
            let tail = (0..rng.index(40)).map(|_| rng.index(256) as u8);
            let image: Vec<u8> = head.iter().copied().chain(tail).collect();
            events.push(format!(
                r#"{{"ph":"O","name":"Screenshot","pid":1,"tid":1,"ts":{at},"args":{{"snapshot":"{}"}}}}"#,
                base64(&image)
            ));
            let ms = (at - start) / 1000;
            expected.insert(format!("{ms:07}.{:03}ms.{extension}", (at - start) % 1000), image);
        }
        rng.shuffle(&mut events);
        let folder = Folder::new().with("t.json", format!("[{}]", events.join(",")));
        folder.run("convert t.json --screenshots shots").ends(0);
        assert_eq!(files(&folder.path("shots")), expected, "seed {seed}");
    }
}

#[test]
fn equal_times_have_numbers_and_files_are_not_replaced() {
    let shot =
        r#"{"ph":"O","name":"Screenshot","pid":1,"tid":1,"ts":5,"args":{"snapshot":"/9g="}}"#;
    let folder = Folder::new()
        .with("t.json", format!("[{shot},{shot}]"))
        .with("none.json", r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":5}]"#);
    folder.run("convert t.json --screenshots shots").ends(0).says(&["2 screenshots in shots"]);
    let names: Vec<String> = files(&folder.path("shots")).into_keys().collect();
    assert_eq!(names, ["0000000.000ms-2.jpg", "0000000.000ms.jpg"]);
    assert_ne!(
        folder.command("convert t.json --screenshots shots").status().expect("a run").code(),
        Some(0)
    );
    folder.run("convert t.json --screenshots shots -f").ends(0);
    folder.run("convert none.json --screenshots none").ends(1).says(&["no screenshots"]);
    folder.run("convert t.json --screenshots shots --style compact").ends(2);
}
