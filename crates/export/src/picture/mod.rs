//! Pictures of call trees: flame graphs and flame charts, as SVG or as rectangles for a terminal.
//!
//! ```text
//!  tables ─> nodes (narrow ones folded) ─> sorted ─> rectangles ─> SVG, terminal
//! ```

mod build;
mod drawing;
mod growing;
mod layout;
mod legend;
mod nodes;
mod svg;
mod whole;

pub use build::{differential, picture, sandwich};
pub use drawing::{ChangeRules, Drawn, Order, Picture, PictureRules};
use std::io::{self, Write};

impl Picture {
    /// Writes the picture as a single SVG file with zoom and search. Without scripts, the picture
    /// is still readable. Its colours follow the reader's light or dark mode. Equal pictures give
    /// equal bytes on all machines.
    ///
    /// # Errors
    /// Returns the error of `out`.
    pub fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        svg::write(self, out)
    }
}
