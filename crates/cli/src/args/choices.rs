//! Flags whose values are named choices.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Returns a parser of values that have names. Each entry has a name, its value, and a help text,
/// which may be empty.
pub(super) fn choices<T: Clone + Send + Sync + 'static>(
    all: impl IntoIterator<Item = (&'static str, T, &'static str)>,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<_> = all.into_iter().collect();
    let shown = |&(name, _, help): &(&'static str, T, &'static str)| match help {
        "" => PossibleValue::new(name),
        help => PossibleValue::new(name).help(help),
    };
    PossibleValuesParser::new(all.iter().map(shown)).try_map(move |name| {
        let found = all.iter().find(|choice| choice.0.eq_ignore_ascii_case(&name));
        found.map(|choice| choice.1.clone()).ok_or("a possible value is one of them")
    })
}
