//! What the page tells of how the inputs were read.

use crate::indexed::mixed;
use crate::packed::padded;
use crate::support::{Opened, config, named, open_all, unread};
use tracemill_pipeline::{Config, IndexUse};
use tracemill_testkit::Rng;

/// Bytes of text that take some time to read.
const LARGE: usize = 33 << 20;

fn told(opened: &Opened) -> (Vec<String>, Option<String>) {
    let trace = opened.json("api/trace");
    let warnings = trace["warnings"].as_array().unwrap().iter();
    let warnings = warnings.map(|text| text.as_str().unwrap().to_owned()).collect();
    (warnings, trace["whole"].as_str().map(ToOwned::to_owned))
}

#[test]
fn an_index_that_cannot_be_kept_serves_nevertheless_and_is_told() {
    let text = padded(&mixed(&mut Rng::new(3)), LARGE);
    let opened = named("a.json", text.as_bytes(), Config { index: IndexUse::Auto, ..config() });
    let beside = opened.path.with_file_name("a.json.tmi");
    for is_file in [true, false] {
        // nothing of somebody else's is replaced
        match is_file {
            true => std::fs::write(&beside, "notes").unwrap(),
            false => {
                std::fs::remove_file(&beside).and_then(|()| std::fs::create_dir(&beside)).unwrap()
            }
        }
        opened.site.read().unwrap();
        let (warnings, whole) = told(&opened);
        assert_eq!((opened.json("api/trace")["by_index"].as_bool(), whole), (Some(true), None));
        assert!(warnings.len() == 1 && warnings[0].contains("is not kept"), "{warnings:?}");
        assert!(warnings[0].contains("a.json.tmi exists already"), "{warnings:?}");
    }
    std::fs::remove_dir(&beside).unwrap();
    opened.site.read().unwrap();
    assert_eq!(told(&opened), (Vec::new(), None));
    assert!(beside.is_file(), "it is kept where it can be");
}

#[test]
fn what_is_read_as_a_whole_is_told_with_the_reason() {
    let text = padded(&mixed(&mut Rng::new(4)), LARGE);
    let never = named("a.json", text.as_bytes(), Config { index: IndexUse::Never, ..config() });
    never.site.read().unwrap();
    assert_eq!(told(&never).1.unwrap(), "no index was to be asked");
    let packed = zstd::bulk::compress(text.as_bytes(), 1).unwrap();
    let one = named("a.json.zst", &packed, Config { index: IndexUse::Auto, ..config() });
    one.site.read().unwrap();
    assert!(
        told(&one).1.is_some_and(|why| why == "it can only be unpacked as a whole"),
        "{:?}",
        told(&one)
    );
    // small ones are read as soon as an index would be
    let small = unread(b"[{\"ph\":\"i\",\"ts\":1}]");
    small.site.read().unwrap();
    assert_eq!(told(&small), (Vec::new(), None));
}

#[test]
fn several_inputs_are_told_to_be_read_as_a_whole() {
    let texts = [5, 6].map(|seed| padded(&mixed(&mut Rng::new(seed)), LARGE / 2));
    let opened = open_all(&[&*texts[0], &*texts[1]]);
    let (_, whole) = told(&opened);
    assert_eq!(whole.unwrap(), "there are several inputs, and an index is of one");
}
