//! Pictures of call trees: flame graphs and flame charts as SVG, or rectangles for a terminal.
//!
//! ```text
//!  tables ─> nodes (whole nanoseconds; narrow ones folded and counted) ─> sorted ─> rectangles ─> SVG, terminal
//! ```

mod build;
mod drawing;
mod growing;
mod layout;
mod nodes;
mod svg;
mod whole;

pub use build::{differential, picture, sandwich};
pub use drawing::{ChangeRules, Drawn, Order, Picture, PictureRules};
use std::io::{self, Write};

impl Picture {
    /// Writes it as one SVG, which needs nothing else: it is seen without its script, and with it zooms and finds. Light and dark follow the
    /// reader. The same picture makes the same bytes everywhere.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        svg::write(self, out)
    }
}
