//! The table `events`: one row per event, in file order.

use crate::pushdown::conditions;
use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileGroup, FileOpenFuture, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use futures::StreamExt;
use object_store::ObjectStore;
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tracemill::engine::Query;
use tracemill_arrow::{Condition, EventColumn, EventFilter, EventScan, ScanEnd};
use tracemill_join::config::Config;
use tracemill_join::input_set::InputPlace;
use tracemill_trace::{Error, Source};

/// Number of batches that may wait for the operators of a query.
const WAITING: usize = 2;

/// The traces of a query.
pub struct Traces {
    /// Sources that may be read any number of times.
    pub sources: Vec<Source>,
    /// New pids and clock offsets, by the number of the input.
    pub places: Vec<InputPlace>,
    /// Limits of the run.
    pub config: Config,
    /// A folder for temporary files.
    pub scratch: PathBuf,
    /// The result of the first scan that read all inputs to their ends.
    end: Mutex<Option<ScanEnd>>,
    /// The first error of a scan. DataFusion's errors hold it where it cannot be taken from.
    error: Mutex<Option<Error>>,
}

impl Traces {
    /// Creates the traces of a query.
    pub fn new(query: &Query<'_>) -> Self {
        Traces {
            sources: query.sources.to_vec(),
            places: query.places.to_vec(),
            config: query.config.clone(),
            scratch: query.scratch.to_owned(),
            end: Mutex::default(),
            error: Mutex::default(),
        }
    }

    /// Returns the first error of a scan, if any.
    pub fn take_error(&self) -> Option<Error> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps an error, and returns it for DataFusion.
    fn failed(&self, error: Error) -> DataFusionError {
        let text = error.to_string();
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        DataFusionError::External(text.into())
    }

    /// Returns the result of the first complete scan. Returns `None` if no scan was complete.
    pub fn take_end(&self) -> Option<ScanEnd> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.sources.iter().map(Source::to_string)).finish()
    }
}

/// The table `events` of some traces.
#[derive(Debug)]
pub struct EventsTable {
    traces: Arc<Traces>,
    schema: SchemaRef,
}

impl EventsTable {
    /// Creates the table.
    pub fn new(traces: Arc<Traces>) -> Self {
        let schema = EventColumn::schema(&EventColumn::ALL);
        EventsTable { traces, schema }
    }
}

#[async_trait]
impl TableProvider for EventsTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match conditions(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns: Vec<EventColumn> = match projection {
            Some(numbers) => numbers.iter().map(|&number| EventColumn::ALL[number]).collect(),
            None => EventColumn::ALL.to_vec(),
        };
        let mut all: Vec<Condition> = Vec::new();
        for filter in filters {
            let refused = || DataFusionError::Internal(format!("{filter} is no scan condition"));
            all.extend(conditions(filter).ok_or_else(refused)?);
        }
        let scan = EventScan::new(columns)
            .filtered(EventFilter(all))
            .at_places(self.traces.places.clone());
        let source = TraceSource::new(Arc::clone(&self.traces), scan);
        // all inputs are one file of DataFusion, so that rows come in file order
        let group = FileGroup::new(vec![PartitionedFile::new("traces", 1)]);
        let store = ObjectStoreUrl::local_filesystem();
        let config = FileScanConfigBuilder::new(store, Arc::new(source))
            .with_file_groups(vec![group])
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}

/// A scan of traces as the leaf of a plan.
#[derive(Clone)]
struct TraceSource {
    traces: Arc<Traces>,
    scan: Arc<EventScan>,
    schema: TableSchema,
    metrics: ExecutionPlanMetricsSet,
}

impl TraceSource {
    fn new(traces: Arc<Traces>, scan: EventScan) -> Self {
        let schema = TableSchema::from(scan.schema());
        let metrics = ExecutionPlanMetricsSet::new();
        TraceSource { traces, scan: Arc::new(scan), schema, metrics }
    }
}

impl FileSource for TraceSource {
    fn create_file_opener(
        &self,
        _: Arc<dyn ObjectStore>,
        _: &FileScanConfig,
        _: usize,
    ) -> Result<Arc<dyn FileOpener>> {
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
        match self.scan.filter().0.as_slice() {
            [] => Ok(()),
            conditions => write!(f, ", conditions={conditions:?}"),
        }
    }

    fn supports_repartitioning(&self) -> bool {
        false
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
}

struct TraceOpener {
    traces: Arc<Traces>,
    scan: Arc<EventScan>,
}

impl FileOpener for TraceOpener {
    fn open(&self, _: PartitionedFile) -> Result<FileOpenFuture> {
        let (traces, scan) = (Arc::clone(&self.traces), Arc::clone(&self.scan));
        Ok(Box::pin(async move {
            let mut builder = RecordBatchReceiverStreamBuilder::new(scan.schema(), WAITING);
            let sender = builder.tx();
            builder.spawn_blocking(move || {
                // a query that has enough rows drops the stream
                let read = scan.run(&traces.sources, &traces.config, |batch| {
                    match sender.blocking_send(Ok(batch)) {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                });
                let end = read.map_err(|error| traces.failed(error))?;
                if end.is_complete {
                    let mut first = traces.end.lock().unwrap_or_else(PoisonError::into_inner);
                    first.get_or_insert(end);
                }
                Ok(())
            });
            Ok(builder.build().boxed())
        }))
    }
}
