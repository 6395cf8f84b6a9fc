//! Answers queries: plans, executes and writes.

use crate::errors::{is_exhausted, query_error};
use crate::events::Traces;
use crate::formats::ResultWriter;
use crate::session::{PlanChoice, session};
use crate::statements::{is_in_file_order, plan};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::displayable;
use datafusion::prelude::{DataFrame, SessionContext};
use futures::StreamExt;
use std::io::Write;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tracemill::engine::{
    ColumnDescription, Query, QueryEnd, QueryEngine, QueryError, TableDescription,
};
use tracemill_arrow::EventColumn;
use tracemill_trace::Error;

/// SQL over traces, by DataFusion.
pub struct SqlEngine;

impl QueryEngine for SqlEngine {
    fn run(&self, query: &Query<'_>, output: &mut dyn Write) -> Result<QueryEnd, QueryError> {
        let limits = &query.config.limits;
        let traces = Arc::new(Traces::new(query));
        let runtime = runtime(limits.threads)
            .map_err(|error| QueryError::Run(Error::scratch(&limits.tmp_dir, error)))?;
        let run = Run { query, traces: &traces };
        let rows = runtime.block_on(run.answer(output))?;
        let end = traces.take_end();
        let (inputs, warnings) = end.map(|end| (end.inputs, end.warnings)).unwrap_or_default();
        Ok(QueryEnd { inputs, warnings, rows })
    }

    fn tables(&self) -> Vec<TableDescription> {
        let columns = EventColumn::ALL.map(|column| ColumnDescription {
            name: column.name(),
            data_type: match column.field().data_type() {
                datafusion::arrow::datatypes::DataType::Int64 => "BIGINT",
                _ => "TEXT",
            },
            meaning: column.meaning(),
        });
        vec![TableDescription {
            name: "events",
            rows: "one row per event, in file order, with the fields of the event",
            columns: columns.to_vec(),
        }]
    }
}

fn runtime(threads: usize) -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(threads.max(1)).thread_name("query").build()
}

/// A query that is answered.
struct Run<'r> {
    query: &'r Query<'r>,
    traces: &'r Arc<Traces>,
}

impl Run<'_> {
    /// Writes the answer. Returns the number of its rows.
    async fn answer(&self, output: &mut dyn Write) -> Result<u64, QueryError> {
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
    ) -> Result<u64, Attempt> {
        let (context, plan) = self.planned(choice).await?;
        let frame = DataFrame::new(context.state(), plan);
        let context = Arc::new(frame.task_ctx());
        let physical = frame.create_physical_plan().await?;
        if self.query.explain {
            let text = displayable(&*physical).indent(false).to_string();
            output.write_all(text.as_bytes()).map_err(QueryError::Write)?;
            return Ok(0);
        }
        let schema = physical.schema();
        let mut stream = datafusion::physical_plan::execute_stream(physical, context)?;
        let mut rows = 0;
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            let writer = match writer {
                Some(writer) => writer,
                None => writer.insert(ResultWriter::new(self.query.format, &schema)?),
            };
            writer.write(&batch, output)?;
            rows += batch.num_rows() as u64;
        }
        let writer = match writer.take() {
            Some(writer) => writer,
            None => ResultWriter::new(self.query.format, &schema)?,
        };
        writer.finish(output)?;
        Ok(rows)
    }

    /// Returns the plan, with one partition if its rows are in file order.
    async fn planned(
        &self,
        choice: PlanChoice,
    ) -> Result<(SessionContext, LogicalPlan), DataFusionError> {
        let context = session(self.traces, choice)?;
        let planned = plan(self.query.sql, self.query.params, &context).await?;
        if choice.partitions == 1 || !is_in_file_order(&planned) {
            return Ok((context, planned));
        }
        let context = session(self.traces, PlanChoice { partitions: 1, ..choice })?;
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
