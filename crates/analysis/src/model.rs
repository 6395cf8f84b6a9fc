//! A CPU profile as DevTools models it (devtools-semantics §3, §4): nodes, and samples with times in milliseconds.
//!
//! All sums are doubles in the order of `CPUProfileDataModel`, so they are the same to the bit. Times come as whole
//! nanoseconds; a microsecond with up to three decimals is the same double either way.

use crate::names::Names;
use crate::value::{is_true, member, named, number, string, template};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::ops::Range;
use tracemill_pipeline::{PieceNode, ProfilePiece, ProfileSource};

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// For how long a sample counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// Until the next sample, as in DevTools.
    #[default]
    Next,
    /// The time since the sample before.
    Delta,
    /// Each as long as any other: the time of the profile, divided by its samples.
    Hits,
}

/// A function as a node names it, by numbers of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) function: u32,
    /// `String(scriptId)`, empty where that is no condition.
    pub(crate) script: u32,
    pub(crate) url: u32,
    /// As in a template: `undefined` where it is missing.
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The id of its row in trees.
    pub(crate) row: u32,
    /// Frames of one class are one call: script, function and line.
    pub(crate) class: u32,
}

/// Nodes by their ids.
pub(crate) type NodesById = HashMap<u64, u32, FixedState>;

/// Nodes of a profile, put together as they come.
#[derive(Default)]
pub(crate) struct Raw {
    nodes: Vec<RawNode>,
    children: Vec<u64>,
    /// Each once.
    frames: Vec<Frame>,
    numbers: HashMap<Frame, u32, FixedState>,
    /// Of each node.
    frame_of: Vec<u32>,
    trace_ids: Vec<(u32, u64)>,
    /// What the pieces say of their origin.
    pub(crate) source: Option<ProfileSource>,
}

/// 24 bytes: there may be as many as samples.
struct RawNode {
    id: u64,
    /// [`NO_ID`] if it names none.
    parent: u64,
    /// Where its list of children begins and ends, if it has one; `(NONE, NONE)` if not.
    children: (u32, u32),
}

const NO_ID: u64 = u64::MAX;

impl RawNode {
    fn has_list(&self) -> bool {
        self.children.0 != NONE
    }
}

/// Which samples are those of a profile.
#[derive(Default)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    /// When the last one ends, in milliseconds, if there are any.
    pub(crate) end: Option<f64>,
    /// Those that name no node.
    pub(crate) unknown: u64,
}

impl Span {
    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }
}

/// What a walk up the stack of a node needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Above {
    /// The next node above that is no function of V8 itself; 0 or [`NONE`] at the top.
    pub(crate) parent: u32,
    pub(crate) class: u32,
}

/// See the module doc.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) ids: Vec<u64>,
    /// [`NONE`] for the root and for nodes that are not below it.
    pub(crate) parents: Vec<u32>,
    /// −1 for the root.
    pub(crate) depths: Vec<i32>,
    /// Functions, each once.
    pub(crate) frames: Vec<Frame>,
    /// Which of these a node is.
    frame_of: Vec<u32>,
    /// Of each node.
    pub(crate) calls: Vec<Above>,
    /// Whether a node is below the root, or the root itself.
    known: Vec<bool>,
    pub(crate) gc: Option<u32>,
    pub(crate) program: Option<u32>,
    pub(crate) idle: Option<u32>,
    /// Its samples, by time.
    pub(crate) span: Span,
    /// When the last frame ends if no time says so.
    pub(crate) end: f64,
    /// Nodes by trace id (a text).
    pub(crate) trace_ids: HashMap<u32, u32>,
}

impl Raw {
    /// Takes the next piece; `is_whole` for one of a `.cpuprofile`, whose frames are taken as they are.
    pub(crate) fn add(&mut self, piece: &ProfilePiece<'_>, is_whole: bool, names: &mut Names) {
        for node in piece.nodes() {
            self.add_node(node, is_whole, names);
        }
        for (key, node) in piece.trace_ids() {
            let key = string(key).unwrap_or_default();
            self.trace_ids.push((names.number(&key), node));
        }
    }

    /// Its texts have other numbers: those in `numbers`.
    pub(crate) fn rename(&mut self, numbers: &[u32]) {
        self.numbers = HashMap::default();
        for frame in &mut self.frames {
            let Frame { function, script, url, line, column, row, class } = frame;
            for text in [function, script, url, line, column, row, class] {
                *text = numbers[*text as usize];
            }
        }
        self.trace_ids.iter_mut().for_each(|(key, _)| *key = numbers[*key as usize]);
    }

    fn add_node(&mut self, node: PieceNode<'_>, is_whole: bool, names: &mut Names) {
        let children = node.children.map(|ids| {
            let start = self.children.len() as u32;
            self.children.extend_from_slice(ids);
            (start, self.children.len() as u32)
        });
        let (parent, children) = (node.parent.unwrap_or(NO_ID), children.unwrap_or((NONE, NONE)));
        self.nodes.push(RawNode { id: node.id, parent, children });
        let frame = frame_of(node.text, is_whole, names);
        let number = *self.numbers.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            self.frames.len() as u32 - 1
        });
        self.frame_of.push(number);
    }

    /// Makes the model, without samples, and what finds its nodes by their ids; `end` is in microseconds.
    pub(crate) fn model(self, end: f64) -> (Model, NodesById) {
        if self.nodes.is_empty() {
            return Default::default();
        }
        let by_id: NodesById = (0..).zip(&self.nodes).map(|(at, n)| (n.id, at)).collect();
        let lists = self.lists(&by_id);
        let count = self.nodes.len();
        let mut model = Model {
            ids: self.nodes.iter().map(|node| node.id).collect(),
            parents: vec![NONE; count],
            depths: vec![-1; count],
            known: vec![false; count],
            calls: Vec::new(),
            frames: self.frames,
            frame_of: self.frame_of,
            end: end / 1000.0,
            ..Model::default()
        };
        let class = |&frame: &u32| model.frames[frame as usize].class;
        let above = model.frame_of.iter().map(|own| Above { parent: NONE, class: class(own) });
        model.calls = above.collect();
        model.known[0] = true;
        let mut open = vec![0u32];
        let mut top = Vec::new();
        while let Some(parent) = open.pop() {
            for &child in lists.of(parent) {
                if std::mem::replace(&mut model.known[child as usize], true) {
                    continue; // a cycle, or a node with two parents: the first one that is met
                }
                model.parents[child as usize] = parent;
                model.depths[child as usize] = model.depths[parent as usize] + 1;
                let is_native = model.frame(parent).url == NATIVE && parent != 0;
                model.calls[child as usize].parent = match is_native {
                    true => model.calls[parent as usize].parent,
                    false => parent,
                };
                open.push(child);
            }
            if parent == 0 {
                top.clone_from(&open);
            }
        }
        model.trace_ids = self
            .trace_ids
            .iter()
            .filter(|(_, node)| *node != 0)
            .filter_map(|(key, node)| Some((*key, model.node(*by_id.get(node)?)?)))
            .collect();
        model.find_meta_nodes(&top);
        (model, by_id)
    }

    /// Children of each node: as listed, if the first node has a list, else by parents (§4.2).
    fn lists(&self, by_id: &NodesById) -> Lists {
        let listed = self.nodes[0].has_list();
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(self.nodes.len());
        for (at, node) in (0..).zip(&self.nodes) {
            // of nodes of one id the last is that node
            if by_id.get(&node.id) != Some(&at) && at != 0 {
                continue;
            }
            let (from, to) = if node.has_list() { node.children } else { (0, 0) };
            let known =
                self.children[from as usize..to as usize].iter().filter_map(|id| by_id.get(id));
            pairs.extend(known.map(|&child| (at, child)));
        }
        if !listed {
            for node in self.nodes.iter().skip(1) {
                let parent = Some(node.parent).filter(|&id| id != NO_ID);
                if let Some(parent) = parent.and_then(|id| by_id.get(&id)) {
                    pairs.push((*parent, by_id[&node.id]));
                }
            }
        }
        pairs.sort_by_key(|&(parent, _)| parent);
        Lists { pairs }
    }
}

/// Children, by parent.
struct Lists {
    pairs: Vec<(u32, u32)>,
}

impl Lists {
    fn of(&self, parent: u32) -> impl Iterator<Item = &u32> {
        let first = self.pairs.partition_point(|&(own, _)| own < parent);
        let own = self.pairs[first..].iter().take_while(move |&&(own, _)| own == parent);
        own.map(|(_, child)| child)
    }
}

impl Model {
    /// The function of a node.
    pub(crate) fn frame(&self, node: u32) -> &Frame {
        &self.frames[self.frame_number(node) as usize]
    }

    /// Where that stands among all.
    pub(crate) fn frame_number(&self, node: u32) -> u32 {
        self.frame_of[node as usize]
    }

    /// The node of this number, if it is below the root or the root.
    pub(crate) fn node(&self, number: u32) -> Option<u32> {
        self.known[number as usize].then_some(number)
    }

    /// §4.4: the root's children are searched from the last to the first.
    fn find_meta_nodes(&mut self, top: &[u32]) {
        for &node in top.iter().rev() {
            if self.gc.is_some() && self.program.is_some() && self.idle.is_some() {
                return;
            }
            match self.frame(node).function {
                GC => self.gc = Some(node),
                PROGRAM => self.program = Some(node),
                IDLE => self.idle = Some(node),
                _ => {}
            }
        }
    }

    /// The ancestor that is a child of the root.
    pub(crate) fn bottom(&self, mut node: u32) -> u32 {
        while self.parents[node as usize] != NONE
            && self.parents[self.parents[node as usize] as usize] != NONE
        {
            node = self.parents[node as usize];
        }
        node
    }

    /// Whether a node is the root, or one that is no call beside a trace.
    pub(crate) fn is_no_call(&self, node: u32) -> bool {
        node == 0 || Some(node) == self.program || Some(node) == self.idle || Some(node) == self.gc
    }
}

/// Names of meta nodes: texts that come first of all.
pub(crate) const GC: u32 = 1;
pub(crate) const PROGRAM: u32 = 2;
pub(crate) const IDLE: u32 = 3;
pub(crate) const NATIVE: u32 = 4;

/// Gives the texts above their numbers.
pub(crate) fn meta_names() -> Names {
    let mut names = Names::default();
    for text in [&b"(garbage collector)"[..], b"(program)", b"(idle)", b"native V8Runtime"] {
        names.number(text);
    }
    names
}

/// The frame of a node: `callFrame`, or the node itself in the old form.
fn frame_of(text: &[u8], is_whole: bool, names: &mut Names) -> Frame {
    let frame = member(text, b"callFrame").unwrap_or(text);
    let [name, url, script_id, line, column] =
        named(frame, [b"functionName", b"url", b"scriptId", b"lineNumber", b"columnNumber"]);
    let function = template(name);
    let url = url.and_then(string).unwrap_or_default();
    // a trace's are made texts first, so that 0 is a condition there
    let script = match is_whole {
        true if !is_true(script_id) => Vec::new(),
        _ => template(script_id),
    };
    let position = |value: Option<&[u8]>| match value {
        None if is_whole => b"undefined".to_vec(),
        None => b"-1".to_vec(),
        own => template(own),
    };
    let (line, column) = (position(line), position(column));
    let place: &[u8] = if script.is_empty() { &url } else { &script };
    let is_native = url == b"native V8Runtime";
    let title = if is_native { native_group(&function).as_bytes() } else { &*function };
    let row = [b"f:", title, b"@", place, b":", &*line, b":", &*column].concat();
    let class = [&*script, b"\0", &*function, b"\0", &*line].concat();
    Frame {
        // rows and classes say `undefined`, labels do not
        function: if name.is_some() { names.number(&function) } else { 0 },
        script: names.number(&script),
        url: names.number(&url),
        line: names.number(&line),
        column: names.number(&column),
        row: names.number(&row),
        class: names.number(&class),
    }
}

/// What DevTools calls functions of V8 itself; `null` for others.
pub(crate) fn native_group(function: &[u8]) -> &'static str {
    if function.starts_with(b"Parse") {
        "Parse"
    } else if function.starts_with(b"Compile") || function.starts_with(b"Recompile") {
        "Compile"
    } else {
        "null"
    }
}

/// A time as written, in microseconds.
pub(crate) fn micros(text: Option<&[u8]>) -> Option<f64> {
    text.and_then(number)
}
