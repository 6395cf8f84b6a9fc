//! Shows traces of any size in a browser, with a server on the loopback interface and a page.
//!
//! ```text
//!  browser page  ── tiles ──  hyper, one thread  ── one thread per request ──┐
//!   minimap · lanes               │                                          v
//!                                 │      rows on disk and their sums, from one pass over the
//!                                 │      inputs, or from an index and windows of the trace
//!                                 └── slices ──  `slice` of the pipeline, sent while it is written
//! ```
//!
//! [`Site`] answers requests without a socket, and [`Bound`] serves a site on a port. The server
//! serves only the given inputs, and only to clients that know the token in the path. By default, a
//! request must name a loopback host. The server never contacts another host.
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
//! A *lane* is a track of the page: that of a thread, an async operation, a counter, or the calls
//! of a thread. A lane is drawn in one or more *rows*.
//!
//! | module | job |
//! |---|---|
//! | `tracks` | events to intervals in rows, with sums; names, flows, marks of damage |
//! | `build` | reads whole inputs: sorts, pairs, assigns rows |
//! | `model` | lanes, rows and names of a trace or of a window |
//! | `indexed` | traces shown by their index; search by name |
//! | `tile` | answers for drawing: tiles, statistics, search, ancestors and arrows |
//! | `causes` | initiators and stacks of events, trees, tracks of pages, from a second pass |
//! | `slices` | slices as downloads, and the memory lent to background work |
//! | `ask` | requests, replies, DevTools and other viewers |
//! | `site`, `server` | routes; sockets and slow clients |
#![forbid(unsafe_code)]

mod ask;
mod build;
mod causes;
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

/// Generates a token from 128 random bits, as 32 hexadecimal digits.
///
/// # Errors
/// Returns an error if the system provides no random bytes.
pub fn token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
