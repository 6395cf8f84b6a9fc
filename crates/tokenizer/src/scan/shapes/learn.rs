//! Splits an event into the nodes of its shape.

use super::node::{FieldMark, LITERAL, Node, Token};
use crate::text::field::Field;
use crate::text::is_space;
use memchr::memchr;

/// Maximum length of a learned event, in bytes.
const EVENT: usize = 2048;
/// Maximum number of nodes of an event.
const STEPS: usize = 96;
/// Maximum number of bytes between two events.
const GAP: usize = 24;

/// Returns whether the event in the first `len` bytes of `text` may have a shape: it is short, is
/// ASCII and has no backslash.
pub(super) fn may_have_shape(text: &[u8], len: usize) -> bool {
    len <= EVENT && text[..len].is_ascii() && memchr(b'\\', &text[..len]).is_none()
}

/// Returns the nodes of the event in the first `len` bytes of `text`, which are JSON in ASCII
/// without escapes. Returns `None` if the event has too many nodes, or if one comma and another
/// event do not follow.
pub(super) fn steps(text: &[u8], len: usize) -> Option<Vec<Node>> {
    let is_separator = |&&byte: &&u8| is_space(byte) || byte == b',';
    let gap = text[len..].iter().take(GAP).take_while(is_separator).count();
    let separators = &text[len..len + gap];
    let commas = separators.iter().filter(|&&byte| byte == b',').count();
    if text.get(len + gap) != Some(&b'{') || commas != 1 {
        return None;
    }
    let mut steps = Steps::default();
    steps.event(&text[..len])?;
    steps.literal.extend_from_slice(&text[len..=len + gap]);
    steps.cut(Token::NextEvent)?;
    let last = steps.nodes.last_mut()?;
    (last.seen, last.gap) = (steps.seen, gap as u8 + 1);
    Some(steps.nodes)
}

/// The nodes of an event that is being split.
#[derive(Default)]
struct Steps {
    nodes: Vec<Node>,
    /// The literal of the next node.
    literal: Vec<u8>,
    /// Fields whose colons are in the literal, each with the offset after its colon.
    fields: Vec<(Field, usize)>,
    seen: u16,
    depth: u32,
}

impl Steps {
    /// Reads an event, which is JSON without escapes. Its opening brace is in no literal.
    fn event(&mut self, event: &[u8]) -> Option<()> {
        let (_, mut rest) = event.split_first()?;
        self.depth = 1;
        while let Some((&byte, after)) = rest.split_first() {
            rest = match byte {
                b'"' => self.string(rest)?,
                b'0'..=b'9' => self.number(rest)?,
                _ => {
                    match byte {
                        b'{' | b'[' => self.depth += 1,
                        b'}' | b']' => self.depth -= 1,
                        _ => {}
                    }
                    self.literal.push(byte);
                    if byte == b'['
                        && let Some(rest) = integers(after)
                    {
                        self.cut(Token::Integers)?;
                        rest
                    } else {
                        after
                    }
                }
            };
        }
        Some(())
    }

    /// Reads a key with its colon, or a string that is a value; returns the text after it.
    fn string<'t>(&mut self, text: &'t [u8]) -> Option<&'t [u8]> {
        let end = 1 + text[1..].iter().position(|&byte| byte == b'"')?;
        let colon = end + 1 + text[end + 1..].iter().take_while(|&&byte| is_space(byte)).count();
        if text.get(colon) != Some(&b':') {
            self.literal.push(b'"');
            self.cut(Token::String)?;
            self.literal.push(b'"');
            return Some(&text[end + 1..]);
        }
        let (key, mut after) = (&text[1..end], &text[colon + 1..]);
        let field = Field::ALL.into_iter().find(|field| field.key().as_bytes() == key);
        let field = field.filter(|_| self.depth == 1);
        if field.is_some() && self.fields.len() == 2 {
            self.cut(Token::Nothing)?;
        }
        self.literal.extend_from_slice(&text[..=colon]);
        if let Some(field) = field {
            self.fields.push((field, self.literal.len()));
            self.seen |= field.bit();
        }
        // a phase of one letter is part of the literal, because it distinguishes kinds of events
        if let (Some(Field::Ph), [b'"', _, b'"', rest @ ..]) = (field, after) {
            self.literal.extend_from_slice(&after[..3]);
            after = rest;
        }
        Some(after)
    }

    /// Reads the digits of a number; returns the text after it.
    fn number<'t>(&mut self, text: &'t [u8]) -> Option<&'t [u8]> {
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.cut(Token::Integer)?;
        let mut after = &text[digits(text)..];
        if let [b'.', decimals @ ..] = after {
            self.literal.push(b'.');
            self.cut(Token::Decimals)?;
            after = &decimals[digits(decimals)..];
        }
        (!matches!(after, [b'e' | b'E', ..])).then_some(after)
    }

    /// Adds nodes for the literal, with `token` after the last node. Returns `None` if the event
    /// has too many nodes.
    fn cut(&mut self, token: Token) -> Option<()> {
        let mut from = 0;
        loop {
            let to = self.literal.len().min(from + LITERAL);
            let is_last = to == self.literal.len();
            let mut node =
                Node::new(&self.literal[from..to], if is_last { token } else { Token::Nothing });
            let marks = self.fields.iter().filter(|field| field.1 > from && field.1 <= to);
            for (mark, &(field, at)) in node.fields.iter_mut().zip(marks) {
                *mark = FieldMark { field: field as u8, at: (at - from) as u8 };
            }
            self.nodes.push(node);
            if is_last {
                break;
            }
            from = to;
        }
        self.literal.clear();
        self.fields.clear();
        (self.nodes.len() <= STEPS).then_some(())
    }
}

/// Returns the text after a list of integers without signs, from its closing bracket on. Returns
/// `None` for any other list.
fn integers(text: &[u8]) -> Option<&[u8]> {
    let len = text.iter().take_while(|&&byte| byte.is_ascii_digit() || byte == b',').count();
    let (integers, after) = text.split_at(len);
    (!integers.is_empty() && after.first() == Some(&b']')).then_some(after)
}
