//! Functions and call sites of stacks, each stored once.
//!
//! Cost: the bytes of distinct sites and 20 bytes each, on disk beyond the lease.

use tracemill_analysis::events::carried::{StackTexts, push_site, stack_texts};
use tracemill_analysis::value::space::Space;
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::Error;
use tracemill_trace::spill::hash::hash_of;
use tracemill_trace::spill::{SpillArray, SpillIndex};

/// A function or a call site of a stack. Members are missing where the trace has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    /// Name of the function; empty for anonymous functions.
    pub function: Option<String>,
    /// URL of the script.
    pub url: Option<String>,
    /// Line, from 0.
    pub line: Option<f64>,
    /// Column, from 0.
    pub column: Option<f64>,
}

impl Site {
    fn of(texts: StackTexts<'_>) -> Self {
        let [function, url, line, column] = texts.map(|text| text.map(unescaped_text));
        let place = |text: Option<String>| text.and_then(|text| text.parse().ok());
        Site { function, url, line: place(line), column: place(column) }
    }

    /// Returns the URL with line and column, counted from 1 as in editors. Leaves out positions that
    /// V8 does not know.
    pub fn place(&self) -> String {
        let mut text = self.url.clone().unwrap_or_default();
        for place in [self.line, self.column].into_iter().flatten().filter(|place| *place >= 0.0) {
            text.push_str(&format!(":{}", place + 1.0));
        }
        text
    }
}

/// Distinct functions and call sites.
pub(crate) struct Sites {
    /// The sites as [`push_site`] writes them, one after the other.
    bytes: SpillArray<u8>,
    /// End of each site in `bytes`.
    ends: SpillArray<u64>,
    index: SpillIndex,
    text: Vec<u8>,
}

impl Sites {
    pub(crate) fn new(space: &Space) -> Self {
        Sites {
            bytes: space.array(8),
            ends: space.array(16),
            index: space.index(8),
            text: Vec::new(),
        }
    }

    /// Returns the number of a site, adding the site if it is new.
    pub(crate) fn number(&mut self, texts: StackTexts<'_>) -> Result<u32, Error> {
        self.text.clear();
        push_site(&mut self.text, texts);
        let hash = hash_of(&self.text);
        let is_it = |number: u32| self.bytes_of(number).eq(self.text.iter().copied());
        if let Some(number) = self.index.find(hash, is_it) {
            return Ok(number);
        }
        let number = self.ends.len() as u32;
        self.text.iter().try_for_each(|&byte| self.bytes.push(byte))?;
        self.ends.push(self.bytes.len() as u64)?;
        self.index.insert(hash, number)?;
        Ok(number)
    }

    /// Returns the site with a number.
    pub(crate) fn site(&self, number: u32) -> Site {
        let text: Vec<u8> = self.bytes_of(number).collect();
        stack_texts(&text).next().map(Site::of).unwrap_or_default()
    }

    /// Returns whether the file of a site is known.
    pub(crate) fn has_file(&self, number: u32) -> bool {
        let text: Vec<u8> = self.bytes_of(number).collect();
        let url = stack_texts(&text).next().and_then(|[_, url, ..]| url);
        url.is_some_and(|url| !url.is_empty())
    }

    fn bytes_of(&self, number: u32) -> impl Iterator<Item = u8> + '_ {
        let end = |at: usize| self.ends.get(at).unwrap_or(0) as usize;
        let at = number as usize;
        let start = if at == 0 { 0 } else { end(at - 1) };
        (start..end(at)).filter_map(|at| self.bytes.get(at))
    }
}
