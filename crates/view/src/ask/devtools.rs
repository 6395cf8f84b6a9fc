//! Opens slices in DevTools. On first use, starts a Chromium with a separate profile folder. The
//! connection is a private pipe instead of a port, and the browser exits with this program.

use crate::token;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Executable names of Chromium-based browsers.
const PROGRAMS: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
];
/// Maximum time to wait for a reply of the browser.
const ANSWERS: Duration = Duration::from_secs(30);
/// Maximum time to wait until DevTools has loaded a part of the trace.
const LOADS: Duration = Duration::from_secs(600);
/// Value of the header `Origin` in requests that DevTools sends.
pub(crate) const ORIGIN: &str = "devtools://devtools";
/// Shell script that starts the browser. It connects the pipe on descriptors 3 and 4 to standard
/// input and output, and removes the profile folder when the browser exits.
const RUN: &str =
    r#"profile=$1; shift; "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1; rm -rf "$profile""#;
/// Script that DevTools runs. It opens the Performance panel and loads a file, like "Load profile".
const LOAD: &str = include_str!("load.js");

/// Finds a Chromium-based browser on `PATH`.
pub fn find_chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = PROGRAMS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|program| program.is_file())
}

pub(crate) struct Devtools {
    program: PathBuf,
    tmp_dir: PathBuf,
    running: Mutex<Option<Browser>>,
}

impl Devtools {
    pub(crate) fn new(program: PathBuf, tmp_dir: &Path) -> Self {
        Devtools { program, tmp_dir: tmp_dir.to_owned(), running: Mutex::default() }
    }

    /// Opens the trace at `address` in a tab. Starts a browser if none runs.
    pub(crate) fn open(&self, address: &str, name: &str) -> Result<(), String> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_mut().is_some_and(|browser| !browser.is_alive()) {
            *running = None;
        }
        let browser = match &mut *running {
            Some(browser) => browser,
            none => none.insert(Browser::start(&self.program, &self.tmp_dir)?),
        };
        browser.show(address, name)
    }
}

struct Browser {
    child: Child,
    input: ChildStdin,
    replies: Receiver<Value>,
    requests: u64,
}

impl Browser {
    fn start(program: &Path, tmp_dir: &Path) -> Result<Self, String> {
        let failed =
            |error: std::io::Error| format!("{} cannot be started: {error}", program.display());
        let profile = tmp_dir.join(format!("tracemill-devtools-{}", token().map_err(failed)?));
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(RUN).arg("sh").arg(&profile).arg(program);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.args(["--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check"]);
        command.args(["--disable-background-networking", "--disable-component-update"]);
        command.args(["--disable-extensions", "about:blank"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        alone(&mut command, &profile).map_err(failed)?;
        let mut child = command.spawn().map_err(failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err("the browser has no pipe".to_owned());
        };
        let (sender, replies) = channel();
        let listen = move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            // messages are JSON texts, each terminated by a NUL byte
            while output.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop();
                let value = serde_json::from_slice(&message).unwrap_or(Value::Null);
                if sender.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        };
        std::thread::Builder::new().name("devtools".into()).spawn(listen).map_err(failed)?;
        Ok(Browser { child, input, replies, requests: 0 })
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a request, and waits for the reply.
    fn ask(
        &mut self,
        session: Option<&str>,
        patience: Duration,
        method: &str,
        params: &Value,
    ) -> Result<Value, String> {
        self.requests += 1;
        let mut message = json!({ "id": self.requests, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let gone = |_| "the browser has ended".to_owned();
        self.input.write_all(&bytes).and_then(|()| self.input.flush()).map_err(gone)?;
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let heard = self.replies.recv_timeout(left);
            let heard = heard.map_err(|_| format!("the browser does not answer ({method})"))?;
            if heard["id"] != self.requests {
                continue;
            }
            return match heard["error"]["message"].as_str() {
                Some(error) => Err(format!("{method}: {error}")),
                None => Ok(heard["result"].clone()),
            };
        }
    }

    fn tab(&mut self) -> Result<String, String> {
        let targets = self.ask(None, ANSWERS, "Target.getTargets", &json!({}))?;
        let is_empty = |value: &&Value| value["type"] == "page" && value["url"] == "about:blank";
        let empty = targets["targetInfos"].as_array().and_then(|all| all.iter().find(is_empty));
        let page = match empty {
            Some(target) => target.clone(),
            None => {
                self.ask(None, ANSWERS, "Target.createTarget", &json!({ "url": "about:blank" }))?
            }
        };
        let target = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = self.ask(None, ANSWERS, "Target.attachToTarget", &target)?;
        let session = attached["sessionId"].as_str().map(ToOwned::to_owned);
        session.ok_or_else(|| "the browser gives no tab".to_owned())
    }

    fn show(&mut self, address: &str, name: &str) -> Result<(), String> {
        let session = self.tab()?;
        let session = Some(&*session);
        // the policy of DevTools forbids this server's address
        self.ask(session, ANSWERS, "Page.setBypassCSP", &json!({ "enabled": true }))?;
        let page = json!({ "url": format!("{ORIGIN}/bundled/devtools_app.html") });
        self.ask(session, ANSWERS, "Page.navigate", &page)?;
        let is_there = json!({ "expression": "location.protocol === 'devtools:' && document.readyState === 'complete'" });
        let end = Instant::now() + ANSWERS;
        while self.ask(session, ANSWERS, "Runtime.evaluate", &is_there)?["result"]["value"] != true
        {
            if Instant::now() > end {
                return Err("DevTools did not open".to_owned());
            }
            std::thread::sleep(Duration::from_millis(30));
        }
        let expression = format!("({LOAD})({}, {})", json!(address), json!(name));
        let load = json!({ "expression": expression, "awaitPromise": true });
        let done = self.ask(session, LOADS, "Runtime.evaluate", &load)?;
        match done["exceptionDetails"]["exception"]["description"].as_str() {
            None => Ok(()),
            Some(text) => Err(text.lines().next().unwrap_or_default().to_owned()),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // the browser exits when its pipe closes
        let _ended = self.child.try_wait();
    }
}

/// Creates a private folder for the browser's profile. Also keeps Ctrl-C in this terminal from
/// ending the browser.
#[cfg(unix)]
fn alone(command: &mut Command, profile: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    std::fs::DirBuilder::new().mode(0o700).create(profile)
}

#[cfg(not(unix))]
fn alone(_command: &mut Command, _profile: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("browsers are started on Unix only"))
}
