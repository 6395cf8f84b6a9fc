//! A picture: its trees, what of them is drawn, and in which colours.

use super::layout::{Rectangle, What, fit};
use super::nodes::Nodes;
use crate::stacks::Frame;

/// In which order the frames of one caller stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By total time, the greatest first.
    #[default]
    Heavy,
    /// By name.
    Name,
    /// By time: a frame for each event and call, one band a thread. Made of tables of [`Shape::Log`](tracemill_analysis::Shape::Log).
    Time,
}

/// How a picture is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureRules {
    /// In which order frames stand.
    pub order: Order,
    /// Whether callees stand above their callers.
    pub up: bool,
    /// The most frames that are drawn.
    pub most: usize,
    /// Rows below it give their time to their caller at that depth.
    pub depth: usize,
}

impl Default for PictureRules {
    fn default() -> Self {
        PictureRules { order: Order::Heavy, up: false, most: 20_000, depth: usize::MAX }
    }
}

/// How a picture of two traces is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChangeRules {
    /// By the change of total time, not of self time.
    pub total: bool,
    /// Percent of the picture below which a change has no colour.
    pub least: f64,
    /// Whether the times of the base are scaled to the sum of the other.
    pub normalize: bool,
}

/// A tree of a picture.
pub(super) struct Band {
    pub(super) title: String,
    pub(super) nodes: Nodes,
    pub(super) up: bool,
    /// Whether it shows what is there no more.
    pub(super) gone: bool,
    pub(super) drawn: Vec<Rectangle>,
}

/// A picture.
pub struct Picture {
    pub(super) title: String,
    pub(super) frames: Vec<Frame>,
    pub(super) bands: Vec<Band>,
    /// Nanoseconds of the width.
    pub(super) length: u64,
    pub(super) rules: PictureRules,
    pub(super) change: Option<ChangeRules>,
}

/// A frame as it is drawn, for who draws it otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn<'p> {
    /// The number of its band.
    pub band: usize,
    /// From 0.
    pub depth: u32,
    /// Its left edge, from 0 to 1.
    pub x: f64,
    /// From 0 to 1.
    pub width: f64,
    /// Nanoseconds.
    pub total: u64,
    /// Its name; empty for what is folded.
    pub name: &'p str,
    /// Frames that it stands for: more than 1 only for what is folded.
    pub frames: u64,
    /// Its colour among [`Drawn::COLOURS`], or [`Drawn::IDLE`].
    pub colour: u8,
}

impl Drawn<'_> {
    /// How many colours there are.
    pub const COLOURS: u8 = 12;
    /// The colour of a CPU that does nothing, after all others.
    pub const IDLE: u8 = Self::COLOURS;
}

impl Picture {
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

    /// Frames that are drawn, and frames that are folded.
    pub fn counts(&self) -> (u64, u64) {
        let all = self.bands.iter().flat_map(|band| &band.drawn);
        all.fold((0, 0), |(drawn, folded), own| match own.what {
            What::Node(_) => (drawn + 1, folded),
            What::Folded(count) => (drawn, folded + count),
        })
    }

    /// Titles of its bands.
    pub fn bands(&self) -> impl Iterator<Item = &str> {
        self.bands.iter().map(|band| &*band.title)
    }

    /// Nanoseconds of its width.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// What is drawn, band after band, callers before their callees.
    pub fn drawn(&self) -> impl Iterator<Item = Drawn<'_>> {
        let of = move |part: u64| part as f64 / self.length.max(1) as f64;
        self.bands.iter().enumerate().flat_map(move |(at, band)| {
            band.drawn.iter().map(move |own| {
                let (name, frames, colour) = match own.what {
                    What::Folded(count) => ("", count, 0),
                    What::Node(node) => {
                        let frame = &self.frames[band.nodes.all[node as usize].frame as usize];
                        let colour = if frame.is_idle() { Drawn::IDLE } else { hue(frame) };
                        (&*frame.name, 1, colour)
                    }
                };
                let (x, width) = (of(own.x), of(own.width));
                Drawn {
                    band: at,
                    depth: own.depth,
                    x,
                    width,
                    total: own.width,
                    name,
                    frames,
                    colour,
                }
            })
        })
    }

    /// One line: how long, how much is drawn.
    pub(super) fn summary(&self) -> String {
        let (drawn, folded) = self.counts();
        let ms = self.length as f64 / 1e6;
        let folded = match folded {
            0 => String::new(),
            count => format!(", {count} narrow ones folded"),
        };
        format!("{ms:.2} ms, {drawn} frames{folded}; click or Enter zooms, arrows move, / finds")
    }

    /// The class by which a node is coloured.
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
            "scripting" | "rendering" | "painting" | "loading" | "gpu" | "idle"
                if frame.url.is_empty() =>
            {
                frame.category.to_owned()
            }
            _ => format!("h{}", hue(frame)),
        }
    }
}

/// By how much of the picture a node changed.
fn changed(
    rules: &ChangeRules,
    change: Option<(i64, i64)>,
    gone: bool,
    length: u64,
) -> &'static str {
    let Some((own, total)) = change else { return if gone { "gone" } else { "new" } };
    let percent = 100.0 * if rules.total { total } else { own } as f64 / length.max(1) as f64;
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

/// A colour that depends on nothing but the text: functions by their file, others by their name (FNV-1a).
fn hue(frame: &Frame) -> u8 {
    let text = if frame.url.is_empty() { &frame.name } else { &frame.url };
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash >> 32) % u64::from(Drawn::COLOURS)) as u8
}
