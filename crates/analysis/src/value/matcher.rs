//! Patterns that rows and URLs are held against.

use regex::{Regex, RegexBuilder};
use std::str::FromStr;

/// A regular expression, not anchored, held against the text of a row and the URL of its function.
#[derive(Clone, Debug)]
pub struct Matcher(Regex);

impl FromStr for Matcher {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // for what it says of a wrong one
        let _: tracemill_join::config::pattern::Pattern = text.parse()?;
        Regex::new(text).map(Matcher).map_err(|why| why.to_string())
    }
}

impl Matcher {
    /// As it was written; of a text that is looked for as it stands, an expression that finds it.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it matches a text in bytes.
    pub(crate) fn finds(&self, text: &[u8]) -> bool {
        self.is_match(&String::from_utf8_lossy(text))
    }

    /// Whether it matches a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// One that finds a text as it stands, whatever its case.
    ///
    /// # Errors
    /// For a text that is too long for an expression.
    pub fn of_text(text: &str) -> Result<Self, String> {
        let expression = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build();
        expression.map(Matcher).map_err(|why| why.to_string())
    }
}
