//! Tables to pictures.

use super::drawing::{Band, ChangeRules, Order, Picture, PictureRules};
use super::nodes::{Node, Nodes};
use crate::export::stacks::{Frame, Stacks, Tree};
use crate::trace::Trace;
use crate::united::Part;
use crate::urls::without_hashes;
use tracemill_core::hash::HashMap;
use tracemill_core::words::plural;

/// A frame that stands for all below it.
fn heading(name: &str) -> Frame {
    let (name, url) = (name.to_owned(), String::new());
    Frame { name, url, line: None, column: None, category: "other" }
}

fn band(title: &str, nodes: Nodes, up: bool) -> Band {
    Band { title: title.to_owned(), nodes, up, gone: false, drawn: Vec::new() }
}

impl Trace {
    /// A picture of tables: call trees, or with [`Order::Time`] logs of one thread each. Cost: 150 bytes of heap a row.
    pub fn picture(&self, parts: &[Part], rules: PictureRules) -> Picture {
        if rules.order == Order::Time {
            return self.chart(parts, rules);
        }
        let stacks = Stacks::new(self, parts, rules.depth, false);
        let (mut frames, nodes, title) = whole(stacks);
        let mut nodes = nodes;
        nodes.sort(&frames, rules.order == Order::Name);
        frames.shrink_to_fit();
        finished(title.clone(), frames, vec![band(&title, nodes, rules.up)], rules)
    }

    /// Callers above and callees below the frames of a name; `None` if there is none.
    pub fn sandwich(&self, parts: &[Part], name: &str, rules: PictureRules) -> Option<Picture> {
        let (frames, all, title) = whole(Stacks::new(self, parts, rules.depth, false));
        let is_it = |at: u32| frames[all.all[at as usize].frame as usize].name == name;
        let frame =
            (0..all.all.len() as u32).find(|&at| is_it(at)).map(|at| all.all[at as usize].frame)?;
        let (mut up, mut down) = (Nodes::new(frame), Nodes::new(frame));
        let mut callers: HashMap<(u32, u32), u32> = HashMap::default();
        // where nodes within one of the name stand in the tree of callees
        let mut place: Vec<Option<u32>> = vec![None; all.all.len()];
        for (at, node) in (0..).zip(&all.all) {
            let above = node.parent.and_then(|parent| place[parent as usize]);
            if let Some(above) = above {
                let own =
                    Node { frame: node.frame, own: node.own, count: node.count, ..Node::default() };
                place[at as usize] = Some(down.add(above, own));
            } else if is_it(at) {
                place[at as usize] = Some(0);
                down.all[0].own += node.own;
                down.all[0].count += node.count;
                add_callers(&all, at, &mut up, &mut callers);
            }
        }
        down.sum_up();
        up.sum_up();
        let mut down = down.united(|frame| frame);
        up.sort(&frames, rules.order == Order::Name);
        down.sort(&frames, rules.order == Order::Name);
        let bands = vec![
            band(&format!("what calls {name}"), up, true),
            band(&format!("what {name} calls"), down, false),
        ];
        Some(finished(format!("{name} in {title}"), frames, bands, rules))
    }

    /// The picture of one table of all threads, coloured by what it has more or less than that of a base. Frames match by name and URL, whatever
    /// their lines; what only the base has is a band of its own.
    pub fn differential(
        &self,
        parts: &[Part],
        (base, base_parts): (&Trace, &[Part]),
        rules: PictureRules,
        change: ChangeRules,
    ) -> Picture {
        let (mut frames, new, title) = whole(Stacks::new(self, parts, rules.depth, false));
        let (base_frames, old, _) = whole(Stacks::new(base, base_parts, rules.depth, false));
        let shift = frames.len() as u32;
        frames.extend(base_frames);
        let mut old = old;
        old.all.iter_mut().for_each(|node| node.frame += shift);
        let mut names: HashMap<(String, String), u32> = HashMap::default();
        let same: Vec<u32> = frames
            .iter()
            .map(|frame| {
                let next = names.len() as u32;
                let key = (frame.name.clone(), without_hashes(&frame.url));
                *names.entry(key).or_insert(next)
            })
            .collect();
        let key = |frame: u32| same[frame as usize];
        let (mut new, mut old) = (new.united(key), old.united(key));
        if change.normalize && old.all[0].total > 0 {
            let factor = new.all[0].total as f64 / old.all[0].total as f64;
            old.all
                .iter_mut()
                .for_each(|node| node.own = (node.own as f64 * factor).round() as u64);
            old.sum_up();
        }
        compare(&mut new, &mut old, &same);
        new.sort(&frames, rules.order == Order::Name);
        old.sort(&frames, rules.order == Order::Name);
        let title = format!("{title}, against its base");
        let mut bands = vec![band("now", new, rules.up)];
        let is_gone = |nodes: &Nodes| nodes.all[1..].iter().any(|node| node.change.is_none());
        if is_gone(&old) {
            let gone =
                Band { gone: true, ..band("before (what is gone has a colour)", old, rules.up) };
            bands.push(gone);
        }
        let mut picture = finished(title, frames, bands, rules);
        picture.change = Some(change);
        picture
    }

    /// A flame chart: a band for each table.
    fn chart(&self, parts: &[Part], rules: PictureRules) -> Picture {
        let stacks = Stacks::new(self, parts, usize::MAX, false);
        let mut frames = stacks.frames;
        let mut bands = Vec::new();
        for (part, tree) in parts.iter().zip(&stacks.trees) {
            let number = frames.len() as u32;
            frames.push(heading(&tree.title));
            let window = part.table.window;
            let mut nodes = Nodes::new(number);
            nodes.graft(0, &tree.lines);
            nodes.all[0].total = tree.length;
            let offset = window.from - self.bounds.0 / 1000.0;
            let nanos = |ms: f64| (ms * 1e6).round().max(0.0) as u64;
            for (node, row) in nodes.all[1..].iter_mut().zip(&part.table.rows) {
                node.start = nanos(row.start - offset).min(tree.length);
                node.total = nanos(row.total).min(tree.length - node.start);
            }
            cut(&mut nodes, rules.depth);
            bands.push(band(&tree.title, nodes, rules.up));
        }
        finished("flame chart".to_owned(), frames, bands, rules)
    }
}

/// Takes the children out of what is too deep.
fn cut(nodes: &mut Nodes, depth: usize) {
    let mut depths = vec![0; nodes.all.len()];
    for at in 1..nodes.all.len() {
        depths[at] = depths[nodes.all[at].parent.unwrap_or(0) as usize] + 1;
    }
    for (node, own) in nodes.all.iter_mut().zip(depths) {
        if own >= depth {
            node.children.clear();
        }
    }
}

fn finished(title: String, frames: Vec<Frame>, bands: Vec<Band>, rules: PictureRules) -> Picture {
    let length = bands.iter().map(|band| band.nodes.all[0].total).max().unwrap_or(0);
    let mut picture = Picture { title, frames, bands, length, rules, change: None };
    picture.lay_out();
    picture
}

/// How many threads, processes or inputs trees are of, as their titles tell.
fn counted(trees: &[Tree]) -> String {
    let all = |kind: &str| trees.iter().all(|tree| tree.title.starts_with(&format!("{kind} ")));
    let kind = ["thread", "process"].into_iter().find(|kind| all(kind));
    plural(trees.len() as u64, kind.unwrap_or("input"))
}

/// All trees as one, with its frames and its title; several have a node each.
fn whole(stacks: Stacks) -> (Vec<Frame>, Nodes, String) {
    let mut frames = stacks.frames;
    let title = match &stacks.trees[..] {
        [] => "nothing".to_owned(),
        [one] => one.title.clone(),
        trees => counted(trees),
    };
    let mut nodes = Nodes::new(frames.len() as u32);
    frames.push(heading(&title));
    let single = stacks.trees.len() == 1;
    for Tree { title, lines, .. } in &stacks.trees {
        let below = match single {
            true => 0,
            false => {
                let frame = frames.len() as u32;
                frames.push(heading(title));
                nodes.add(0, Node { frame, ..Node::default() })
            }
        };
        nodes.graft(below, lines);
    }
    nodes.sum_up();
    (frames, nodes, title)
}

/// Puts the callers of a node, from the inside out, below the root; the outermost has its time. What names a thread calls nothing.
fn add_callers(all: &Nodes, at: u32, up: &mut Nodes, callers: &mut HashMap<(u32, u32), u32>) {
    let total = all.all[at as usize].total;
    let count = all.all[at as usize].count;
    up.all[0].count += count;
    let mut below = 0;
    let mut caller = all.all[at as usize].parent;
    while let Some(own) = caller.filter(|&own| own != 0) {
        let node = &all.all[own as usize];
        below = *callers
            .entry((below, node.frame))
            .or_insert_with(|| up.add(below, Node { frame: node.frame, ..Node::default() }));
        up.all[below as usize].count += count;
        caller = node.parent;
    }
    up.all[below as usize].own += total;
}

/// Notes in each tree what its nodes have more than those of the other with the same path; nothing where the other has no such path.
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
