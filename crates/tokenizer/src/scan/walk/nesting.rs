//! Stores which brackets are open.
//!
//! ```text
//!   { [ { { [           objects = … 1 0 1 1 0      one bit per level, innermost lowest; 1: object
//!   depth 65 to 128     spilled = [ 64 levels ]    pushed at level 65, popped on the way back
//! ```
//!
//! A bracket costs one shift. Memory: one bit per level, so depth is unlimited.

/// Message of the panic if [`Nesting::spilled`] is empty.
pub(super) const SPILLED: &str = "a word was spilled at every 64th level";

/// The kinds of all open brackets. The innermost 64 levels are in a register.
#[derive(Clone, Default)]
pub(super) struct Nesting {
    /// Number of open brackets.
    pub(super) depth: u32,
    /// One bit per level, set for an object; the lowest bit is the innermost level.
    pub(super) objects: u64,
    /// Bits of the outer levels, 64 per word.
    pub(super) spilled: Vec<u64>,
}

impl Nesting {
    #[inline(always)]
    pub(super) fn push(&mut self, object: bool) {
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.spilled.push(self.objects);
        }
        self.objects = self.objects << 1 | u64::from(object);
        self.depth += 1;
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.objects = self.spilled.pop().expect(SPILLED);
        }
    }

    #[inline(always)]
    pub(super) fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    /// Returns the nesting around events at `level`.
    pub(super) fn around(level: u32) -> Self {
        let objects = if level == 2 { 0b10 } else { 0 };
        Nesting { depth: level, objects, spilled: Vec::new() }
    }
}
