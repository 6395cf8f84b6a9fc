//! Patterns and globs for names and categories, and presets built from them.

use regex::bytes::Regex;
use std::str::FromStr;
use tracemill_trace::run::error::Error;

/// An unanchored regular expression, with optional literal names that also match.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    whole: String,
    compiled: Regex,
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (text, whole) = (text.to_owned(), text.to_owned());
        compile(&whole).map(|compiled| Pattern { text, whole, compiled })
    }
}

impl Pattern {
    /// Returns the expression as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Extends the pattern to also match each of these names exactly.
    ///
    /// # Errors
    /// Returns the reason if the combined expression is too large.
    pub fn or(self, names: &[&str]) -> Result<Self, String> {
        if names.is_empty() {
            return Ok(self);
        }
        let names: Vec<String> = names.iter().map(|name| regex::escape(name)).collect();
        let whole = format!("(?:{})|^(?:{})$", self.text, names.join("|"));
        compile(&whole).map(|compiled| Pattern { whole, compiled, ..self })
    }

    /// Returns whether the pattern matches anywhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled.is_match(text.as_bytes())
    }

    /// Returns the text matched by the first group, or the whole match if there is no group.
    pub(crate) fn capture(&self, text: &str) -> Option<String> {
        let captures = self.compiled.captures(text.as_bytes())?;
        let found = captures.get(1).or(captures.get(0))?;
        Some(String::from_utf8_lossy(found.as_bytes()).into_owned())
    }
}

/// A glob for category names: `*` matches any bytes, `?` any single character.
#[derive(Clone, Debug)]
pub struct Glob(String);

impl FromStr for Glob {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        compile(&anchored(text)).map(|_| Glob(text.to_owned()))
    }
}

impl Glob {
    /// Returns the glob as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the glob matches a whole text.
    pub fn is_match(&self, text: &str) -> bool {
        compile(&anchored(&self.0)).is_ok_and(|regex| regex.is_match(text.as_bytes()))
    }
}

/// A named group of events that `filter` drops together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Requests, responses, loaders, sockets and the network service.
    Network,
    /// The GPU process, its threads and tasks, and display compositing.
    Gpu,
    /// Animations and animation frames.
    Animation,
    /// Threads of the thread pool.
    Threadpool,
    /// Parsing, compilation and optimization of scripts.
    Compile,
}

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 5] =
        [Preset::Network, Preset::Gpu, Preset::Animation, Preset::Threadpool, Preset::Compile];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Network => "network",
            Preset::Gpu => "gpu",
            Preset::Animation => "animation",
            Preset::Threadpool => "threadpool",
            Preset::Compile => "compile",
        }
    }

    /// Returns the globs of the preset: event names, categories, thread names, process names.
    ///
    /// Collected from recordings of Chrome 60 to 156.
    pub fn members(self) -> [&'static [&'static str]; 4] {
        match self {
            Preset::Network => [
                &[
                    "Resource*",
                    "WebSocket*",
                    "URLLoader::*",
                    "ThrottlingURLLoader::*",
                    "CorsURLLoader*",
                    "MojoURLLoaderClient::*",
                    "network::*",
                ],
                &["net", "netlog", "disabled-by-default-network", "disabled-by-default-netlog"],
                &[],
                &["Service: network.mojom.NetworkService"],
            ],
            Preset::Gpu => [
                &["GPUTask"],
                &[
                    "gpu",
                    "gpu.*",
                    "viz",
                    "viz.*",
                    "disabled-by-default-gpu*",
                    "disabled-by-default-viz*",
                ],
                &["CrGpuMain", "VizCompositorThread", "GpuMemoryThread", "GpuWatchdog"],
                &["GPU Process"],
            ],
            Preset::Animation => [
                &[
                    "Animation",
                    "AnimationFrame*",
                    "RequestAnimationFrame",
                    "CancelAnimationFrame",
                    "FireAnimationFrame",
                    "PageAnimator::*",
                ],
                &["blink.animations"],
                &[],
                &[],
            ],
            Preset::Threadpool => [&["ThreadPool_*"], &[], &["ThreadPool*", "TaskScheduler*"], &[]],
            Preset::Compile => [
                &[
                    "v8.compile*",
                    "V8.Compile*",
                    "v8.parse*",
                    "V8.Parse*",
                    "V8.PreParse",
                    "v8.streamingCompile*",
                    "V8.Streaming*",
                    "V8.Optimize*",
                    "V8.Maglev*",
                    "v8.produceCache*",
                    "v8.wasm.*",
                    "BackgroundCompileTask::*",
                ],
                &["disabled-by-default-v8.compile"],
                &[],
                &[],
            ],
        }
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| {
            format!("expected network, gpu, animation, threadpool or compile: {name}")
        })
    }
}

/// Compiles one expression that matches if any pattern does. Returns `None` if there are no
/// patterns.
pub fn any_of(patterns: &[Pattern], case: Case) -> Result<Option<Regex>, Error> {
    union(patterns.iter().map(|pattern| pattern.whole.clone()), case)
}

/// Compiles one expression that matches if any glob does. Returns `None` if there are no globs.
pub fn any_glob<'g>(
    globs: impl Iterator<Item = &'g str>,
    case: Case,
) -> Result<Option<Regex>, Error> {
    union(globs.map(anchored), case)
}

/// Case sensitivity of matching. Globs ignore the case of ASCII letters only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Upper and lower case differ.
    Matters,
    /// Upper and lower case are equal.
    Ignored,
}

impl Case {
    fn flag(self) -> &'static str {
        match self {
            Case::Matters => "",
            Case::Ignored => "(?i)",
        }
    }
}

/// Returns the text of a glob.
pub fn glob_text(glob: &Glob) -> &str {
    &glob.0
}

fn union(patterns: impl Iterator<Item = String>, case: Case) -> Result<Option<Regex>, Error> {
    // each in a group, so that inline flags do not reach the next pattern
    let patterns: Vec<String> = patterns.map(|pattern| format!("(?:{pattern})")).collect();
    if patterns.is_empty() {
        return Ok(None);
    }
    let compiled = compile(&format!("{}{}", case.flag(), patterns.join("|")));
    compiled.map(Some).map_err(|problem| Error::usage(problem, None))
}

/// Compiles an expression over bytes, since names may hold invalid UTF-8; `.` matches a character
/// or one stray byte.
fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| error.to_string())
}

fn anchored(glob: &str) -> String {
    let mut pattern = String::from("(?s-u)^");
    for c in glob.chars() {
        match c {
            '*' => pattern.push_str(".*"),
            '?' => pattern.push_str("(?:[\\x00-\\x7F]|[\\xC0-\\xFF][\\x80-\\xBF]*)"),
            c => {
                let mut buffer = [0; 4];
                for byte in c.encode_utf8(&mut buffer).bytes() {
                    pattern.push_str(&format!("\\x{byte:02X}"));
                }
            }
        }
    }
    pattern + "$"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_texts() {
        for (glob, yes, no) in [
            ("v8", &["v8"][..], &["v8.gc", "xv8", ""][..]),
            ("v8.*", &["v8.", "v8.gc"], &["v8", "v8xgc"]),
            ("?8", &["v8", "é8"], &["8", "vv8"]),
            ("a+b", &["a+b"], &["aab"]),
        ] {
            let regex = any_glob([glob].into_iter(), Case::Matters).expect("sound").expect("one");
            assert!(yes.iter().all(|text| regex.is_match(text.as_bytes())), "{glob}");
            assert!(!no.iter().any(|text| regex.is_match(text.as_bytes())), "{glob}");
        }
    }

    #[test]
    fn patterns_are_alternatives() {
        let patterns = ["(?i)gc", "^Run"].map(|p| p.parse::<Pattern>().expect("sound"));
        let regex = any_of(&patterns, Case::Matters).expect("sound").expect("two");
        assert!(regex.is_match(b"MinorGC") && regex.is_match(b"RunTask"));
        assert!(!regex.is_match(b"runTask") && regex.is_match(b"x gc"));
        assert!(any_of(&[], Case::Matters).expect("sound").is_none());
        assert!("(".parse::<Pattern>().is_err());
        let regex = any_of(&patterns, Case::Ignored).expect("sound").expect("two");
        assert!(regex.is_match(b"runtask") && regex.is_match(b"x GC"));
        let regex = any_glob(["V8.*"].into_iter(), Case::Ignored).expect("sound").expect("one");
        assert!(regex.is_match(b"v8.gc") && !regex.is_match(b"v9.gc"));
    }
}
