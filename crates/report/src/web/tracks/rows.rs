//! A track, and its rows.

use crate::spread::Lasting;
use crate::web::interactions::Interaction;
use crate::web::shifts::ShiftCluster;
use tracemill_analysis::{Trace, Window};
use tracemill_trace::Error;

/// A track of DevTools' panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Track {
    /// Frames of the page.
    Frames,
    /// Animations.
    Animations,
    /// User timings: marks, measures, `console.time`, `console.timeStamp`.
    Timings,
    /// Interactions with the page.
    Interactions,
    /// Layout shifts and their clusters.
    LayoutShifts,
    /// A track of an extension. Holds the numbers of the texts of its name and of its group's name.
    Extension {
        /// Number of the track's name.
        name: u32,
        /// Number of the name of the track's group; 0 if there is none.
        group: u32,
    },
    /// Tasks of the GPU process.
    Gpu,
    /// Screenshots.
    Screenshots,
}

impl Track {
    /// The tracks of DevTools that are not of extensions, in the order of the panel.
    pub const ALL: [Track; 7] = [
        Track::Screenshots,
        Track::Frames,
        Track::Animations,
        Track::Timings,
        Track::Interactions,
        Track::LayoutShifts,
        Track::Gpu,
    ];

    /// Returns the short name of the track; that of all extension tracks is the same.
    pub fn key(self) -> &'static str {
        match self {
            Track::Frames => "frames",
            Track::Animations => "animations",
            Track::Timings => "timings",
            Track::Interactions => "interactions",
            Track::LayoutShifts => "layout-shifts",
            Track::Extension { .. } => "extension-track",
            Track::Gpu => "gpu",
            Track::Screenshots => "screenshots",
        }
    }

    /// Returns whether a user means the track by a name: its short name, or the name of an
    /// extension's track or of the track's group.
    pub fn is_named(self, trace: &Trace, name: &str) -> bool {
        match self {
            Track::Extension { name: track, group } => {
                [track, group].iter().any(|&text| text != 0 && trace.names().text(text) == name)
            }
            track => track.key() == name,
        }
    }

    /// Returns the place of the track in the panel.
    pub(crate) fn place(self) -> usize {
        let at = Track::ALL.iter().position(|track| *track == self);
        at.unwrap_or(Track::ALL.len() - 1) + usize::from(self == Track::Gpu)
    }
}

/// A row of a track. Times are microseconds on the trace's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackRow {
    /// Title of the row in DevTools.
    pub name: String,
    /// Kind of the row, such as `dropped frame` or `mark`.
    pub kind: &'static str,
    /// Start.
    pub ts: f64,
    /// Duration; 0 if the row is a point in time.
    pub dur: f64,
    /// DevTools' key of the row; frames have none.
    pub key: Option<String>,
    /// Input delay, processing time and presentation delay of an interaction.
    pub parts: Option<[f64; 3]>,
    /// Score of a layout shift or cluster.
    pub score: Option<f64>,
}

impl TrackRow {
    pub(crate) fn new(name: String, kind: &'static str, window: Window) -> Self {
        let (ts, dur) = (window.from, window.to - window.from);
        TrackRow { name, kind, ts, dur, key: None, parts: None, score: None }
    }

    pub(crate) fn keyed(self, key: String) -> Self {
        TrackRow { key: Some(key), ..self }
    }

    pub(crate) fn of_interaction(interaction: &Interaction) -> Self {
        let (name, kind) = match interaction.category() {
            0 => ("Pointer", "pointer interaction"),
            1 => ("Keyboard", "keyboard interaction"),
            _ => ("Other", "other interaction"),
        };
        let parts = [interaction.delay(), interaction.handling(), interaction.presentation()];
        let window = Window { from: interaction.ts, to: interaction.end() };
        let row = TrackRow::new(name.to_owned(), kind, window).keyed(interaction.key.clone());
        TrackRow { dur: interaction.dur, parts: Some(parts), ..row }
    }

    pub(crate) fn of_cluster(cluster: &ShiftCluster) -> Self {
        let window = Window { from: cluster.ts, to: cluster.ts + cluster.dur };
        let row = TrackRow::new("Layout shift cluster".to_owned(), "cluster", window);
        TrackRow { dur: cluster.dur, key: cluster.worst.clone(), score: Some(cluster.score), ..row }
    }
}

impl Lasting for TrackRow {
    fn dur(&self) -> f64 {
        self.dur
    }
}

/// Takes the rows of tracks.
pub type RowVisit<'v> = dyn FnMut(Track, TrackRow) -> Result<(), Error> + 'v;
