//! Checks the memory leases of each verb: their sum stays within the budget, and no lease gets less
//! than it requests.

use super::support::Folder;
use tracemill_testkit::generate::chrome_like;

const PROFILE: &str = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},{"id":2,"callFrame":{"functionName":"f"}}],"startTime":10,"endTime":90,"samples":[2,2,1],"timeDeltas":[5,7,9]}"#;

/// Verbs with relevant options; `index` is last, because later verbs would use the index.
const VERBS: &[&str] = &[
    "merge -f -o out.json a.json",
    "merge -f -o out.json.gz a.json.gz b.cpuprofile",
    "merge --pid auto --ids auto -f -o out.json a.json a.json.gz b.cpuprofile",
    "merge --dedup -f -o out.json a.json a.json",
    "merge --for devtools -f -o out.json a.json a.json.gz b.cpuprofile",
    "merge --for perfetto --overlaps spill -f -o out.json a.json.gz a.json",
    "merge --dry-run a.json a.json.gz",
    "slice --from 1ms --to 5ms -f -o out.json a.json",
    "slice --edges keep --from 1ms --to 5ms -f -o out.json a.json.gz",
    "filter --min-dur 100us -f -o out.json a.json.gz",
    "filter --name RunTask -f -o out.json a.json",
    "split --by tid -f -d parts a.json.gz",
    "split --by events=300 -f -d pieces a.json",
    "convert -f -o out.ndjson a.json.gz",
    "convert -f -o out.pftrace a.json.gz",
    "convert -f -o out.speedscope.json a.json.gz",
    "redact -f -o out.json a.json.gz",
    "check a.json.gz",
    "check --for devtools a.json a.json.gz b.cpuprofile",
    "info a.json",
    "info --full a.json.gz",
    "profile list a.json.gz b.cpuprofile",
    "profile extract -f -d profiles a.json.gz",
    "top a.json.gz",
    "top --async a.json",
    "top b.cpuprofile a.json",
    "tree a.json.gz",
    "tree --heaviest a.json",
    "tree --log --csv a.json.gz",
    "flame -f -o out.svg a.json.gz",
    "calls -f -o calls.json a.json.gz",
    "report a.json.gz",
    "show --at 1ms a.json.gz b.cpuprofile",
    "show --causes a.json.gz",
    "diff a.json a.json.gz",
    "index -f a.json",
    "index -f a.json.gz",
    "info a.json",
    "slice --from 1ms --to 5ms -f -o out.json a.json",
    "top --window 1ms..5ms a.json",
];

#[test]
fn leases_of_every_verb_stay_within_the_budget() {
    let mut trace = Vec::new();
    chrome_like(7, 1 << 20, &mut trace).expect("a vector takes all");
    let folder = Folder::new().with("a.json", trace).with("b.cpuprofile", PROFILE);
    folder.run("convert a.json -o a.json.gz").ends(0);
    for verb in VERBS {
        for (memory, threads) in [(32, 1), (32, 4), (64, 2), (64, 16)] {
            let words = format!("{verb} -v -v -m {memory}M -@ {threads}");
            let stderr = folder.run(&words).stderr;
            let at_one_time = stderr.lines().find_map(|line| {
                line.strip_prefix("tracemill: memory at one time: ")?.strip_suffix(" MiB")
            });
            let most: u64 = at_one_time.and_then(|mib| mib.parse().ok()).expect(&stderr);
            assert!(most <= memory, "{words}: {stderr}");
            assert!(!stderr.contains("less than asked for"), "{words}: {stderr}");
        }
    }
}
