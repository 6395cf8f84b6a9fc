//! Opens sites for tests.

use serde_json::Value;
use std::path::PathBuf;
use tempfile::TempDir;
use tracemill_index::{IndexConfig, index};
use tracemill_join::config::{Config, IndexUse};
use tracemill_trace::Source;
use tracemill_trace::run::limits::Cancel;
use tracemill_view::{Ask, Content, Reply, Site};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const HOST: &str = "127.0.0.1:8123";

pub(crate) struct Opened {
    pub(crate) site: Site,
    pub(crate) path: PathBuf,
    _folder: TempDir,
}

pub(crate) fn config() -> Config {
    Config::new(2, 64 << 20, std::env::temp_dir())
}

pub(crate) fn unread(text: &[u8]) -> Opened {
    with(text, config())
}

pub(crate) fn with(text: &[u8], config: Config) -> Opened {
    named("trace.json", text, config)
}

pub(crate) fn named(name: &str, text: &[u8], config: Config) -> Opened {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let site = Site::new(vec![Source::Path(path.clone())], config, TOKEN.into(), 8123);
    Opened { site, path, _folder: folder }
}

/// Opens several traces, named `0.json`, `1.json` …
pub(crate) fn open_all(texts: &[&str]) -> Opened {
    let folder = tempfile::tempdir().unwrap();
    let path = |at: usize| folder.path().join(format!("{at}.json"));
    for (at, text) in texts.iter().enumerate() {
        std::fs::write(path(at), text).unwrap();
    }
    let sources = (0..texts.len()).map(|at| Source::Path(path(at))).collect();
    let site = Site::new(sources, config(), TOKEN.into(), 8123);
    site.read().unwrap();
    Opened { site, path: path(0), _folder: folder }
}

pub(crate) fn open(text: &[u8]) -> Opened {
    let opened = unread(text);
    opened.site.read().unwrap();
    opened
}

pub(crate) fn open_indexed(text: &[u8]) -> Opened {
    open_indexed_as("trace.json", text)
}

pub(crate) fn open_indexed_as(name: &str, text: &[u8]) -> Opened {
    let opened = named(name, text, Config { index: IndexUse::Auto, ..config() });
    let sources = [Source::Path(opened.path.clone())];
    let reports = index(&sources, &IndexConfig::default(), &config()).unwrap();
    assert_eq!(reports[0].left_out, [""; 0], "{:?}", reports[0].sections);
    opened.site.read().unwrap();
    opened
}

impl Opened {
    pub(crate) fn get(&self, route: &str) -> Reply {
        self.ask("GET", &format!("/{TOKEN}/{route}"), Some(HOST))
    }

    pub(crate) fn ask(&self, method: &str, target: &str, host: Option<&str>) -> Reply {
        self.request(&Ask { method, target, host, origin: None, is_own: false })
    }

    pub(crate) fn request(&self, ask: &Ask<'_>) -> Reply {
        self.site.answer(ask, &Cancel::default())
    }

    pub(crate) fn bytes(&self, route: &str) -> Vec<u8> {
        let reply = self.get(route);
        let status = reply.status;
        let bytes = body(reply);
        assert_eq!(status, 200, "{route}: {}", String::from_utf8_lossy(&bytes));
        bytes
    }

    pub(crate) fn json(&self, route: &str) -> Value {
        serde_json::from_slice(&self.bytes(route)).unwrap()
    }
}

pub(crate) fn body(reply: Reply) -> Vec<u8> {
    match reply.content {
        Content::Whole(bytes) => bytes,
        Content::Fixed(bytes) => bytes.to_vec(),
        Content::Pieces(pieces) => pieces.collect().expect("the slice is complete"),
        Content::Progress => Vec::new(),
    }
}
