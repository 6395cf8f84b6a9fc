//! Laws that hold for a single run, and comparisons with the naive reference.

use crate::chain::{Ask, PLAN, Step, Writes};
use crate::inputs::{Input, Kind};
use crate::process::Knobs;
use crate::world::{Story, World};
use serde_json::Value;
use std::fs;
use tracemill_testkit::packing::unpacked;
use tracemill_testkit::{Rng, reference};

/// Maximum bytes passed to the naive reference, which is slow.
const NAIVE_MOST: usize = 400 << 10;

/// A finished round over files, to be checked.
pub(crate) struct Laws<'r> {
    pub(crate) rng: &'r mut Rng,
    pub(crate) world: &'r mut World,
    pub(crate) inputs: &'r [Input],
    pub(crate) chain: &'r [Step],
    pub(crate) story: &'r Story,
}

impl Laws<'_> {
    /// Asserts all laws for all steps.
    #[track_caller]
    pub(crate) fn hold(mut self) {
        let sound = self.inputs.iter().all(|input| input.sound.is_some());
        let naive = sound && self.inputs.iter().all(|input| input.kind != Kind::Annotated);
        for number in 0..self.story.ended.len() {
            if !matches!(self.story.ended[number].code, Some(0 | 1)) {
                return;
            }
            self.is_as_planned(number);
            self.is_as_by_index(number);
            match self.chain[number].ask {
                // clipping may change the order of events with the same time
                Ask::Merge { clips: true, .. } => {}
                Ask::Merge { .. } | Ask::Slice(..) | Ask::Filter(..) | Ask::Convert
                    if self.is_ambiguous(number) => {}
                Ask::Merge { .. } => {
                    self.is_sorted(number);
                    self.is_merged(number);
                }
                Ask::Slice(..) => self.is_merged(number),
                Ask::Convert => self.is_converted(number),
                Ask::Filter(..) if sound => self.is_divided(number),
                Ask::Split(..) => self.is_split(number),
                _ => {}
            }
            if naive {
                self.is_as_naive(number);
            }
        }
    }

    fn what(&self, number: usize) -> String {
        format!("step {number} of {:#?}", self.chain)
    }

    /// Runs the command with the output file `law`, and returns its contents.
    #[track_caller]
    fn law(&mut self, number: usize, words: &[String]) -> Vec<u8> {
        let mut all = words.to_vec();
        all.extend(["-f", "-o", "law"].map(str::to_owned));
        // `info` holds the threads of all parts at once
        let memory = [64, 256][self.rng.index(2)];
        let ended = self.world.run(&all, Knobs::random(self.rng, memory));
        let what = self.what(number);
        assert!(matches!(ended.code, Some(0 | 1)), "{words:?} after {what}\n{ended:#?}");
        fs::read(self.world.path("one/law")).expect("it was written")
    }

    #[track_caller]
    fn law_json(&mut self, number: usize, words: &[String]) -> Value {
        serde_json::from_slice(&self.law(number, words)).expect("JSON")
    }

    fn output(&self, number: usize) -> Vec<u8> {
        fs::read(self.world.path(&format!("one/{number}.trace"))).expect("it was written")
    }

    fn is_ambiguous(&self, number: usize) -> bool {
        reference::is_ambiguous(&unpacked(self.output(number)))
    }

    /// Returns the inputs of a step as command-line words.
    fn read_by(&self, number: usize) -> Vec<String> {
        match number.checked_sub(1) {
            None => self.world.given.clone(),
            Some(before) if self.chain[before].writes == Writes::Folder => {
                vec![format!("{before}.parts")]
            }
            Some(before) => vec![format!("{before}.trace")],
        }
    }

    /// Returns the number of events in these inputs, without metadata events.
    #[track_caller]
    fn count(&mut self, number: usize, inputs: &[String]) -> u64 {
        let words = [&["info".to_owned(), "--json".to_owned()], inputs].concat();
        let info = self.law_json(number, &words);
        let events = info["events"].as_u64().expect("a count");
        events - info["phases"]["M"].as_u64().unwrap_or(0)
    }

    /// `check` finds the output of merge sorted, except for delayed chunks of profiles.
    #[track_caller]
    fn is_sorted(&mut self, number: usize) {
        let words = ["check".to_owned(), "--json".to_owned(), format!("{number}.trace")];
        let checked = self.law_json(number, &words);
        let findings = checked["findings"].as_array().expect("findings");
        let unsorted = findings.iter().find(|finding| {
            finding["kind"].as_str().is_some_and(|kind| kind.starts_with("unsorted"))
        });
        let Some(unsorted) = unsorted else { return };
        let report = ["--report".to_owned(), "report".to_owned()];
        self.law(number, &[&["merge".to_owned(), format!("{number}.trace")], &report[..]].concat());
        let report = fs::read(self.world.path("one/report")).expect("it was written");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        let delayed = report["decisions"]["delayed_chunks"].as_u64().expect("a count");
        assert!(delayed > 0, "{unsorted:#}: {}", self.what(number));
    }

    /// Merging a merged trace, or slicing all of it, changes nothing.
    #[track_caller]
    fn is_merged(&mut self, number: usize) {
        let once = self.output(number);
        // without events NDJSON cannot be detected
        if self.count(number, &[format!("{number}.trace")]) == 0 {
            return;
        }
        let verb = ["merge", "slice --window=..@9223372036854775807ns"][self.rng.index(2)];
        let mut words: Vec<String> = verb.split(' ').map(str::to_owned).collect();
        words.push(format!("{number}.trace"));
        words.extend(self.packing(number));
        let twice = self.law(number, &words);
        assert!(once == twice, "{verb} changes what is sorted: {}", self.what(number));
    }

    /// Merging with the manifest of a merge gives the same output.
    #[track_caller]
    fn is_as_planned(&mut self, number: usize) {
        let all = &self.chain[number].words;
        // provenance contains how offsets were found
        let named = |word: &str| all.iter().any(|w| w == word);
        if !named(&format!("--write-manifest={PLAN}")) || named("--provenance") {
            return;
        }
        let decided = ["--write-manifest=", "--offset=", "--scale=", "--label"];
        let mut words: Vec<String> = Vec::new();
        let mut left = all.iter();
        while let Some(word) = left.next() {
            match &**word {
                "--align" => drop(left.next()),
                word if decided.iter().any(|flag| word.starts_with(flag)) => {}
                word => words.push(word.to_owned()),
            }
        }
        words.push(format!("--manifest={PLAN}"));
        let again = self.law(number, &words);
        assert!(self.output(number) == again, "not as planned: {}", self.what(number));
    }

    /// A verb gives the same output with and without an index.
    #[track_caller]
    fn is_as_by_index(&mut self, number: usize) {
        const INDEX: &str = "law.tmi";
        let given = self.read_by(number);
        let [input] = &given[..] else { return };
        let is_file = self.world.path("one").join(input).is_file();
        let step = &self.chain[number];
        if !is_file || step.words[0] != "slice" {
            return;
        }
        let words = ["index", input, "-f", "-o", INDEX].map(str::to_owned);
        let ended = self.world.run(&words, Knobs::random(self.rng, 64));
        if ended.code == Some(2) {
            return;
        }
        let what = self.what(number);
        assert!(matches!(ended.code, Some(0 | 1)), "no index of {input} after {what}\n{ended:#?}");
        let by_index = format!("--index={INDEX}");
        let words = [&*step.words, &[input.clone(), by_index]].concat();
        let found = self.law(number, &words);
        assert!(self.output(number) == found, "an index changes what is written: {what}");
    }

    /// Returns the compression flags of a step.
    fn packing(&self, number: usize) -> Vec<String> {
        let words = &self.chain[number].words;
        let flags = words.windows(2).filter(|pair| ["-z", "--level"].contains(&&*pair[0]));
        flags.flatten().cloned().collect()
    }

    /// Converting again changes nothing, and all events are kept, unless one is broken: then its
    /// end depends on the format.
    #[track_caller]
    fn is_converted(&mut self, number: usize) {
        let (before, after) = (self.read_by(number), vec![format!("{number}.trace")]);
        let (before, after) = (self.count(number, &before), self.count(number, &after));
        let sound = self.inputs.iter().all(|input| input.sound.is_some());
        assert!(before == after || !sound, "{before} events, then {after}: {}", self.what(number));
        if after == 0 {
            return;
        }
        let words = [&*self.chain[number].words, &[format!("{number}.trace")]].concat();
        let twice = self.law(number, &words);
        let same = self.output(number) == twice;
        assert!(same || !sound, "it changes again: {}", self.what(number));
    }

    /// A filter and its inverse together keep every event exactly once.
    #[track_caller]
    fn is_divided(&mut self, number: usize) {
        let mut words = self.chain[number].words.clone();
        if words.iter().any(|word| word == "--shrink-to") {
            return;
        }
        let before = words.len();
        words.retain(|word| word != "--invert");
        if words.len() == before {
            words.push("--invert".to_owned());
        }
        let inputs = self.read_by(number);
        words.extend(inputs.iter().cloned());
        let rest = self.law(number, &words);
        if reference::is_ambiguous(&unpacked(rest.clone())) {
            return;
        }
        fs::write(self.world.path("one/rest"), rest).expect("the folder is ours");
        let all = self.count(number, &inputs);
        let kept = self.count(number, &[format!("{number}.trace")]);
        let rest = self.count(number, &["rest".to_owned()]);
        assert_eq!(kept + rest, all, "{kept} kept, {rest} else: {}", self.what(number));
    }

    /// Each event that can be written is in exactly one part; `info` also counts events that are
    /// not valid JSON.
    #[track_caller]
    fn is_split(&mut self, number: usize) {
        let words = ["convert", "--format", "ndjson"].map(str::to_owned);
        let written = self.law(number, &[&words[..], &self.read_by(number)].concat());
        fs::write(self.world.path("one/written"), written).expect("the folder is ours");
        let all = self.count(number, &["written".to_owned()]);
        let counts = ["events", "metadata", "copies"].map(|key| {
            let parts = self.parts(number);
            parts.iter().map(|part| part[key].as_u64().expect("a count")).sum::<u64>()
        });
        let [events, metadata, copies] = counts;
        assert_eq!(events - metadata - copies, all, "{counts:?}: {}", self.what(number));
    }

    fn parts(&self, number: usize) -> Vec<Value> {
        let manifest = fs::read(self.world.path(&format!("one/{number}.manifest")));
        let manifest: Value =
            serde_json::from_slice(&manifest.expect("it was written")).expect("JSON");
        manifest["parts"].as_array().expect("parts").clone()
    }

    /// Returns the contents of the inputs of a step, if they are small.
    fn inputs_of(&self, number: usize) -> Option<Vec<Vec<u8>>> {
        let files = match number.checked_sub(1) {
            None => self.inputs.iter().filter_map(|input| input.sound.clone()).collect(),
            Some(before) if self.chain[before].writes == Writes::Folder => {
                if !matches!(self.chain[before].ask, Ask::Split(_)) {
                    return None;
                }
                let mut parts: Vec<String> = self.parts(before).iter().map(file_of).collect();
                parts.sort();
                let read = |part: &String| fs::read(self.world.path("one").join(part));
                parts.iter().map(|part| unpacked(read(part).expect("a part"))).collect()
            }
            Some(before) => vec![unpacked(self.output(before))],
        };
        let files: Vec<Vec<u8>> = files;
        (files.iter().map(Vec::len).sum::<usize>() <= NAIVE_MOST).then_some(files)
    }

    /// The output equals that of the naive reference.
    #[track_caller]
    fn is_as_naive(&mut self, number: usize) {
        let Some(mut inputs) = self.inputs_of(number) else { return };
        if inputs.len() > 1 && !matches!(self.chain[number].ask, Ask::Merge { .. }) {
            // verbs of one trace read several inputs as merge writes them
            let words = [&["merge".to_owned()], &self.read_by(number)[..]].concat();
            inputs = vec![self.law(number, &words)];
        }
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let step = &self.chain[number];
        let expected = match &step.ask {
            Ask::Merge { plain: true, .. } => reference::merge(&inputs, step.format),
            Ask::Filter(Some(criteria)) => reference::filter(&inputs, criteria, step.format),
            Ask::Slice(Some(windows), edges) => {
                reference::slice(&inputs, windows, *edges, step.format)
            }
            Ask::Split(Some((by, max_size))) => {
                let Ok(parts) = reference::split(&inputs, *by, *max_size, step.format) else {
                    return;
                };
                return self.parts_are(number, parts);
            }
            _ => return,
        };
        // the reference does not support profile chunks in slices
        let Ok(expected) = expected else { return };
        self.is_same(number, &expected, unpacked(self.output(number)));
    }

    #[track_caller]
    fn parts_are(&mut self, number: usize, expected: Vec<reference::SplitPart>) {
        let parts: Vec<String> = self.parts(number).iter().map(file_of).collect();
        assert_eq!(parts.len(), expected.len(), "parts: {}", self.what(number));
        for (part, expected) in parts.iter().zip(expected) {
            let found = fs::read(self.world.path("one").join(part)).expect("a part");
            self.is_same(number, &expected.bytes, unpacked(found));
        }
    }

    #[track_caller]
    fn is_same(&mut self, number: usize, expected: &[u8], found: Vec<u8>) {
        self.world.figures.references += 1;
        if expected == found {
            return;
        }
        let pairs = expected.iter().zip(&found);
        let at = pairs.take_while(|(a, b)| a == b).count();
        let near = |bytes: &[u8]| {
            let (from, to) = (at.saturating_sub(200), (at + 200).min(bytes.len()));
            String::from_utf8_lossy(&bytes[from.min(to)..to]).into_owned()
        };
        let (expected, found) = (near(expected), near(&found));
        let what = self.what(number);
        panic!(
            "not as the naive reference has it, from byte {at}: {what}\n--- expected\n{expected}\n--- found\n{found}"
        );
    }
}

fn file_of(part: &Value) -> String {
    part["file"].as_str().expect("a name").to_owned()
}
