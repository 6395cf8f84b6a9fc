//! Call trees, bottom-up and profile calls of performance traces, with the numbers of Chrome DevTools to the bit.
//!
//! ```text
//!  scan (parallel, 1 pass) ─> 32 bytes an event, by thread ─> sorted ─> calls of samples ─> merged ─> nested ─> walk ─> tables
//! ```
//!
//! [`Trace::read`] reads inputs; [`Trace::track`] makes a thread's flame chart; a [`View`] of it gives its rows
//! ([`View::flame`]), [`View::call_tree`], [`View::bottom_up`] and [`View::log`] as [`Table`]s of [`TreeRow`]s.
//!
//! All times are doubles, and every sum is made in the order in which DevTools makes it: so the numbers are its own, to the last
//! bit. Where DevTools has a defect ours is right unless `as_devtools` asks for the defect ([`ReadRules`], [`TableRules`]).
//!
//! Modules in the order in which bytes meet them: `facts` (events to records), `details` (what `args` say), `meta` (names and
//! pages), `pairs` (B and E), `model` (a profile), `calls` and `frames` (samples to calls), `entries` (the flame chart), `walk`,
//! `views` and `tree` (rows), `groups` and `styles` (what DevTools calls them), `table`.
#![forbid(unsafe_code)]

mod calls;
mod details;
mod entries;
mod facts;
mod frames;
mod groups;
mod kinds;
mod meta;
mod model;
mod names;
mod pairs;
mod styles;
mod table;
mod trace;
mod tree;
mod urls;
mod value;
mod views;
mod walk;

pub use details::Wanted;
pub use groups::GroupBy;
pub use pairs::Pairs;
pub use table::{Entries, FlameRow, Location, Table, TableRules, TreeRow, View};
pub use trace::{ReadRules, Thread, ThreadKind, Trace, Track};
pub use walk::Window;
