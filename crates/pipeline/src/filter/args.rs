//! Criteria on `args`, such as `data.type=mousedown` or `data.url~^https:`.

use regex::bytes::Regex;
use std::collections::BTreeMap;
use std::str::FromStr;
use tracemill_join::config::pattern::{Case, Pattern, any_of};
use tracemill_tokenizer::canonical;
use tracemill_trace::json::{content, member};
use tracemill_trace::run::error::Error;

/// A criterion on a value in `args`: a path, and a value or pattern.
///
/// ```
/// use tracemill_pipeline::ArgsCriterion;
///
/// let criterion: ArgsCriterion = "data.type=mousedown".parse()?;
/// assert_eq!(criterion.as_str(), "data.type=mousedown");
/// assert!("data.type".parse::<ArgsCriterion>().is_err()); // neither = nor ~
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArgsCriterion {
    text: String,
    /// Names of nested members, the outermost first.
    path: Vec<String>,
    wanted: ArgCondition,
}

#[derive(Clone, Debug)]
enum ArgCondition {
    /// A string with this content, an equal number, or this literal.
    Equal(String),
    /// A string whose content matches, or a number or literal whose text matches.
    Matching(Pattern),
}

impl ArgsCriterion {
    /// Returns the criterion as the user wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for ArgsCriterion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected KEY=VALUE or KEY~REGEX, such as data.type=click; KEY has dots between names of members";
        let at = text.find(['=', '~']).ok_or_else(|| format!("{expected}: {text}"))?;
        let (path, value) = (&text[..at], &text[at + 1..]);
        if path.split('.').any(str::is_empty) {
            return Err(format!("{expected}: {text}"));
        }
        let wanted = match text.as_bytes()[at] {
            b'=' => ArgCondition::Equal(value.to_owned()),
            _ => ArgCondition::Matching(value.parse()?),
        };
        let path = path.split('.').map(str::to_owned).collect();
        Ok(ArgsCriterion { text: text.to_owned(), path, wanted })
    }
}

/// Compiled criteria, grouped by path. One criterion of each path must match.
#[derive(Clone, Debug, Default)]
pub(super) struct ArgsTests(Vec<(Vec<String>, Vec<Test>)>);

#[derive(Clone, Debug)]
enum Test {
    Equal {
        text: String,
        /// The canonical form of `text`, if it is a number.
        number: Option<Vec<u8>>,
    },
    Matching(Regex),
}

impl ArgsTests {
    /// Compiles criteria.
    ///
    /// # Errors
    /// Returns [`tracemill_trace::ErrorKind::Usage`] if a pattern is too large.
    pub(super) fn of(criteria: &[ArgsCriterion]) -> Result<Self, Error> {
        let mut by_path: BTreeMap<Vec<String>, Vec<Test>> = BTreeMap::new();
        for criterion in criteria {
            let test = match &criterion.wanted {
                ArgCondition::Equal(text) => {
                    Some(Test::Equal { text: text.clone(), number: form(text.as_bytes()) })
                }
                ArgCondition::Matching(pattern) => {
                    any_of(std::slice::from_ref(pattern), Case::Matters)?.map(Test::Matching)
                }
            };
            by_path.entry(criterion.path.clone()).or_default().extend(test);
        }
        Ok(ArgsTests(by_path.into_iter().collect()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `args` match one criterion of each path. Cost: one pass over each object on
    /// a path.
    pub(super) fn are_met(&self, args: &[u8], scratch: &mut Vec<u8>) -> bool {
        self.0.iter().all(|(path, tests)| {
            let value = path.iter().try_fold(args, |value, name| member(value, name.as_bytes()));
            value.is_some_and(|value| tests.iter().any(|test| test.is_met(value, scratch)))
        })
    }
}

impl Test {
    fn is_met(&self, value: &[u8], scratch: &mut Vec<u8>) -> bool {
        if matches!(value, [b'{' | b'[', ..]) {
            return false;
        }
        let text = content(value, scratch);
        match self {
            Test::Equal { text: wanted, number } => {
                text == wanted.as_bytes() || number.is_some() && form(value) == *number
            }
            Test::Matching(regex) => regex.is_match(text),
        }
    }
}

/// Returns the canonical form of a number, or `None` for any other value. Equal numbers have the
/// same form.
fn form(number: &[u8]) -> Option<Vec<u8>> {
    let mut form = Vec::new();
    canonical(number, &mut form).then_some(form)
}
