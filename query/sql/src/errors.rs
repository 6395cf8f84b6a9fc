//! Converts errors of DataFusion to those of a query.

use crate::tables;
use crate::tables::views::{VIEWS, View};
use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use std::io;
use tracemill::engine::{QueryError, suggestion};
use tracemill_trace::{Error, ErrorKind, Limits};

/// Returns the error of a query, given that of a plan or its execution.
pub(crate) fn query_error(error: DataFusionError, limits: &Limits) -> QueryError {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            query_error(*inner, limits)
        }
        DataFusionError::Collection(all) => match all.into_iter().next() {
            Some(first) => query_error(first, limits),
            None => QueryError::Sql("the query failed".to_owned()),
        },
        DataFusionError::External(error) => QueryError::Sql(error.to_string()),
        DataFusionError::ResourcesExhausted(text) => {
            let operator = text.lines().find_map(|line| line.trim().split_once('#'));
            let what = match operator {
                Some((operator, _)) => format!("the operator {operator} of the query needs more"),
                None => "an operator of the query needs more".to_owned(),
            };
            QueryError::Run(ErrorKind::Exceeded { what, given: limits.memory }.into())
        }
        DataFusionError::IoError(error) => QueryError::Run(Error::scratch(&limits.tmp_dir, error)),
        DataFusionError::SQL(error, _) => QueryError::Sql(format!("the SQL is wrong: {error}")),
        // the lines that follow list all columns, as --tables does
        DataFusionError::SchemaError(error, _) => {
            let text = error.to_string();
            QueryError::Sql(text.lines().next().unwrap_or_default().to_owned())
        }
        DataFusionError::Plan(text) => QueryError::Sql(named_plainly(&text)),
        DataFusionError::NotImplemented(text) => QueryError::Sql(text),
        other => QueryError::Sql(other.strip_backtrace()),
    }
}

/// Names tables as users do, without the catalogue and the schema that all have.
fn named_plainly(text: &str) -> String {
    let plain = text.replace("datafusion.public.", "");
    let missing = plain.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found"));
    let Some(missing) = missing else { return plain };
    let tables = tables::all();
    let names = tables.iter().map(|table| table.name());
    match &*suggestion(missing, names.chain(VIEWS.iter().map(View::name))) {
        "" => format!("{plain}: tracemill query --tables lists the tables"),
        suggestion => format!("{plain}{suggestion}"),
    }
}

/// Returns whether an operator needs more memory than there is.
pub(crate) fn is_exhausted(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

/// Returns the error of a query, given that of a format.
pub(crate) fn format_error(error: ArrowError) -> QueryError {
    match error {
        ArrowError::IoError(_, error) => QueryError::Write(error),
        other => QueryError::Write(io::Error::other(other)),
    }
}
