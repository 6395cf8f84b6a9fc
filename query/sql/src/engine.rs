//! Answers queries: plans, executes and writes.

use crate::errors::{is_exhausted, query_error};
use crate::formats::ResultWriter;
use crate::session::{PlanChoice, session};
use crate::statements::{is_in_file_order, plan};
use crate::tables::views::{VIEWS, View};
use crate::tables::{self, table};
use crate::traces::Traces;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::displayable;
use datafusion::prelude::{DataFrame, SessionContext};
use futures::StreamExt;
use std::io::Write;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tracemill::engine::{
    AddressAccess, OpenAddress, Query, QueryEnd, QueryEngine, QueryError, TableDescription,
};
use tracemill_arrow::ScanEnd;
use tracemill_pipeline::EventList;
use tracemill_store::Access;
use tracemill_trace::{Error, Source};

/// SQL over traces, by DataFusion, and inputs on other machines.
pub struct SqlEngine;

impl QueryEngine for SqlEngine {
    fn run(&self, query: &Query<'_>, output: &mut dyn Write) -> Result<QueryEnd, QueryError> {
        let limits = &query.config.limits;
        let traces = Arc::new(Traces::new(query));
        let runtime = runtime(limits.threads)
            .map_err(|error| QueryError::Run(Error::scratch(&limits.tmp_dir, error)))?;
        let run = Run { query, traces: &traces };
        let Answer { rows, events, end } = runtime.block_on(run.answer(output))?;
        let ScanEnd { inputs, mut warnings, .. } = end;
        let mut index = traces.take_index();
        warnings.extend(index.warning.take());
        Ok(QueryEnd { inputs, warnings, rows, events, index })
    }

    fn open(&self, request: &OpenAddress<'_>) -> Result<Source, Error> {
        let access = match request.access {
            AddressAccess::Once => Access::Once,
            AddressAccess::Ranges => Access::Ranges,
            AddressAccess::File => Access::File,
        };
        tracemill_store::open(request.address, request.folder, access)
    }

    fn tables(&self) -> Vec<TableDescription> {
        let tables = tables::all();
        let tables = tables.iter().map(|table| table::description(&**table));
        tables.chain(VIEWS.iter().map(View::description)).collect()
    }
}

fn runtime(threads: usize) -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(threads.max(1)).thread_name("query").build()
}

/// Facts about an answer that was written.
#[derive(Default)]
struct Answer {
    rows: u64,
    /// The events that the rows name, if the format is a trace.
    events: Option<EventList>,
    end: ScanEnd,
}

/// A query that is answered.
struct Run<'r> {
    query: &'r Query<'r>,
    traces: &'r Arc<Traces>,
}

impl Run<'_> {
    /// Writes the answer.
    async fn answer(&self, output: &mut dyn Write) -> Result<Answer, QueryError> {
        let partitions = self.query.config.limits.threads.max(1);
        let choice = PlanChoice { partitions, hashes_joins: true };
        let mut writer = None;
        match self.attempt(choice, &mut writer, output).await {
            // nothing was written yet, and joins that sort can use the disk
            Err(Attempt::Plan(error)) if is_exhausted(&error) && writer.is_none() => {
                let choice = PlanChoice { hashes_joins: false, ..choice };
                let again = self.attempt(choice, &mut writer, output).await;
                again.map_err(|error| self.error(error))
            }
            other => other.map_err(|error| self.error(error)),
        }
    }

    fn error(&self, error: Attempt) -> QueryError {
        match error {
            Attempt::Plan(error) => match self.traces.take_error() {
                Some(error) => QueryError::Run(error),
                None => query_error(error, &self.query.config.limits),
            },
            Attempt::Write(error) => error,
        }
    }

    /// Plans and executes. Creates the writer with the first batch.
    async fn attempt(
        &self,
        choice: PlanChoice,
        writer: &mut Option<ResultWriter>,
        output: &mut dyn Write,
    ) -> Result<Answer, Attempt> {
        let (context, plan) = self.planned(choice).await?;
        let frame = DataFrame::new(context.state(), plan);
        let context = Arc::new(frame.task_ctx());
        let physical = frame.create_physical_plan().await?;
        if self.query.explain {
            let text = displayable(&*physical).indent(false).to_string();
            output.write_all(text.as_bytes()).map_err(QueryError::Write)?;
            return Ok(Answer::default());
        }
        let schema = physical.schema();
        let mut stream = datafusion::physical_plan::execute_stream(physical, context)?;
        let mut rows = 0;
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            let writer = match writer {
                Some(writer) => writer,
                None => writer.insert(ResultWriter::new(self.query, &schema)?),
            };
            writer.write(&batch, output)?;
            rows += batch.num_rows() as u64;
        }
        let writer = match writer.take() {
            Some(writer) => writer,
            None => ResultWriter::new(self.query, &schema)?,
        };
        let end = self.traces.take_end().map_err(QueryError::Run)?;
        Ok(Answer { rows, events: writer.finish(&end, output)?, end })
    }

    /// Returns the plan, with one partition if its rows are in file order.
    async fn planned(
        &self,
        choice: PlanChoice,
    ) -> Result<(SessionContext, LogicalPlan), DataFusionError> {
        let context = session(self.traces, choice).await?;
        let planned = plan(self.query.sql, self.query.params, &context).await?;
        if choice.partitions == 1 || !is_in_file_order(&planned) {
            return Ok((context, planned));
        }
        let context = session(self.traces, PlanChoice { partitions: 1, ..choice }).await?;
        let planned = plan(self.query.sql, self.query.params, &context).await?;
        Ok((context, planned))
    }
}

/// Why an attempt failed.
enum Attempt {
    Plan(DataFusionError),
    Write(QueryError),
}

impl From<DataFusionError> for Attempt {
    fn from(error: DataFusionError) -> Self {
        Attempt::Plan(error)
    }
}

impl From<QueryError> for Attempt {
    fn from(error: QueryError) -> Self {
        Attempt::Write(error)
    }
}
