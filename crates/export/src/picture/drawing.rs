//! Pictures: their trees, the rectangles to draw, and colours.

use super::layout::{Rectangle, What, fit};
use super::nodes::Nodes;
use crate::stacks::{Frame, KeptRows};
use tracemill_viewers::color::COLORS;

/// The order of the frames below a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Sorts frames by total time, longest first.
    #[default]
    Heavy,
    /// Sorts frames by name.
    Name,
    /// Sorts frames by time. Each event or call is a frame, and each thread a band. Needs tables of
    /// [`Shape::Log`](tracemill_analysis::Shape::Log).
    Time,
}

/// Options of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureRules {
    /// The order of frames.
    pub order: Order,
    /// Whether callees are drawn above their callers.
    pub up: bool,
    /// Maximum number of drawn frames.
    pub most: usize,
    /// Maximum depth. The time of deeper rows counts as time of their caller at that depth.
    pub depth: usize,
    /// Whether V8's `(idle)` is drawn. Flame charts always draw it.
    pub idle: bool,
}

impl Default for PictureRules {
    fn default() -> Self {
        let (order, depth) = (Order::Heavy, usize::MAX);
        PictureRules { order, up: false, most: 20_000, depth, idle: false }
    }
}

impl PictureRules {
    pub(super) fn kept(&self) -> KeptRows {
        KeptRows { signed: false, idle: self.idle || self.order == Order::Time }
    }
}

/// Options for colouring the differences between two traces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChangeRules {
    /// Whether colours show the change of total time instead of self time.
    pub total: bool,
    /// Minimum change that is coloured, in percent of the picture's width.
    pub least: f64,
    /// Whether the times of the base are scaled so that their sum is that of the new trace.
    pub normalize: bool,
}

/// A band of a picture: a tree with a title.
pub(super) struct Band {
    pub(super) title: String,
    pub(super) nodes: Nodes,
    pub(super) up: bool,
    /// Whether the band shows frames that only the base has.
    pub(super) gone: bool,
    pub(super) drawn: Vec<Rectangle>,
}

/// A flame graph or flame chart.
pub struct Picture {
    /// Text before the title: inputs and date.
    pub(super) recording: String,
    pub(super) title: String,
    pub(super) frames: Vec<Frame>,
    pub(super) bands: Vec<Band>,
    /// Width of the picture in nanoseconds.
    pub(super) length: u64,
    pub(super) rules: PictureRules,
    pub(super) change: Option<ChangeRules>,
    /// Time of `(idle)` that is left out, in nanoseconds.
    pub(super) idle: u64,
}

/// A drawn frame, for a renderer outside this crate.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn<'p> {
    /// Index of the band.
    pub band: usize,
    /// Depth from 0.
    pub depth: u32,
    /// Left edge, from 0 to 1.
    pub x: f64,
    /// Width, from 0 to 1.
    pub width: f64,
    /// Total time in nanoseconds.
    pub total: u64,
    /// Name of the frame. Empty if the frame represents several folded ones.
    pub name: &'p str,
    /// Number of frames that this one represents. More than 1 only for folded frames.
    pub frames: u64,
    /// Index of the colour, below [`Drawn::COLOURS`], or [`Drawn::IDLE`].
    pub colour: u8,
}

impl Drawn<'_> {
    /// Number of colours.
    pub const COLOURS: u8 = 12;
    /// Colour of V8's `(idle)`.
    pub const IDLE: u8 = Self::COLOURS;
}

impl Picture {
    /// Adds a text before the title, such as the name of the input and the date of the recording.
    pub fn of_recording(self, recording: String) -> Self {
        Picture { recording, ..self }
    }

    pub(super) fn is_timed(&self) -> bool {
        self.rules.order == Order::Time
    }

    pub(super) fn lay_out(&mut self) {
        let trees: Vec<&Nodes> = self.bands.iter().map(|band| &band.nodes).collect();
        let drawn = fit(&trees, self.length, self.rules.most, self.rules.order == Order::Time);
        for (band, drawn) in self.bands.iter_mut().zip(drawn) {
            band.drawn = drawn;
        }
    }

    /// Returns the number of drawn frames, and the number of folded frames.
    pub fn counts(&self) -> (u64, u64) {
        let all = self.bands.iter().flat_map(|band| &band.drawn);
        all.fold((0, 0), |(drawn, folded), rectangle| match rectangle.content {
            What::Node(_) => (drawn + 1, folded),
            What::Folded(count) => (drawn, folded + count),
        })
    }

    /// Returns the titles of the bands.
    pub fn bands(&self) -> impl Iterator<Item = &str> {
        self.bands.iter().map(|band| &*band.title)
    }

    /// Returns the width of the picture in nanoseconds.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the drawn frames, band by band, callers before callees.
    pub fn drawn(&self) -> impl Iterator<Item = Drawn<'_>> {
        let of = move |part: u64| part as f64 / self.length.max(1) as f64;
        self.bands.iter().enumerate().flat_map(move |(at, band)| {
            band.drawn.iter().map(move |rectangle| {
                let (name, frames, colour) = match rectangle.content {
                    What::Folded(count) => ("", count, 0),
                    What::Node(node) => {
                        let frame = &self.frames[band.nodes.all[node as usize].frame as usize];
                        let colour = if frame.is_idle() { Drawn::IDLE } else { hue(frame) };
                        (&*frame.name, 1, colour)
                    }
                };
                let (x, width) = (of(rectangle.x), of(rectangle.width));
                Drawn {
                    band: at,
                    depth: rectangle.depth,
                    x,
                    width,
                    total: rectangle.width,
                    name,
                    frames,
                    colour,
                }
            })
        })
    }

    /// Returns a line of text with the duration and the number of frames.
    pub(super) fn summary(&self) -> String {
        let (drawn, folded) = self.counts();
        let ms = self.length as f64 / 1e6;
        let folded = match folded {
            0 => String::new(),
            count => format!(", {count} narrow ones folded"),
        };
        let idle = match self.idle {
            0 => String::new(),
            idle => format!("; {:.2} ms (idle) left out", idle as f64 / 1e6),
        };
        format!(
            "{ms:.2} ms, {drawn} frames{folded}{idle}; click or Enter zooms, arrows move, / finds"
        )
    }

    /// Returns the reserved colour of a node as 0xRRGGBB, if the picture has it.
    pub(super) fn fill(&self, band: &Band, at: u32) -> Option<u32> {
        let frame = &self.frames[band.nodes.all[at as usize].frame as usize];
        (frame.color != 0 && self.change.is_none()).then(|| rgb_of(frame))
    }

    /// Returns the CSS class that colours a node.
    pub(super) fn class(&self, band: &Band, at: u32) -> String {
        let node = &band.nodes.all[at as usize];
        let frame = &self.frames[node.frame as usize];
        if let Some(rules) = &self.change {
            return changed(rules, node.change, band.gone, self.length).to_owned();
        }
        if node.parent.is_none() {
            return "root".to_owned();
        }
        match frame.category {
            _ if frame.color != 0 && is_light(rgb_of(frame)) => "light".to_owned(),
            _ if frame.color != 0 => "dark".to_owned(),
            "scripting" | "rendering" | "painting" | "loading" | "gpu" | "idle"
                if frame.url.is_empty() =>
            {
                frame.category.to_owned()
            }
            _ => format!("h{}", hue(frame)),
        }
    }
}

/// Returns the reserved colour of a frame as 0xRRGGBB.
fn rgb_of(frame: &Frame) -> u32 {
    let color = COLORS.get(usize::from(frame.color).wrapping_sub(1));
    color.map_or(0, |color| color.rgb)
}

/// Returns whether black text is easier to read on a colour than white text, by its luma in ITU-R
/// BT.601.
fn is_light(rgb: u32) -> bool {
    let [_, red, green, blue] = rgb.to_be_bytes().map(u32::from);
    299 * red + 587 * green + 114 * blue > 128_000
}

/// Returns the CSS class for the size of a change.
fn changed(
    rules: &ChangeRules,
    change: Option<(i64, i64)>,
    gone: bool,
    length: u64,
) -> &'static str {
    let Some((self_time, total)) = change else { return if gone { "gone" } else { "new" } };
    let percent = 100.0 * if rules.total { total } else { self_time } as f64 / length.max(1) as f64;
    match percent {
        _ if percent.abs() < rules.least || percent == 0.0 => "same",
        5.0.. => "p3",
        2.0.. => "p2",
        0.0.. => "p1",
        -2.0.. => "n1",
        -5.0.. => "n2",
        _ => "n3",
    }
}

/// Returns the number of a colour, which depends only on the frame's file. If the frame has no
/// file, the colour depends on its name (FNV-1a).
fn hue(frame: &Frame) -> u8 {
    let text = if frame.url.is_empty() { &frame.name } else { &frame.url };
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash >> 32) % u64::from(Drawn::COLOURS)) as u8
}
