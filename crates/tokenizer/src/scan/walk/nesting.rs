//! Which brackets are open.
//!
//! ```text
//!   { [ { { [          objects = … 1 0 1 1 0      a bit a level, the innermost lowest; 1 for an object
//!   levels 64 to 127   spilled = [ 64 bits ]      pushed when the register is full, and taken back
//! ```
//!
//! So a bracket costs a shift, and depth is bounded by the heap alone: a bit a level.

/// Why [`Nesting::spilled`] has what is asked for.
pub(super) const SPILLED: &str = "a word was spilled at every 64th level";

/// Open brackets: depth, and per level whether it is an object. 64 levels in a register, the rest spilled.
#[derive(Clone, Default)]
pub(super) struct Nesting {
    /// How many are open.
    pub(super) depth: u32,
    /// The innermost level is the lowest bit.
    pub(super) objects: u64,
    /// The bits of the levels below the last 64, 64 each.
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

    /// The nesting around events at `level`.
    pub(super) fn around(level: u32) -> Self {
        let objects = if level == 2 { 0b10 } else { 0 };
        Nesting { depth: level, objects, spilled: Vec::new() }
    }
}
