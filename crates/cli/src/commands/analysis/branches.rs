//! Draws tree lines before rows, which come depth first. Takes one bit of memory per row.

/// Bit set of the rows that have a later sibling.
pub(super) struct Following(Vec<u64>);

/// Marks a depth at which no row is open.
const NONE: usize = usize::MAX;

impl Following {
    /// Computes the set from the depths of the rows.
    pub(super) fn of(depths: impl Iterator<Item = u32>) -> Self {
        let mut bits: Vec<u64> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (number, depth) in depths.enumerate() {
            if number % 64 == 0 {
                bits.push(0);
            }
            open.resize(depth as usize + 1, NONE);
            let before = std::mem::replace(&mut open[depth as usize], number);
            if before != NONE {
                bits[before / 64] |= 1 << (before % 64);
            }
        }
        Following(bits)
    }

    /// Returns a generator of tree lines, beginning with the first row.
    pub(super) fn branches(&self) -> Branches<'_> {
        Branches { following: self, number: 0, path: Vec::new() }
    }
}

/// Generates the tree lines of each row in order.
pub(super) struct Branches<'f> {
    following: &'f Following,
    number: usize,
    /// Whether each open row has a later sibling.
    path: Vec<bool>,
}

impl Branches<'_> {
    /// Returns the tree lines of the next row. `depth` is the depth of that row.
    pub(super) fn next(&mut self, depth: u32) -> String {
        let follows = self.following.0[self.number / 64] >> (self.number % 64) & 1 != 0;
        self.number += 1;
        self.path.resize(depth as usize, false);
        let mut branch = String::new();
        for &more in self.path.iter().skip(1) {
            branch.push_str(if more { "│  " } else { "   " });
        }
        if depth > 0 {
            branch.push_str(if follows { "├─ " } else { "└─ " });
        }
        self.path.push(follows);
        branch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference implementation that computes all lines from the last row to the first.
    fn expected(depths: &[u32]) -> Vec<String> {
        let mut follows: Vec<bool> = Vec::new();
        let mut all: Vec<String> = Vec::new();
        for &depth in depths.iter().rev() {
            let depth = depth as usize;
            follows.resize(depth + 1, false);
            let mut branch = String::new();
            for &more in follows.iter().take(depth).skip(1) {
                branch.push_str(if more { "│  " } else { "   " });
            }
            if depth > 0 {
                branch.push_str(if follows[depth] { "├─ " } else { "└─ " });
            }
            follows[depth] = true;
            all.push(branch);
        }
        all.reverse();
        all
    }

    #[test]
    fn tree_lines_join_siblings() {
        let mut depths: Vec<u32> = vec![0];
        for number in 1..3000u32 {
            let step = number.wrapping_mul(2_654_435_761) >> 27;
            depths.push(step.min(depths[depths.len() - 1] + 1));
        }
        let following = Following::of(depths.iter().copied());
        let mut branches = following.branches();
        let texts: Vec<String> = depths.iter().map(|&depth| branches.next(depth)).collect();
        assert_eq!(texts, expected(&depths));
        assert_eq!(texts[0], "");
    }
}
