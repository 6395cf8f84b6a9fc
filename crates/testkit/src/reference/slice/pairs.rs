//! Finds the intervals between two events in the whole trace, and applies them to each window.

use std::collections::HashMap;

use super::{Edges, Fields, SliceEvent, Slicer, Value, high, low, number, pairing};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PairKey(u8, Vec<Value>);

/// An interval between two events. Events are given by their rank in output order.
struct LastingPair {
    kind: u8,
    begin: usize,
    end: Option<usize>,
    /// Steps of a flow.
    steps: Vec<usize>,
    /// Begin event of the later flow with the same key that replaced this flow.
    replaced: Option<usize>,
}

impl Slicer<'_> {
    fn key(&self, event: &SliceEvent<'_>) -> Option<PairKey> {
        let fields = &event.fields;
        let value = |name: &str| Value::of(fields.get(name));
        let id = match (fields.get("id"), fields.get("id2").and_then(Fields::parse)) {
            (Some(id), _) => Some(vec![Value::of(Some(id))]),
            (None, Some(id2)) => match (id2.get("global"), id2.get("local")) {
                (Some(global), _) => Some(vec![Value::of(Some(global))]),
                (None, Some(local)) => Some(vec![Value::of(Some(local)), value("pid")]),
                _ => None,
            },
            _ => None,
        };
        Some(match event.ph? {
            b'B' | b'E' => PairKey(b'B', vec![value("pid"), value("tid")]),
            b'C' => {
                let parts = vec![value("pid"), value("name")];
                PairKey(b'C', parts.into_iter().chain(id.unwrap_or_default()).collect())
            }
            ph => {
                let kind = match ph {
                    b'b' | b'e' => b'b',
                    b'S' | b'F' => b'S',
                    _ => b's',
                };
                let parts = vec![value("cat"), value("name"), value("scope")];
                PairKey(kind, parts.into_iter().chain(id?).collect())
            }
        })
    }

    fn event(&self, rank: usize) -> &SliceEvent<'_> {
        &self.events[self.order[rank]]
    }

    fn lasting(&self, parts: &[usize]) -> (Vec<LastingPair>, Vec<usize>) {
        let (mut all, mut moments): (Vec<LastingPair>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut open: HashMap<PairKey, Vec<usize>> = HashMap::new();
        for &rank in parts {
            let event = self.event(rank);
            let ph = event.ph.expect("a part has a phase");
            if ph == b'C' {
                continue;
            }
            let Some(key) = self.key(event) else {
                moments.push(rank);
                continue;
            };
            let kind = key.0;
            let stack = open.entry(key).or_default();
            match ph {
                b'B' | b'b' | b'S' | b's' => {
                    if kind == b's'
                        && let Some(former) = stack.pop()
                    {
                        all[former].replaced = Some(rank);
                    }
                    stack.push(all.len());
                    let (end, steps, replaced) = (None, Vec::new(), None);
                    all.push(LastingPair { kind, begin: rank, end, steps, replaced });
                }
                _ => {
                    let name = |rank: usize| {
                        let field = self.event(rank).fields.get("name").filter(|_| kind == b'B');
                        pairing::name(field)
                    };
                    let names: Vec<_> = stack.iter().map(|&index| name(all[index].begin)).collect();
                    let place = pairing::closed_by(&names, &name(rank));
                    match place {
                        None => moments.push(rank),
                        Some(place) if kind == b's' => {
                            all[stack[place]].steps.push(rank);
                            if ph == b'f' {
                                all[stack.remove(place)].end = Some(rank);
                            }
                        }
                        Some(place) => all[stack.remove(place)].end = Some(rank),
                    }
                }
            }
        }
        (all, moments)
    }

    fn floor(&self, rank: usize) -> i64 {
        self.event(rank).floor()
    }

    fn is_after(&self, rank: usize, edge: i64) -> bool {
        self.event(rank).ts.as_ref().expect("timed").is_after(edge)
    }

    pub(super) fn whole_pairs(&mut self, parts: &[usize]) {
        let (all, moments) = self.lasting(parts);
        let mut kept = Vec::new();
        let at = |rank: usize| self.window_at(self.floor(rank));
        kept.extend(moments.into_iter().filter(|&rank| at(rank).is_some()));
        for pair in all {
            let members: Vec<usize> = if pair.kind == b's' {
                std::iter::once(pair.begin).chain(pair.steps.iter().copied()).collect()
            } else {
                std::iter::once(pair.begin).chain(pair.end).collect()
            };
            let stays = match (self.edges, pair.kind, pair.end) {
                (Edges::Drop, ..) => {
                    at(pair.begin).is_some()
                        && members.iter().all(|&rank| at(rank) == at(pair.begin))
                }
                (_, b's', _) => members.iter().any(|&rank| at(rank).is_some()),
                (_, _, None) => {
                    self.windows.iter().any(|&window| self.floor(pair.begin) < high(window))
                }
                (_, _, Some(end)) => self.windows.iter().any(|&window| {
                    let begins_inside = self.floor(pair.begin) >= low(window);
                    self.floor(pair.begin) < high(window)
                        && (self.is_after(end, low(window))
                            || begins_inside && self.floor(end) >= low(window))
                }),
            };
            if stays {
                kept.extend(members);
            }
        }
        self.kept.extend(kept.into_iter().map(|rank| self.order[rank]));
    }

    pub(super) fn clip(&mut self, parts: &[usize]) {
        let (all, _) = self.lasting(parts);
        let (_, last, end) = self.bounds().expect("something lies outside");
        let mut gone = Vec::new();
        let mut synthetic = Vec::new();
        for &window in self.windows {
            let (from, to) = (low(window), high(window));
            let inside = |rank: usize| from <= self.floor(rank) && self.floor(rank) < to;
            let reached = last >= from || end > from;
            let goes_on = last >= to || end > to;
            let mut opened: Vec<usize> = Vec::new();
            let mut flows: Vec<(usize, usize)> = Vec::new();
            let mut closed: Vec<(bool, usize, usize, u8)> = Vec::new();
            for pair in &all {
                let before = self.floor(pair.begin) < from;
                if before
                    && pair.kind != b's'
                    && pair.end.is_some_and(|end| inside(end) && !self.is_after(end, from))
                {
                    gone.extend(pair.end);
                }
                let mut shown = inside(pair.begin);
                let mut place = pair.begin;
                if pair.kind == b's' {
                    if before && let Some(&step) = pair.steps.iter().find(|&&step| inside(step)) {
                        flows.push((step, pair.begin));
                        place = step;
                        shown = true;
                    }
                } else if before && reached && pair.end.is_none_or(|end| self.is_after(end, from)) {
                    opened.push(pair.begin);
                    shown = true;
                }
                let goes_behind =
                    |rank: Option<usize>| rank.is_none_or(|rank| self.floor(rank) >= to);
                if shown && goes_on && goes_behind(pair.end) && goes_behind(pair.replaced) {
                    // slices that were open before the window close after those that were not
                    closed.push((!before, place, pair.begin, pair.kind));
                }
            }
            opened.extend(self.counters(parts, from).filter(|_| reached));
            opened.sort_unstable();
            flows.sort_unstable();
            closed.sort_unstable();
            synthetic.extend(opened.iter().map(|&rank| self.event(rank).at(from)));
            synthetic.extend(flows.iter().map(|&(_, rank)| self.event(rank).at(from)));
            synthetic
                .extend(closed.iter().rev().map(|&(_, _, rank, kind)| self.end_of(rank, kind, to)));
        }
        self.synthetic.extend(synthetic);
        let inside =
            |&&rank: &&usize| self.window_at(self.floor(rank)).is_some() && !gone.contains(&rank);
        let kept: Vec<usize> = parts.iter().filter(inside).map(|&rank| self.order[rank]).collect();
        self.kept.extend(kept);
    }

    /// Returns the last value of each counter before `from`, unless there is a value exactly at
    /// `from`.
    fn counters(&self, parts: &[usize], from: i64) -> impl Iterator<Item = usize> {
        let mut last: HashMap<PairKey, Option<usize>> = HashMap::new();
        for &rank in parts.iter().filter(|&&rank| self.event(rank).ph == Some(b'C')) {
            let key = self.key(self.event(rank)).expect("counters have keys");
            if self.floor(rank) < from {
                last.insert(key, Some(rank));
            } else if self.floor(rank) == from && !self.is_after(rank, from) {
                last.insert(key, None);
            }
        }
        last.into_values().flatten().collect::<Vec<_>>().into_iter()
    }

    fn end_of(&self, rank: usize, kind: u8, to: i64) -> String {
        let event = self.event(rank);
        let ph = match kind {
            b'B' => "E",
            b'b' => "e",
            b'S' => "F",
            _ => "f",
        };
        let mut text = "{\"args\":{}".to_owned();
        for name in ["cat", "id", "id2", "name", "ph", "pid", "scope", "tid", "ts"] {
            let Some(value) = event.fields.get(name) else { continue };
            let quote = if value.starts_with('"') { "\"" } else { "" };
            let value = match name {
                "ph" => format!("\"{ph}\""),
                "ts" => format!("{quote}{}{quote}", number::micros(to)),
                _ => value.to_owned(),
            };
            text.push_str(&format!(",\"{name}\":{value}"));
        }
        text + "}"
    }
}
