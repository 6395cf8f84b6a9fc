//! Fault injection: runs the built command while disks fill, pipes break, signals arrive and inputs
//! change.
//!
//! ```text
//!   job (a verb with its flags) ─ run in peace ────────────> whole: status, files
//!        └────────────────────── run with a fault ─> run ──────┴─> judge
//! ```
//!
//! [`world::World::judge`] checks every faulty run by the same contract (C4, C8, C9). The run
//! either ends as without the fault, with identical files, or fails with the right status and a
//! message that names the cause. Outputs are absent, unchanged or complete. Inputs are unchanged,
//! and no temporary or hidden file is left.
//!
//! Faults occur at random but seeded times, within the time of a run without fault.
//! `TRACEMILL_FAULT_RUNS=200` (see `scripts/faults`) sets the number of runs per verb and fault.
//! Power loss, faulty disks and memory errors are not covered.

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
