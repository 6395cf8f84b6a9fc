//! The leaf of every plan: a scan of the traces.
//!
//! It is a [`DataSourceExec`], the only leaf that Ballista divides among tasks.

use crate::traces::Traces;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileGroup, FileOpenFuture, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use futures::StreamExt;
use object_store::ObjectStore;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use tracemill_arrow::{ScanEnd, TakeBatch};
use tracemill_trace::Error;

/// Number of batches that may wait for the operators of a query.
const WAITING: usize = 2;

/// A scan of traces whose results are rows of a table.
pub trait TraceScan: fmt::Debug + Send + Sync {
    /// Returns the schema of the batches.
    fn schema(&self) -> SchemaRef;

    /// Returns the conditions that rows satisfy, for `--explain`. Returns an empty text if there are
    /// none.
    fn conditions(&self) -> String {
        String::new()
    }

    /// Returns facts about the scan from an index. By default, there are none.
    ///
    /// # Errors
    /// Returns an error if a named index does not match its trace.
    fn access(&self, _: &Traces) -> Result<Access, Error> {
        Ok(Access::default())
    }

    /// Passes batches to `take` until it breaks, always in the same order.
    ///
    /// # Errors
    /// Returns an error if a trace cannot be read, or a limit is reached.
    fn run(&self, traces: &Traces, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error>;
}

/// Facts about a scan from an index.
#[derive(Debug, Default)]
pub struct Access {
    /// Exact statistics of all rows, if they are known.
    pub statistics: Option<Statistics>,
    /// Which part of the traces is read, for `--explain`. Empty if all of them are.
    pub reads: String,
}

/// Returns the plan of a scan, with at most `limit` rows.
///
/// # Errors
/// Returns the errors of [`TraceScan::access`].
pub fn leaf(
    traces: &Arc<Traces>,
    scan: Arc<dyn TraceScan>,
    limit: Option<usize>,
) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
    let Access { statistics, reads } = scan.access(traces).map_err(|error| traces.failed(error))?;
    let schema = scan.schema();
    let statistics = statistics.filter(|_| limit.is_none());
    let source = TraceSource {
        traces: Arc::clone(traces),
        schema: TableSchema::from(Arc::clone(&schema)),
        scan,
        reads,
        metrics: ExecutionPlanMetricsSet::new(),
    };
    // all inputs are one file of DataFusion, so that rows come in file order
    let group = FileGroup::new(vec![PartitionedFile::new("traces", 1)]);
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(vec![group])
        .with_limit(limit)
        .with_statistics(statistics.unwrap_or_else(|| Statistics::new_unknown(&schema)))
        .build();
    Ok(DataSourceExec::from_data_source(config))
}

/// A scan of traces as a file source of DataFusion.
#[derive(Clone)]
struct TraceSource {
    traces: Arc<Traces>,
    scan: Arc<dyn TraceScan>,
    schema: TableSchema,
    reads: String,
    metrics: ExecutionPlanMetricsSet,
}

impl FileSource for TraceSource {
    fn create_file_opener(
        &self,
        _: Arc<dyn ObjectStore>,
        _: &FileScanConfig,
        _: usize,
    ) -> DataFusionResult<Arc<dyn FileOpener>> {
        let (traces, scan) = (Arc::clone(&self.traces), Arc::clone(&self.scan));
        Ok(Arc::new(TraceOpener { traces, scan }))
    }

    fn table_schema(&self) -> &TableSchema {
        &self.schema
    }

    fn with_batch_size(&self, _: usize) -> Arc<dyn FileSource> {
        Arc::new(self.clone())
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        "trace"
    }

    fn fmt_extra(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.scan.conditions() {
            "" => {}
            conditions => write!(f, ", conditions={conditions}")?,
        }
        match &*self.reads {
            "" => Ok(()),
            reads => write!(f, ", reads={reads}"),
        }
    }

    fn supports_repartitioning(&self) -> bool {
        false
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DataFusionResult<TreeNodeRecursion>,
    ) -> DataFusionResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
}

struct TraceOpener {
    traces: Arc<Traces>,
    scan: Arc<dyn TraceScan>,
}

impl FileOpener for TraceOpener {
    fn open(&self, _: PartitionedFile) -> DataFusionResult<FileOpenFuture> {
        self.traces.opened();
        let (traces, scan) = (Arc::clone(&self.traces), Arc::clone(&self.scan));
        Ok(Box::pin(async move {
            let mut builder = RecordBatchReceiverStreamBuilder::new(scan.schema(), WAITING);
            let sender = builder.tx();
            builder.spawn_blocking(move || {
                // a query that has enough rows drops the stream
                let read = scan.run(&traces, &mut |batch| match sender.blocking_send(Ok(batch)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                });
                traces.ended(read.map_err(|error| traces.failed(error))?);
                Ok(())
            });
            Ok(builder.build().boxed())
        }))
    }
}
