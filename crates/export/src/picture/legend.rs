//! The legend of a picture: the meaning of the colours that it has.

use super::drawing::Picture;
use super::layout::What;
use std::collections::BTreeSet;

/// Classes of changes and their meaning, in the order of the legend. Percentages are of the picture.
const CHANGES: [(&str, &str); 9] = [
    ("p3", "slower ≥ 5 %"),
    ("p2", "slower ≥ 2 %"),
    ("p1", "slower"),
    ("same", "about equal"),
    ("n1", "faster"),
    ("n2", "faster ≥ 2 %"),
    ("n3", "faster ≥ 5 %"),
    ("new", "new"),
    ("gone", "gone"),
];

/// Classes of categories and their names.
const CATEGORIES: [(&str, &str); 7] = [
    ("scripting", "scripting"),
    ("rendering", "rendering"),
    ("painting", "painting"),
    ("loading", "loading"),
    ("gpu", "GPU"),
    ("idle", "idle"),
    ("light", "colour in the trace"),
];

/// Returns the classes of the drawn frames that have a meaning, and their meanings. For frames with
/// a colour by file, the class is that of a file.
pub(super) fn legend(picture: &Picture) -> Vec<(String, &'static str)> {
    let mut drawn: BTreeSet<String> = BTreeSet::new();
    let (mut file, mut is_folded) = (None, false);
    for band in &picture.bands {
        for rectangle in &band.drawn {
            match rectangle.content {
                What::Folded(_) => is_folded = true,
                What::Node(at) => {
                    let class = picture.class(band, at);
                    match class.strip_prefix('h').is_some_and(|hue| hue.parse::<u8>().is_ok()) {
                        true => file = file.or(Some(class)),
                        false => drop(drawn.insert(class)),
                    }
                }
            }
        }
    }
    let known: &[(&str, &str)] = if picture.change.is_some() { &CHANGES } else { &CATEGORIES };
    let known = known.iter().filter(|(class, _)| drawn.contains(*class));
    let by_class = known.map(|(class, meaning)| ((*class).to_owned(), *meaning));
    let file = file.map(|class| (class, "a colour for each file"));
    let folded = is_folded.then(|| ("fold".to_owned(), "… narrow frames"));
    by_class.chain(file).chain(folded).collect()
}
