//! Settings of a session: dialect, order of NULL, memory, temporary files.

use crate::functions::{BoundFunction, ExtractArg, ExtractArgs};
use crate::rules::ExactAverages;
use crate::tables;
use crate::tables::table::TableOfTraces;
use crate::tables::views::add_views;
use crate::traces::Traces;
use datafusion::common::config::Dialect;
use datafusion::error::Result;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Number of operators that an error about memory names.
const NAMED: NonZeroUsize = NonZeroUsize::MIN;

/// How a plan is made. The answer does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanChoice {
    /// Number of partitions that operators work on in parallel. With one, rows stay in file order.
    pub partitions: usize,
    /// Whether joins hash one side in memory. Otherwise, they sort both sides, on disk if necessary.
    pub hashes_joins: bool,
}

/// Returns the size of the pool of operators.
///
/// An operator that spills sorts a copy of its rows, which the pool does not count: with half of
/// 256 MiB, groups by args of a trace of 4 GiB took 502 MiB.
fn pool_bytes(memory: u64) -> usize {
    const LEAST: u64 = 64 << 20;
    usize::try_from((memory / 4).max(LEAST.min(memory / 2))).unwrap_or(usize::MAX)
}

/// Creates a session with the tables of some traces, and the views over them.
///
/// A quarter of the memory limit is for operators, at least 64 MiB but at most half; scans take the
/// rest. Sorts, groups and sort-merge joins beyond it go to the folder of temporary files.
///
/// # Errors
/// Returns an error if the folder of temporary files cannot be used.
pub async fn session(traces: &Arc<Traces>, choice: PlanChoice) -> Result<SessionContext> {
    let limits = &traces.config.limits;
    let mut config = SessionConfig::new()
        .with_target_partitions(choice.partitions)
        .with_information_schema(true)
        .set_bool("datafusion.optimizer.prefer_hash_join", choice.hashes_joins);
    let options = &mut config.options_mut().sql_parser;
    // so that `args->>'a' = 'b'` compares the result of `->>`
    options.dialect = Dialect::PostgreSQL;
    // as in SQLite, and so in PerfettoSQL: the greatest values come first, not NULL
    options.default_null_ordering = "nulls_min".to_owned();
    let pool = TrackConsumersPool::new(FairSpillPool::new(pool_bytes(limits.memory)), NAMED);
    let folder = DiskManagerMode::Directories(vec![traces.scratch.clone()]);
    let disk = DiskManagerBuilder::default()
        .with_mode(folder)
        // the disk is the limit
        .with_max_temp_directory_size(u64::MAX);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(pool))
        .with_disk_manager_builder(disk)
        .build_arc()?;
    let mut context = SessionContext::new_with_config_rt(config, runtime);
    datafusion_functions_json::register_all(&mut context)?;
    context.add_analyzer_rule(Arc::new(ExactAverages));
    context.register_udf(ExtractArg::new().into());
    context.add_analyzer_rule(Arc::new(ExtractArgs));
    for function in BoundFunction::all(traces) {
        context.register_udf(function.into());
    }
    for table in tables::all() {
        let name = table.name();
        context.register_table(name, Arc::new(TableOfTraces::new(traces, table)))?;
    }
    add_views(&context).await?;
    Ok(context)
}
