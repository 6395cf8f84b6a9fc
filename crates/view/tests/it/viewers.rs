//! Other viewers: access to slices, files of a viewer's folder, and access from other machines.

use crate::support::{HOST, Opened, TOKEN, body, config, open};
use std::fs;
use std::path::Path;
use tracemill_trace::Source;
use tracemill_view::{Ask, Reply, Site, Viewers};

const TRACE: &[u8] = br#"[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1,"dur":5}]"#;
const DEVTOOLS: &str = "devtools://devtools";
const OWN: &str = "http://127.0.0.1:8123";

fn request(site: &Site, method: &str, route: &str, origin: Option<&str>, is_own: bool) -> Reply {
    let target = format!("/{TOKEN}/{route}");
    let ask = Ask { method, target: &target, host: Some(HOST), origin, is_own };
    site.answer(&ask, &tracemill_trace::run::limits::Cancel::default())
}

fn with(opened: &Opened, change: impl FnOnce(Site) -> Site) -> Site {
    let source = Source::Path(opened.path.clone());
    let site = change(Site::new(vec![source], config(), TOKEN.into(), 8123));
    site.read().unwrap();
    site
}

#[test]
fn own_devtools_may_request_only_slices() {
    let opened = open(TRACE);
    let slice = "slice.json.gz?from=0&to=5000&for=devtools";
    assert_eq!(request(&opened.site, "GET", slice, Some(DEVTOOLS), false).status, 403);
    let site = with(&opened, |site| site.with_devtools("/nowhere/chromium".into()));
    let reply = request(&site, "GET", slice, Some(DEVTOOLS), false);
    assert_eq!(reply.status, 200);
    assert!(reply.headers.contains(&("access-control-allow-origin", DEVTOOLS.into())));
    drop(reply);
    for route in ["api/trace", "", "api/event?place=1", "open", "sliced/../api/trace"] {
        let reply = request(&site, "GET", route, Some(DEVTOOLS), false);
        assert!([403, 404].contains(&reply.status), "{route}: {}", reply.status);
    }
    for origin in ["https://evil.test", "null", "devtools://devtools.evil.test"] {
        assert_eq!(request(&site, "GET", slice, Some(origin), false).status, 403, "{origin}");
    }
    assert!(
        request(&site, "GET", slice, Some(OWN), false)
            .headers
            .iter()
            .all(|header| !header.0.starts_with("access"))
    );
}

#[test]
fn only_the_page_may_open_a_browser() {
    let opened = open(TRACE);
    let site = with(&opened, |site| site.with_devtools("/nowhere/chromium".into()));
    let route = "open?from=0&to=5000";
    for (method, origin, is_own, status) in [
        ("POST", None, true, 403),
        ("POST", Some("http://evil.test"), true, 403),
        ("POST", Some(DEVTOOLS), true, 403),
        ("POST", Some(OWN), false, 403),
        ("GET", Some(OWN), true, 405),
        ("PUT", Some(OWN), true, 405),
    ] {
        assert_eq!(
            request(&site, method, route, origin, is_own).status,
            status,
            "{method} {origin:?}"
        );
    }
    assert_eq!(request(&site, "POST", "api/trace", Some(OWN), true).status, 405);
    assert_eq!(request(&site, "POST", "open?from=5&to=1", Some(OWN), true).status, 400);
    // without --devtools nothing can be opened
    assert_eq!(request(&opened.site, "POST", route, Some(OWN), true).status, 404);
    // a browser that fails to start is reported
    let reply = request(&site, "POST", route, Some(OWN), true);
    assert_eq!(reply.status, 503);
    assert!(String::from_utf8(body(reply)).unwrap().contains("Save the slice"));
}

fn viewer(folder: &Path) -> Viewers {
    let release = folder.join("node_modules/speedscope/dist/release");
    fs::create_dir_all(release.join("sub")).unwrap();
    fs::write(release.join("index.html"), "<title>speedscope</title>").unwrap();
    fs::write(release.join("app-1.js"), "1").unwrap();
    fs::write(release.join("sub/font.woff2"), "f").unwrap();
    fs::write(release.join(".hidden"), "h").unwrap();
    fs::write(folder.join("secret.txt"), "s").unwrap();
    Viewers::new(folder).unwrap()
}

#[test]
fn only_files_of_the_viewer_are_served() {
    let opened = open(TRACE);
    let folder = tempfile::tempdir().unwrap();
    assert!(Viewers::new(folder.path()).is_err(), "there is none");
    let viewers = viewer(folder.path());
    let site = with(&opened, |site| site.with_viewers(viewers));
    let release = folder.path().join("node_modules/speedscope/dist/release");
    for (name, kind) in [
        ("", "text/html; charset=utf-8"),
        ("index.html", "text/html; charset=utf-8"),
        ("app-1.js", "text/javascript; charset=utf-8"),
        ("sub/font.woff2", "font/woff2"),
    ] {
        let reply = request(&site, "GET", &format!("speedscope/{name}"), None, false);
        assert_eq!((reply.status, reply.kind), (200, kind), "{name}");
        let policy =
            reply.headers.iter().find(|header| header.0 == "content-security-policy").unwrap();
        assert!(policy.1.starts_with("default-src 'none'; script-src 'self' "), "{}", policy.1);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(folder.path().join("secret.txt"), release.join("out.js")).unwrap();
        symlink(folder.path(), release.join("up")).unwrap();
        symlink(release.join("app-1.js"), release.join("in.js")).unwrap();
        assert_eq!(request(&site, "GET", "speedscope/in.js", None, false).status, 200);
    }
    for name in [
        "out.js",
        "up/secret.txt",
        "../release/app-1.js",
        "sub/../app-1.js",
        "sub",
        "sub/",
        "/etc/passwd",
        ".hidden",
        "%2e%2e/secret.txt",
        "none.js",
        "app-1.js/",
        "./app-1.js",
        "sub//font.woff2",
        "app-1.js%00",
    ] {
        let reply = request(&site, "GET", &format!("speedscope/{name}"), None, false);
        assert_eq!(reply.status, 404, "{name}");
    }
    let trace: serde_json::Value =
        serde_json::from_slice(&body(request(&site, "GET", "api/trace", None, false))).unwrap();
    assert_eq!(trace["viewers"]["speedscope"], true);
    assert_eq!(opened.get("speedscope/index.html").status, 404);
}

#[test]
fn other_machines_need_a_numeric_host() {
    let opened = open(TRACE);
    let of = |site: &Site, host: &str| {
        let target = format!("/{TOKEN}/api/trace");
        let ask =
            Ask { method: "GET", target: &target, host: Some(host), origin: None, is_own: false };
        site.answer(&ask, &tracemill_trace::run::limits::Cancel::default()).status
    };
    let all = with(&opened, |site| site.on("0.0.0.0".parse().unwrap()));
    assert_eq!(all.address(), format!("http://127.0.0.1:8123/{TOKEN}/"));
    for host in ["127.0.0.1:8123", "192.0.2.7:8123", "[2001:db8::1]:8123", "localhost:8123"] {
        assert_eq!(of(&all, host), 200, "{host}");
    }
    for host in ["evil.test:8123", "192.0.2.7", "192.0.2.7:80", "[::1", "1.2.3:8123"] {
        assert_eq!(of(&all, host), 421, "{host}");
    }
    let six = with(&opened, |site| site.on("::1".parse().unwrap()));
    assert_eq!(six.address(), format!("http://[::1]:8123/{TOKEN}/"));
    assert_eq!((of(&six, "[::1]:8123"), of(&six, "192.0.2.7:8123")), (200, 421));
}
