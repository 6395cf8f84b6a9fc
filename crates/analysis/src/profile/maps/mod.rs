//! Applies source maps: original names and positions of functions.
//!
//! ```text
//!   functions of profiles, by script ─> map of the script ─> name, source, line and column
//!       metadata.sourceMaps, folders and files of the user ─┘
//! ```
//!
//! Only maps of scripts in the profiles are read, one at a time. Functions of unusable maps stay
//! unchanged. Maps change names and positions, but not which calls share a row.

mod fault;
mod folder;
mod mappings;
mod naming;
mod places;
mod text;

use crate::profile::functions::Frame;
use crate::value::{elements, member, string};
use fault::Met;
pub use fault::{MapFault, UnusedMap};
use folder::{Folder, inline};
use mappings::Place;
use naming::{Generated, name_of};
use places::{file_of, join, path_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use text::{Found, MapText};
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// The places to search for source maps.
#[derive(Clone, Debug)]
pub struct SourceMaps {
    /// Files and folders with maps, or with scripts that name their maps. No other path is opened.
    pub paths: Vec<PathBuf>,
    /// Whether maps in the traces (`metadata.sourceMaps`) are used.
    pub of_traces: bool,
}

impl Default for SourceMaps {
    fn default() -> Self {
        SourceMaps { paths: Vec::new(), of_traces: true }
    }
}

/// Results of applying source maps.
#[derive(Clone, Debug, Default)]
pub struct Mapped {
    /// Whether the user named paths or the traces have maps, so that maps were searched.
    pub was_asked: bool,
    /// Number of scripts with a used map.
    pub scripts: u64,
    /// Number of functions that got a source position.
    pub functions: u64,
    /// Number of functions whose name changed.
    pub named: u64,
    /// The first scripts without a map, by URL, and the number of all such scripts.
    pub unmapped: (Vec<String>, u64),
    /// Maps that cannot be used.
    pub unusable: Vec<UnusedMap>,
    /// A sentence for each used map that hardly fits its sources.
    pub doubtful: Vec<String>,
}

/// A function of a profile, as numbers of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Function {
    place: Place,
    name: u32,
    line: u32,
    column: u32,
}

/// The source position and name of a function, as numbers of texts.
#[derive(Clone, Copy, Debug)]
struct Source {
    url: u32,
    name: u32,
    line: u32,
    column: u32,
}

/// The number of a script's URL, a function in the script, and the position of that function in a
/// source.
type FoundFunction<'f> = (u32, Function, &'f Found<'f>);

/// Functions by the number of their script's URL.
type Scripts = BTreeMap<u32, BTreeSet<Function>>;

/// Applies maps to the frames of profiles.
pub(crate) struct Mapper<'a> {
    names: &'a mut Names,
    /// Maximum size of a map in bytes.
    most: u64,
    sources: HashMap<(u32, Function), Source>,
    /// Source URLs that maps mark as third-party.
    pub(crate) libraries: HashSet<u32>,
    pub(crate) mapped: Mapped,
}

impl<'a> Mapper<'a> {
    pub(crate) fn new(names: &'a mut Names, most: u64) -> Self {
        Mapper {
            names,
            most,
            sources: HashMap::default(),
            libraries: HashSet::default(),
            mapped: Mapped::default(),
        }
    }

    /// Finds the maps of all functions in `frames`. Searches the traces' `metadata` first, then
    /// folders.
    ///
    /// Cost: visits each frame, and reads each used map once.
    pub(crate) fn read(
        &mut self,
        frames: impl Iterator<Item = Frame>,
        rules: &SourceMaps,
        metadata: &[Vec<u8>],
    ) {
        let metadata: Vec<&[u8]> = metadata
            .iter()
            .filter(|_| rules.of_traces)
            .filter_map(|text| member(text, b"sourceMaps"))
            .flat_map(elements)
            .collect();
        if metadata.is_empty() && rules.paths.is_empty() {
            return;
        }
        self.mapped.was_asked = true;
        let mut scripts = Scripts::new();
        for frame in frames.filter(|frame| frame.url != 0) {
            // Node's own modules have no maps.
            if self.names.bytes_of(frame.url).starts_with(b"node:") {
                continue;
            }
            if let Some(function) = self.function(&frame) {
                scripts.entry(frame.url).or_default().insert(function);
            }
        }
        self.of_traces(&mut scripts, &metadata);
        self.of_folders(&mut scripts, &rules.paths);
        let left = scripts.keys().take(3).map(|&url| self.names.text(url)).collect();
        self.mapped.unmapped = (left, scripts.len() as u64);
    }

    /// Returns the name and position of a frame's function. Returns `None` if the frame has no
    /// position, or is the top-level code of a script.
    fn function(&self, frame: &Frame) -> Option<Function> {
        let position =
            |text: u32| std::str::from_utf8(self.names.bytes_of(text)).ok()?.parse().ok();
        let place = (position(frame.line)?, position(frame.column)?);
        let is_whole = place == (0, 0) && frame.function == 0;
        let Frame { function: name, line, column, .. } = *frame;
        (!is_whole).then_some(Function { place, name, line, column })
    }

    fn of_traces(&mut self, scripts: &mut Scripts, metadata: &[&[u8]]) {
        for element in metadata {
            let url = member(element, b"url").and_then(string).map(|url| self.names.number(&url));
            let Some((url, functions)) = url.and_then(|url| Some((url, scripts.get(&url)?))) else {
                continue;
            };
            let script = self.names.text(url);
            let map_url = member(element, b"sourceMapUrl").and_then(string).unwrap_or_default();
            let map_url = String::from_utf8_lossy(&map_url).into_owned();
            let text = match member(element, b"sourceMap").filter(|map| map.starts_with(b"{")) {
                Some(map) => Some(map.into()),
                None => inline(&map_url),
            };
            let Some(text) = text else { continue };
            let base = match map_url.is_empty() || map_url.starts_with("data:") {
                true => script.clone(),
                false => join(&script, &map_url),
            };
            let functions = BTreeMap::from([(url, functions.clone())]);
            let of = format!("the map of {script} in the trace");
            match self.apply(&of, &text, &functions, |_| base.clone()) {
                Ok(()) => drop(scripts.remove(&url)),
                Err(why) => self.refuse(MapFault::Broken.of(format!("{of}: {why}"))),
            }
        }
    }

    fn of_folders(&mut self, scripts: &mut Scripts, paths: &[PathBuf]) {
        let urls: BTreeMap<u32, String> =
            scripts.keys().map(|&url| (url, self.names.text(url))).collect();
        let mut wanted = BTreeSet::new();
        for name in urls.values().map(|url| file_of(url)).filter(|name| !name.is_empty()) {
            wanted.insert(format!("{name}.map"));
            wanted.insert(name);
        }
        let mut folders = Vec::new();
        let mut claims: BTreeMap<folder::Place, Vec<u32>> = BTreeMap::new();
        let mut claimed = BTreeSet::new();
        let mut unused = Vec::new();
        for path in paths {
            let folder = match Folder::new(path, &wanted, &mut unused) {
                Ok(folder) => folder,
                Err(why) => {
                    unused.push(MapFault::Unreadable.of(format!("{}: {why}", path.display())));
                    continue;
                }
            };
            let number = folders.len();
            let of_file = self.of_file(&folder, &wanted, &mut unused);
            for (&url, text) in &urls {
                let place = match &of_file {
                    Some((name, path)) => (file_of(text) == *name).then(|| folder::Place {
                        folder: number,
                        path: path.clone(),
                        is_inline: false,
                    }),
                    None => folder.place(number, text, self.most, &mut unused),
                };
                if let Some(place) = place.filter(|_| claimed.insert(url)) {
                    claims.entry(place).or_default().push(url);
                }
            }
            folders.push(folder);
        }
        unused.into_iter().for_each(|why| self.refuse(why));
        for (place, of) in claims {
            let paths: BTreeSet<String> = of.iter().map(|url| path_of(&urls[url])).collect();
            let folder = &folders[place.folder];
            let shown = folder.shown(&place.path);
            if paths.len() > 1 {
                self.refuse(MapFault::Ambiguous.of(format!(
                    "{shown} could be the map of {} scripts that are not one, {} among them",
                    paths.len(),
                    urls[&of[0]]
                )));
                continue;
            }
            let functions = of.iter().filter_map(|url| scripts.remove_entry(url)).collect();
            let text = folder.text(&place, self.most);
            let base = |script: &str| Folder::base(&place, script);
            let applied = text.and_then(|text| {
                let applied = self.apply(&shown, &text, &functions, base);
                applied.map_err(|why| MapFault::Broken.of(format!("{shown}: {why}")))
            });
            applied.unwrap_or_else(|why| self.refuse(why));
        }
    }

    /// Finds the script of a map file by its key `file`, and returns the script and the path of the
    /// map. Returns `None` if the name of the map file already names a script.
    fn of_file(
        &self,
        folder: &Folder,
        wanted: &BTreeSet<String>,
        unused: &mut Vec<UnusedMap>,
    ) -> Option<(String, String)> {
        let name = folder.named().filter(|name| !wanted.contains(*name))?;
        match folder.read(name, self.most) {
            Ok(text) => match MapText::parse(&text) {
                Ok(map) => {
                    let file = map.file.map(|file| file_of(&String::from_utf8_lossy(&file)));
                    return Some((file.unwrap_or_default(), name.clone()));
                }
                Err(why) => {
                    unused.push(MapFault::Broken.of(format!("{}: {why}", folder.shown(name))));
                }
            },
            Err(why) => unused.push(why),
        }
        None
    }

    fn refuse(&mut self, unused_map: UnusedMap) {
        if !self.mapped.unusable.contains(&unused_map) {
            self.mapped.unusable.push(unused_map);
        }
    }

    /// Applies a map with the displayed name `of` to functions of scripts. `base` returns the URL
    /// to which the paths of a script's sources are relative.
    fn apply(
        &mut self,
        of: &str,
        text: &[u8],
        scripts: &Scripts,
        base: impl Fn(&str) -> String,
    ) -> Result<(), String> {
        let map = MapText::parse(text)?;
        let places: BTreeSet<Place> =
            scripts.values().flatten().map(|function| function.place).collect();
        let wanted: Vec<Place> = places.into_iter().collect();
        let found = map.find(&wanted)?;
        let mut by_source: BTreeMap<(usize, u32), Vec<FoundFunction<'_>>> = BTreeMap::new();
        for (&url, functions) in scripts {
            self.mapped.scripts += 1;
            for &function in functions {
                let at = wanted.partition_point(|place| *place < function.place);
                if let Some(original) = found.get(at).and_then(Option::as_ref) {
                    by_source
                        .entry(original.source.number)
                        .or_default()
                        .push((url, function, original));
                }
            }
        }
        let mut met = Met::default();
        for functions in by_source.values() {
            let source = &functions[0].2.source;
            let content = source.content.and_then(string);
            let lines = Lines::new(content.as_deref().map(String::from_utf8_lossy));
            for &(url, function, original) in functions {
                let script = self.names.text(url);
                let path = join(&base(&script), &String::from_utf8_lossy(&source.path));
                let known = self.names.text(function.name);
                let segment = original.name.as_deref().map(String::from_utf8_lossy);
                let generated = Generated {
                    name: &known,
                    distance: function.place.1 - original.place.1,
                    segment: segment.as_deref(),
                };
                let name = name_of(generated, lines.at(original.origin));
                met.add(lines.text.is_some() && !known.is_empty(), name.is_some());
                self.mapped.functions += 1;
                self.mapped.named += u64::from(name.as_ref().is_some_and(|name| *name != known));
                let names = &mut *self.names;
                let mut number = |value: u32| names.number(value.to_string().as_bytes());
                let (line, column) = (number(original.origin.0), number(original.origin.1));
                let url_number = names.number(path.as_bytes());
                let name = name.map_or(function.name, |name| names.number(name.as_bytes()));
                if source.is_library {
                    self.libraries.insert(url_number);
                }
                self.sources
                    .insert((url, function), Source { url: url_number, name, line, column });
            }
        }
        self.mapped.doubtful.extend(met.doubt(of));
        Ok(())
    }

    /// Replaces the name and position of a frame by those in the source, if a map has them.
    pub(crate) fn change(&self, frame: &mut Frame) {
        if self.sources.is_empty() || frame.url == 0 {
            return;
        }
        let Some(function) = self.function(frame) else { return };
        if let Some(source) = self.sources.get(&(frame.url, function)) {
            let Source { url, name, line, column } = *source;
            (frame.url, frame.function, frame.line, frame.column) = (url, name, line, column);
        }
    }
}

/// The text of a source, and the offsets of its lines.
struct Lines<'t> {
    text: Option<std::borrow::Cow<'t, str>>,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: Option<std::borrow::Cow<'t, str>>) -> Self {
        let mut starts = vec![0];
        if let Some(text) = &text {
            let bytes = text.as_bytes();
            let ends = bytes.iter().enumerate().filter(|&(at, &byte)| {
                byte == b'\n' || byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')
            });
            starts.extend(ends.map(|(at, _)| at + 1));
        }
        Lines { text, starts }
    }

    /// Returns the text, and the byte offset of a line and column in it.
    fn at(&self, place: Place) -> Option<(&str, usize)> {
        let (line, column) = place;
        let text = self.text.as_deref()?;
        let start = *self.starts.get(line as usize)?;
        let end = self.starts.get(line as usize + 1).copied().unwrap_or(text.len());
        let mut units = 0;
        for (at, letter) in text.get(start..end)?.char_indices() {
            if units >= column {
                return Some((text, start + at));
            }
            units += letter.len_utf16() as u32;
        }
        (units >= column).then_some((text, end))
    }
}
