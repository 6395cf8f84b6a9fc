//! Patterns that match rows and URLs.

use regex::{Regex, RegexBuilder};
use std::str::FromStr;

/// An unanchored regular expression that matches texts of rows and URLs of functions.
#[derive(Clone, Debug)]
pub struct Matcher(Regex);

impl FromStr for Matcher {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The result is not used; parsing gives the error message.
        let _: tracemill_join::config::pattern::Pattern = text.parse()?;
        Regex::new(text).map(Matcher).map_err(|why| why.to_string())
    }
}

impl Matcher {
    /// Returns the regular expression.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns whether the pattern matches anywhere in a text given as bytes.
    pub(crate) fn finds(&self, text: &[u8]) -> bool {
        self.is_match(&String::from_utf8_lossy(text))
    }

    /// Returns whether the pattern matches a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Creates a pattern that finds a literal text, ignoring case.
    ///
    /// # Errors
    /// Returns a message if the text is too long for a regular expression.
    pub fn of_text(text: &str) -> Result<Self, String> {
        let expression = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build();
        expression.map(Matcher).map_err(|why| why.to_string())
    }
}
