//! Fault injection: the built command, while disks fill, pipes break, signals come and inputs change under its hands.
//!
//! ```text
//!   job (a verb with its flags) ─ run in peace ────────────> whole: status, files
//!        └────────────────────── run with a fault ─> run ──────┴─> judge
//! ```
//!
//! Whatever the fault, one judge decides ([`world::World::judge`]), since one contract (C4, C8, C9) covers them all:
//! either the run ends as it does in peace, and every file it writes is the same to the byte, or it fails with the status
//! of its failure and a message that names the culprit. An output is absent, what it was before, or whole; never a part.
//! Inputs are what they were. The folder for temporary files is empty, and nothing hidden stays beside the outputs.
//!
//! Moments are random but seeded; what a run is killed in is spread over the time that it takes in peace. In the ordinary
//! test run each fault is injected a few times; `TRACEMILL_FAULT_RUNS=200` (see `scripts/faults`) sets how often each verb
//! meets each fault that has a random moment or place.
//!
//! Not covered: loss of power, disks that lie, memory that fails.

mod changes;
#[path = "../common/mod.rs"]
mod common;
mod full;
mod kills;
mod places;
mod streams;
mod temporary;
mod threads;
mod world;
