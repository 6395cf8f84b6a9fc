//! Performance traces of any size in a browser: a server on loopback, and the page that it serves.
//!
//! ```text
//!  browser page  ── tiles ──  hyper, one thread  ── a thread a request ──  rows on disk, sums over them
//!   minimap · lanes               │                                          └ made by one pass over the inputs, or of an index and windows of the trace
//!                                 └── slices ──  `slice` of the pipeline, sent while it is written
//! ```
//!
//! [`Site`] answers requests without a socket; [`Bound`] is the socket. Nothing but the named inputs is served, to nobody who does not know the
//! token in the path, under no name but loopback's, and nothing is ever asked of another host.
//!
//! ```
//! use tracemill_trace::run::limits::Cancel;
//! use tracemill_pipeline::{Config, Source};
//! use tracemill_view::{Ask, Content, Site};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("trace.json");
//! # std::fs::write(&path, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":5000}]"#)?;
//!
//! let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
//! let site = Site::new(vec![Source::Path(path)], config, "secret".into(), 8080);
//! site.read()?; // until then answers have status 503
//! let mut ask = Ask { method: "GET", target: "/secret/api/trace", host: Some("localhost:8080"), origin: None, is_own: false };
//! let reply = site.answer(&ask, &Cancel::default());
//! let Content::Whole(json) = reply.content else { unreachable!("it is not large") };
//! assert!(String::from_utf8(json)?.contains(r#""duration":"5000000""#)); // nanoseconds
//! ask.target = "/guessed/api/trace";
//! assert_eq!(site.answer(&ask, &Cancel::default()).status, 404);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Modules in the order in which bytes meet them: `found` (events to intervals), `record` (what stays of them), `notes` and `lane` (what they
//! belong to), `build` (sorting and pairing), `joined` (several inputs as one), `rows` (which row each lies in), `tracks` (rows and sums over them), `placing` (spans into these), `names` and `bins` (what is shared, what an index sums up), `model` (all of it, or of a window), `indexed`, `long`, `calls` and `seek` (a trace by its index), `shown` (which of both), `flows` (arrows), `damage` (marks of it), `tile`,
//! `around`, `stats` and `slices` (answers), `devtools` and `viewers` (where slices go on), `room` (who has the memory), `ask` and `reply` (requests and answers), `so_far` (what is told while a trace is read), `site` (routes), `patience` (clients that do not read), `server` (sockets).
#![forbid(unsafe_code)]

mod ask;
mod build;
mod indexed;
mod model;
mod server;
mod site;
mod slices;
mod tile;
mod tracks;

pub use ask::Ask;
pub use ask::devtools::find_chromium;
pub use ask::reply::{BodyPieces, Content, Reply};
pub use ask::viewers::Viewers;
pub use server::Bound;
pub use site::Site;

/// A token that nobody guesses: 128 bits of the system's, as 32 digits.
///
/// # Errors
/// What the system says, if it has no random bytes.
pub fn token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
