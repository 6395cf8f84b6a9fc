//! Random traces of pages that have all events that insights use.

use serde_json::{Map, Value, json};
use tracemill_testkit::Rng;

const MAIN: &str = "MAIN";
const OTHER: &str = "OTHER";

/// A page with random events.
struct RandomPage<'r> {
    rng: &'r mut Rng,
    events: Vec<Value>,
    /// Number of requests so far.
    requests: u64,
}

/// Returns a random element.
fn pick<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.index(all.len())]
}

impl RandomPage<'_> {
    fn event(&mut self, ph: &str, name: &str, ts: u64, args: Value) -> &mut Map<String, Value> {
        self.events.push(json!({
            "ph": ph, "name": name, "cat": "devtools.timeline", "pid": 7, "tid": 1, "ts": ts, "args": args,
        }));
        self.events.last_mut().and_then(Value::as_object_mut).expect("an object")
    }

    fn instant(&mut self, name: &str, ts: u64, data: Value) {
        self.event("I", name, ts, json!({"data": data})).insert("s".to_owned(), json!("t"));
    }

    fn frame(&mut self) -> &'static str {
        if self.rng.chance(85) { MAIN } else { OTHER }
    }

    fn headers(&mut self) -> Value {
        let all = [
            ("content-type", "text/html; charset=utf-8"),
            ("Content-Type", "text/html"),
            ("content-type", "text/html; CharSet = x"),
            ("content-type", "a charset b; charset=koi8-r"),
            ("content-encoding", "gzip"),
            ("Content-Encoding", "br"),
            ("Content-Encoding", "identity"),
            ("cache-control", "max-age=600"),
            ("Cache-Control", "public, max-age=90000"),
            ("cache-control", "max-age=31536000, immutable"),
            ("cache-control", "max-age=2000000"),
            ("cache-control", "max-age=-1"),
            ("cache-control", "max-age=\"60\""),
            ("cache-control", "max-age=100x"),
            ("cache-control", "no-store"),
            ("cache-control", "private"),
            ("cache-control", "max-age =  7200 = 5"),
            ("pragma", "x, no-cache"),
            ("expires", "Thu, 01 Jan 1998 00:00:00 GMT"),
            ("expires", "0"),
            ("Expires", "0"),
            (
                "link",
                "<https://c.test/>; rel=preconnect, <https://d.test>; rel=\"preconnect\"; crossorigin",
            ),
            ("Link", "<https://c.test/>; rel=preload"),
        ];
        let count = self.rng.below(4);
        let header = |(name, value): (&str, &str)| json!({"name": name, "value": value});
        (0..count).map(|_| header(all[self.rng.index(all.len())])).collect()
    }

    /// Adds a request and returns its URL.
    fn request(&mut self, ts: u64, navigation: Option<&str>) -> String {
        self.requests += 1;
        let rng = &mut *self.rng;
        let number = self.requests;
        let id = navigation.map_or(format!("7.{number}"), str::to_owned);
        let host = pick(
            rng,
            &["https://a.test", "https://b.test:8443", "http://localhost:80", "https://c.test"],
        );
        let (kind, mime) = match navigation {
            Some(_) => ("Document", "text/html"),
            None => pick(
                rng,
                &[
                    ("Image", "image/png"),
                    ("Image", "image/webp"),
                    ("Image", "image/gif"),
                    ("Image", "image/svg+xml"),
                    ("Image", "image/jpeg"),
                    ("Font", "font/woff2"),
                    ("Script", "text/javascript"),
                    ("Stylesheet", "text/css"),
                    ("Fetch", "application/json"),
                    ("Document", "text/html"),
                ],
            ),
        };
        let url = match rng.below(6) {
            0 if number > 1 => format!("{host}/{}", rng.below(number)),
            _ => format!("{host}/{number}"),
        };
        let frame = self.frame();
        let rng = &mut *self.rng;
        let mut sent = json!({"requestId": id, "url": url, "frame": frame, "priority": pick(rng, &["VeryHigh", "High", "Low"]),
            "requestMethod": "GET", "resourceType": kind, "renderBlocking": pick(rng, &["blocking", "non_blocking"])});
        if rng.chance(60) {
            sent["initiator"] =
                json!({"type": pick(rng, &["parser", "script"]), "url": "https://a.test/1"});
        }
        if rng.chance(20) {
            sent["isLinkPreload"] = json!(true);
        }
        if rng.chance(20) {
            sent["fetchPriorityHint"] = json!(pick(rng, &["high", "low"]));
        }
        let mut ts = ts;
        if rng.chance(15) {
            let mut redirected = sent.clone();
            redirected["url"] = json!(format!("{host}/from/{number}"));
            self.instant("ResourceSendRequest", ts, redirected);
            ts += self.rng.below(90_000);
        }
        self.instant("ResourceSendRequest", ts, sent);
        self.answer(&id, mime, ts);
        url
    }

    fn answer(&mut self, id: &str, mime: &str, ts: u64) {
        let headers = self.headers();
        let rng = &mut *self.rng;
        let (sent, waited) = (1 + rng.below(9), pick(rng, &[20, 300, 599, 601, 1500]));
        let mut answer = json!({"requestId": id, "mimeType": mime, "statusCode": pick(rng, &[200, 200, 200, 206, 404]),
            "protocol": pick(rng, &["http/1.1", "http/1.1", "h2", "h3", "file"]), "fromCache": rng.chance(10),
            "fromServiceWorker": rng.chance(10), "connectionId": 1 + rng.below(3), "connectionReused": rng.chance(50)});
        if rng.chance(90) {
            answer["timing"] = json!({"requestTime": ts as f64 / 1e6, "dnsStart": -1, "dnsEnd": -1, "connectStart": -1,
                "connectEnd": -1, "sslStart": -1, "sslEnd": -1, "proxyStart": -1, "proxyEnd": -1, "sendStart": sent,
                "sendEnd": sent, "receiveHeadersStart": sent + waited, "receiveHeadersEnd": sent + waited});
        }
        if rng.chance(90) {
            answer["headers"] = headers;
        }
        let body = pick(rng, &[40, 1800, 2600, 90_000, 400_000]);
        let encoded = if rng.chance(50) { body + 200 } else { body / 3 };
        let done = ts + 1000 * (sent + waited) + rng.below(3_000_000);
        let is_cached = rng.chance(5);
        if rng.chance(95) {
            self.instant("ResourceReceiveResponse", ts + 1000 * (sent + waited), answer);
        }
        if is_cached {
            self.instant("ResourceMarkAsCached", ts + 1, json!({"requestId": id}));
        }
        self.instant(
            "ResourceFinish",
            done,
            json!({"requestId": id, "didFail": false, "encodedDataLength": encoded,
            "decodedBodyLength": body, "finishTime": done as f64 / 1e6}),
        );
    }

    fn image(&mut self, ts: u64, url: &str) {
        let rng = &mut *self.rng;
        let side = |rng: &mut Rng| pick(rng, &[0, 10, 300, 333, 800, 2000]);
        let data = json!({"url": url, "width": side(rng), "height": side(rng), "srcWidth": side(rng).max(1),
            "srcHeight": side(rng).max(1), "isCSS": rng.chance(20), "isPicture": rng.chance(20),
            "srcsetAttribute": pick(rng, &["", "", "x.png 2x"]), "x": 0, "y": 0, "frame": MAIN});
        let dur = rng.below(3000);
        self.event("X", "PaintImage", ts, json!({"data": data}))
            .insert("dur".to_owned(), json!(dur));
    }

    fn font(&mut self, ts: u64, url: &str) {
        let rng = &mut *self.rng;
        let (id, display) = (
            rng.below(self.requests + 2),
            pick(rng, &["block", "swap", "auto", "fallback", "optional"]),
        );
        let later = rng.below(2_000_000);
        self.event(
            "I",
            "BeginRemoteFontLoad",
            ts,
            json!({"display": display, "id": id, "url": url}),
        );
        if self.rng.chance(70) {
            self.event(
                "I",
                "RemoteFontLoaded",
                ts + later,
                json!({"url": url, "name": format!("font {id}")}),
            );
        }
    }

    fn update(&mut self, ts: u64) {
        let rng = &mut *self.rng;
        let dur = pick(rng, &[1000, 39_999, 40_000, 61_000, 90_000]);
        let size = pick(rng, &[1, 100, 101, 300, 301, 5000]);
        let frame = self.frame();
        let (name, args) = match self.rng.chance(50) {
            true => (
                "Layout",
                json!({"beginData": {"frame": frame, "dirtyObjects": size, "totalObjects": 9000}}),
            ),
            false => {
                ("UpdateLayoutTree", json!({"elementCount": size, "beginData": {"frame": frame}}))
            }
        };
        let tid = if self.rng.chance(85) { 1 } else { 2 };
        let event = self.event("X", name, ts, args);
        event.insert("dur".to_owned(), json!(dur));
        event.insert("tid".to_owned(), json!(tid));
    }

    fn selectors(&mut self, ts: u64) {
        let rng = &mut *self.rng;
        let selector = |rng: &mut Rng| {
            json!({"elapsed (us)": pick(rng, &[3, 200, 499, 700]), "fast_reject_count": rng.below(5),
            "match_attempts": rng.below(40), "match_count": rng.below(9), "invalidation_count": 0,
            "selector": pick(rng, &["a", ".b > *", "div"]), "style_sheet_id": pick(rng, &["1", "2"])})
        };
        let count = rng.below(4);
        let timings: Value = (0..count).map(|_| selector(rng)).collect();
        self.event(
            "I",
            "SelectorStats",
            ts,
            json!({"selector_stats": {"selector_timings": timings}}),
        );
    }

    fn interaction(&mut self, ts: u64) {
        let rng = &mut *self.rng;
        let (id, dur, delay) =
            (rng.below(4), pick(rng, &[40, 201, 350, 900]), pick(rng, &[1, 49, 51, 400]));
        let kind = pick(rng, &["pointerdown", "click", "keydown"]);
        let data = json!({"type": kind, "interactionId": id, "timeStamp": 1000, "processingStart": 1000 + delay,
            "processingEnd": 1001 + delay, "duration": dur, "frame": MAIN});
        let number = self.events.len();
        for (ph, ts) in [("b", ts), ("e", ts + 1000 * dur)] {
            let event = self.event(ph, "EventTiming", ts, json!({"frame": MAIN, "data": data}));
            event.insert("id".to_owned(), json!(format!("0x{number:x}")));
        }
    }

    fn anything(&mut self, ts: u64) {
        let frame = self.frame();
        match self.rng.below(11) {
            0 | 1 => drop(self.request(ts, None)),
            2 | 3 => {
                let url = self.request(ts, None);
                let later = self.rng.below(700_000);
                self.image(ts + later, &url);
            }
            4 => {
                let url = self.request(ts, None);
                self.font(ts, &url);
            }
            5 => self.update(ts),
            6 => {
                self.update(ts);
                self.selectors(ts + 5);
            }
            7 => self.interaction(ts),
            8 => {
                let rng = &mut *self.rng;
                let stats = json!({"frame": frame, "totalElements": rng.below(3000), "maxDepth": {"depth": rng.below(40)},
                    "maxChildren": {"numChildren": rng.below(99)}});
                self.instant("DOMStats", ts, stats);
            }
            9 => {
                let is_mobile = self.rng.chance(80);
                self.event(
                    "I",
                    "BeginCommitCompositorFrame",
                    ts,
                    json!({"frame": frame, "is_mobile_optimized": is_mobile}),
                );
                if self.rng.chance(50) {
                    self.instant(
                        "ParseMetaViewport",
                        ts,
                        json!({"frame": frame, "node_id": 3, "content": "width=device-width"}),
                    );
                }
            }
            _ => {
                let url = pick(self.rng, &["https://c.test/", "https://b.test:8443"]);
                self.instant(
                    "LinkPreconnect",
                    ts,
                    json!({"frame": frame, "node_id": 3, "url": url}),
                );
            }
        }
    }

    fn navigation(&mut self, ts: u64, id: &str) {
        let data = json!({"navigationId": id, "documentLoaderURL": "https://a.test/1", "isLoadingMainFrame": true,
            "isOutermostMainFrame": true});
        self.event("R", "navigationStart", ts, json!({"frame": MAIN, "data": data}));
        if self.rng.chance(90) {
            self.request(ts + 10, Some(id));
        }
        if self.rng.chance(70) {
            let found = pick(
                self.rng,
                &["found-in-first-1024-bytes", "found-after-first-1024-bytes", "not-found"],
            );
            let later = self.rng.below(3_000_000);
            self.instant(
                "MetaCharsetCheck",
                ts + later,
                json!({"frame": MAIN, "disposition": found}),
            );
        }
        self.event(
            "R",
            "firstContentfulPaint",
            ts + 90_000,
            json!({"frame": MAIN, "data": {"navigationId": id}}),
        );
        let loading = pick(self.rng, &["lazy", "eager", ""]);
        let paint = json!({"navigationId": id, "candidateIndex": 1, "nodeId": 5, "loadingAttr": loading, "type": "image",
            "isMainFrame": true, "isOutermostMainFrame": true, "size": 100});
        if self.rng.chance(70) {
            let url = self.request(ts + 5_000, None);
            let image = json!({"DOMNodeId": 5, "imageUrl": url, "candidateIndex": 1, "navigationId": id, "isMainFrame": true});
            self.event(
                "I",
                "LargestImagePaint::Candidate",
                ts + 400_000,
                json!({"frame": MAIN, "data": image}),
            );
        }
        self.event(
            "R",
            "largestContentfulPaint::Candidate",
            ts + 400_000,
            json!({"frame": MAIN, "data": paint}),
        );
    }
}

/// Returns a random trace of visits.
pub(crate) fn page(rng: &mut Rng) -> Value {
    let start = 1_000_000;
    let navigations = rng.range(1, 3);
    let events = Vec::new();
    let mut page = RandomPage { rng, events, requests: 0 };
    let frames = json!([
        {"frame": MAIN, "url": "https://a.test/1", "name": "", "processId": 7, "isInPrimaryMainFrame": true, "isOutermostMainFrame": true},
        {"frame": OTHER, "url": "https://b.test/", "name": "", "processId": 7, "parent": MAIN},
    ]);
    page.instant(
        "TracingStartedInBrowser",
        start,
        json!({"frameTreeNodeId": 1, "persistentIds": true, "frames": frames}),
    );
    page.event("M", "thread_name", 0, json!({"name": "CrRendererMain"}));
    page.event("X", "RunTask", start, json!({})).insert("dur".to_owned(), json!(50));
    if page.rng.chance(60) {
        let dpr = page.rng.range(1, 3);
        page.instant(
            "PaintTimingVisualizer::Viewport",
            start,
            json!({"viewport_rect": [0, 0, 800, 0, 800, 600, 0, 600], "dpr": dpr}),
        );
    }
    for at in 0..navigations {
        let ts = start + at * 4_000_000 + 300_000;
        page.navigation(ts, &format!("NAVIGATION{at}"));
        for _ in 0..page.rng.range(8, 40) {
            let later = page.rng.below(4_500_000);
            page.anything(ts + later);
        }
    }
    page.event("X", "RunTask", start + 16_000_000, json!({})).insert("dur".to_owned(), json!(50));
    let mut events = page.events;
    events.sort_by_key(|event| event["ts"].as_u64());
    // Chrome does not write events in the order of time.
    for _ in 0..rng.below(9) {
        let (a, b) = (rng.index(events.len()), rng.index(events.len()));
        // Navigations of a frame are in order.
        if [a, b].iter().all(|&at| events[at]["name"] != "navigationStart") {
            events.swap(a, b);
        }
    }
    let metadata = if rng.chance(60) { json!({"hostDPR": rng.range(1, 3)}) } else { json!({}) };
    json!({"traceEvents": events, "metadata": metadata})
}
