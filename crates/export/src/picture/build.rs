//! Builds flame graphs and flame charts from tables.

use super::drawing::{Band, ChangeRules, Order, Picture, PictureRules};
use super::growing::{Folding, Merging, Sandwich};
use super::layout::narrowest;
use super::nodes::{Node, Nodes};
use super::whole::{Whole, heading, node_of};
use crate::stacks::{Frame, Stacks};
use tracemill_analysis::value::urls::without_hashes;
use tracemill_analysis::{Part, Trace};
use tracemill_trace::event::hash_texts;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::hash::HashMap;

/// Matches the frames of two pictures. Frames with the same name and URL have the same number.
#[derive(Default)]
struct Same {
    names: HashMap<[u64; 2], u32>,
    of_frames: Vec<u32>,
}

impl Same {
    fn add<'f>(&mut self, frames: impl Iterator<Item = &'f Frame>) {
        for frame in frames {
            let next = self.names.len() as u32;
            let url = without_hashes(&frame.url);
            let key = hash_texts([frame.name.as_bytes(), url.as_bytes()]);
            self.of_frames.push(*self.names.entry(key).or_insert(next));
        }
    }
}

fn frames(stacks: Stacks, headings: Vec<Frame>) -> Vec<Frame> {
    let mut frames = stacks.frames;
    frames.extend(headings);
    frames.shrink_to_fit();
    frames
}

fn band(title: &str, nodes: Nodes, up: bool) -> Band {
    Band { title: title.to_owned(), nodes, up, gone: false, drawn: Vec::new() }
}

/// Draws a flame graph of call trees. With [`Order::Time`], draws a flame chart of the logs of
/// single threads.
///
/// Cost: 32 bytes per row, on disk beyond the budget. Heap: nodes that are wide enough to draw, and
/// a frame for each name and location.
///
/// # Errors
/// Returns an I/O error if a temporary file fails, or [`tracemill_trace::ErrorKind::Exceeded`]
/// if the picture exceeds the memory budget.
pub fn picture(trace: &Trace, parts: &[Part], rules: PictureRules) -> Result<Picture, Error> {
    if rules.order == Order::Time {
        return chart(trace, parts, rules);
    }
    let room = room_of_pictures(trace);
    let stacks = Stacks::new(trace, parts, rules.depth, rules.kept())?;
    let (whole, idle) = (Whole::of(&stacks), stacks.idle);
    let mut folding = Folding::new(narrowest(whole.total()), false, &room);
    whole.rows(|depth, node| folding.push(depth, node))?;
    let (mut nodes, title) = (folding.finish(), whole.title.clone());
    let headings = whole.headings();
    let frames = frames(stacks, headings);
    nodes.sort(&frames, rules.order == Order::Name);
    let picture = finished(title.clone(), frames, vec![band(&title, nodes, rules.up)], rules);
    Ok(Picture { idle, ..picture })
}

/// Draws the callers of a name above its callees. The name may be that in DevTools or in the trace.
/// Returns `None` if no frame has the name.
///
/// # Errors
/// Returns the errors of [`picture`].
pub fn sandwich(
    trace: &Trace,
    parts: &[Part],
    name: &str,
    rules: PictureRules,
) -> Result<Option<Picture>, Error> {
    let room = room_of_pictures(trace);
    let stacks = Stacks::new(trace, parts, rules.depth, rules.kept())?;
    let whole = Whole::of(&stacks);
    let rows = parts.iter().flat_map(|part| &part.table.rows);
    let rows = rows.filter(|row| row.is_called(name));
    let names = rows.map(|row| row.name().to_owned()).collect();
    let mut sandwich = Sandwich::new(whole.named(&names), &room);
    whole.rows(|depth, node| sandwich.push(depth, node))?;
    let title = format!("{name} in {}", whole.title);
    let headings = whole.headings();
    let frames = frames(stacks, headings);
    let Some((mut up, mut down)) = sandwich.finish()? else { return Ok(None) };
    up.sort(&frames, rules.order == Order::Name);
    down.sort(&frames, rules.order == Order::Name);
    let bands = vec![
        band(&format!("what calls {name}"), up, true),
        band(&format!("what {name} calls"), down, false),
    ];
    Ok(Some(finished(title, frames, bands, rules)))
}

/// Draws the table of all threads, with colours for the difference to the table of a base. Frames
/// match by name and URL, whatever their lines. Frames that only the base has are in a separate
/// band.
///
/// # Errors
/// Returns the errors of [`picture`]. All nodes of both trees are in memory at once.
pub fn differential(
    trace: &Trace,
    parts: &[Part],
    base: &Trace,
    base_parts: &[Part],
    rules: PictureRules,
    change: ChangeRules,
) -> Result<Picture, Error> {
    let room = room_of_pictures(trace);
    let mut same = Same::default();
    let of = |trace: &Trace, parts: &[Part], same: &mut Same| {
        let stacks = Stacks::new(trace, parts, rules.depth, rules.kept())?;
        let whole = Whole::of(&stacks);
        let first = same.of_frames.len() as u32;
        same.add(whole.all_frames());
        let mut merging = Merging::new(&room);
        whole.rows(|depth, node| {
            let node = Node { frame: node.frame + first, ..node };
            merging.push(depth, same.of_frames[node.frame as usize], node)
        })?;
        let (title, headings) = (whole.title.clone(), whole.headings());
        Ok::<_, Error>((merging.finish(), frames(stacks, headings), title))
    };
    let (mut new, mut all, title) = of(trace, parts, &mut same)?;
    let (mut old, base_frames, _) = of(base, base_parts, &mut same)?;
    all.extend(base_frames);
    if change.normalize && old.all[0].total > 0 {
        let factor = new.all[0].total as f64 / old.all[0].total as f64;
        old.all.iter_mut().for_each(|node| node.own = (node.own as f64 * factor).round() as u64);
        old.sum_up();
    }
    compare(&mut new, &mut old, &same.of_frames);
    new.sort(&all, rules.order == Order::Name);
    old.sort(&all, rules.order == Order::Name);
    let title = format!("{title}, against its base");
    let mut bands = vec![band("now", new, rules.up)];
    let is_gone = |nodes: &Nodes| nodes.all[1..].iter().any(|node| node.change.is_none());
    if is_gone(&old) {
        let gone = Band {
            gone: true,
            ..band("before: frames that are gone have a colour", old, rules.up)
        };
        bands.push(gone);
    }
    let mut picture = finished(title, all, bands, rules);
    picture.change = Some(change);
    Ok(picture)
}

fn chart(trace: &Trace, parts: &[Part], rules: PictureRules) -> Result<Picture, Error> {
    let room = room_of_pictures(trace);
    let stacks = Stacks::new(trace, parts, usize::MAX, rules.kept())?;
    let mut headings: Vec<Frame> = Vec::new();
    let mut bands = Vec::new();
    let length = stacks.trees.iter().map(|tree| tree.length).max().unwrap_or(0);
    for (part, tree) in parts.iter().zip(&stacks.trees) {
        let number = (stacks.frames.len() + headings.len()) as u32;
        headings.push(heading(&tree.title));
        let offset = part.table.window.from - trace.bounds.0 / 1000.0;
        let nanos = |ms: f64| (ms * 1e6).round().max(0.0) as u64;
        let mut folding = Folding::new(narrowest(length), true, &room);
        folding.push(0, Node { frame: number, total: tree.length, ..Node::default() })?;
        for (line, row) in stacks.lines(tree).zip(&part.table.rows) {
            if line.depth as usize >= rules.depth {
                folding.leave_out();
                continue;
            }
            let start = nanos(row.start - offset).min(tree.length);
            let total = nanos(row.total).min(tree.length - start);
            folding.push(line.depth as usize + 1, Node { start, total, ..node_of(&line) })?;
        }
        bands.push(band(&tree.title, folding.finish(), rules.up));
    }
    Ok(finished("flame chart".to_owned(), frames(stacks, headings), bands, rules))
}

fn room_of_pictures(trace: &Trace) -> Quota {
    trace.limits().quota("pictures", Share::of(1, 4))
}

fn finished(title: String, frames: Vec<Frame>, bands: Vec<Band>, rules: PictureRules) -> Picture {
    let length = bands.iter().map(|band| band.nodes.all[0].total).max().unwrap_or(0);
    let (recording, change, idle) = (String::new(), None, 0);
    let mut picture = Picture { recording, title, frames, bands, length, rules, change, idle };
    picture.lay_out();
    picture
}

/// Sets the change of each node, compared with the node that has the same path in the other tree.
fn compare(new: &mut Nodes, old: &mut Nodes, same: &[u32]) {
    let mut places: HashMap<(u32, u32), u32> = HashMap::default();
    for (at, node) in (0..).zip(&new.all) {
        if let Some(parent) = node.parent {
            places.insert((parent, same[node.frame as usize]), at);
        }
    }
    let mut found: Vec<Option<u32>> = vec![Some(0)];
    for node in &old.all[1..] {
        let parent = node.parent.and_then(|parent| found[parent as usize]);
        let key = |parent| (parent, same[node.frame as usize]);
        found.push(parent.and_then(|parent| places.get(&key(parent)).copied()));
    }
    for (old, place) in old.all.iter_mut().zip(found) {
        let Some(place) = place else { continue };
        let new = &mut new.all[place as usize];
        let change = (new.own as i64 - old.own as i64, new.total as i64 - old.total as i64);
        (old.change, new.change) = (Some(change), Some(change));
    }
}
