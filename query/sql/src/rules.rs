//! Rewrites of plans that make answers independent of threads and partitions.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, ExprSchema, Result};
use datafusion::functions_aggregate::average::Avg;
use datafusion::logical_expr::expr::{AggregateFunction, Sort as SortExpr};
use datafusion::logical_expr::{
    Aggregate, Cast, Expr, ExprSchemable, Limit, LogicalPlan, Projection, Sort,
};
use datafusion::optimizer::AnalyzerRule;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Averages of integers by exact sums.
///
/// DataFusion adds the integers as doubles, and so the last digits depend on the number of
/// partitions. This rule averages them as decimal numbers with 10 decimals, and makes that a double.
#[derive(Debug)]
pub struct ExactAverages;

impl AnalyzerRule for ExactAverages {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Aggregate(aggregate) => exact(aggregate),
            other => Ok(Transformed::no(other)),
        })
        .data()
    }

    fn name(&self) -> &str {
        "exact_averages"
    }
}

/// Rewrites the averages of integers of one aggregation.
fn exact(aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let input = aggregate.input.schema();
    let mut is_changed = false;
    let mut aggregates = Vec::new();
    for expr in &aggregate.aggr_expr {
        let changed = exact_average(expr, |inner| Ok(inner.get_type(input)?.is_integer()))?;
        is_changed |= changed.is_some();
        aggregates.push(changed.unwrap_or_else(|| expr.clone()));
    }
    if !is_changed {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    }
    let schema = Arc::clone(&aggregate.schema);
    let changed = Aggregate::try_new(aggregate.input, aggregate.group_expr, aggregates)?;
    let fields = changed.schema.iter().zip(schema.iter());
    let columns = fields.map(|((qualifier, field), (wanted_qualifier, wanted))| {
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
        match field.data_type() == wanted.data_type() && field.name() == wanted.name() {
            true => column,
            false => Expr::Cast(Cast::new(Box::new(column), wanted.data_type().clone()))
                .alias_qualified(wanted_qualifier.cloned(), wanted.name()),
        }
    });
    let columns = columns.collect();
    let changed = Arc::new(LogicalPlan::Aggregate(changed));
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(columns, changed)?)))
}

/// Returns the average as that of decimal numbers, if it is one of integers.
fn exact_average(expr: &Expr, is_integer: impl Fn(&Expr) -> Result<bool>) -> Result<Option<Expr>> {
    if let Expr::Alias(alias) = expr {
        let changed = exact_average(&alias.expr, is_integer)?;
        return Ok(changed.map(|changed| changed.alias(&alias.name)));
    }
    let Expr::AggregateFunction(AggregateFunction { func, params }) = expr else { return Ok(None) };
    let [Expr::Cast(cast)] = &params.args[..] else { return Ok(None) };
    let is_average = func.inner().is::<Avg>();
    if !is_average || !cast.field.data_type().is_floating() || !is_integer(&cast.expr)? {
        return Ok(None);
    }
    // 19 digits of a 64-bit integer, and 6 decimals, to which avg adds 4
    let decimal = Cast::new(cast.expr.clone(), DataType::Decimal128(25, 6));
    let mut params = params.clone();
    params.args = vec![Expr::Cast(decimal)];
    Ok(Some(Expr::AggregateFunction(AggregateFunction { func: Arc::clone(func), params })))
}

/// Adds the other columns of the result to its ORDER BY, so that rows with equal keys have an order.
///
/// # Errors
/// Returns an error if the plan cannot be rebuilt.
pub fn with_ties(plan: LogicalPlan) -> Result<LogicalPlan> {
    Ok(match plan {
        LogicalPlan::Limit(Limit { skip, fetch, input }) => {
            let input = Arc::new(with_ties(Arc::unwrap_or_clone(input))?);
            LogicalPlan::Limit(Limit { skip, fetch, input })
        }
        LogicalPlan::Projection(projection) => match &*projection.input {
            LogicalPlan::Sort(sort) => {
                let mut columns = BTreeSet::new();
                for expr in &projection.expr {
                    columns.extend(expr.column_refs().into_iter().cloned());
                }
                let input = Arc::new(LogicalPlan::Sort(total(sort, columns)));
                LogicalPlan::Projection(Projection::try_new(projection.expr, input)?)
            }
            _ => LogicalPlan::Projection(projection),
        },
        LogicalPlan::Sort(sort) => {
            let columns = sort.input.schema().columns().into_iter().collect();
            LogicalPlan::Sort(total(&sort, columns))
        }
        other => other,
    })
}

/// Returns a sort that also sorts by columns, where their types have an order.
fn total(sort: &Sort, columns: BTreeSet<Column>) -> Sort {
    let mut sort = sort.clone();
    let schema = sort.input.schema();
    let has_order = |column: &Column| {
        let field = schema.field_from_column(column);
        field.is_ok_and(|field| !field.data_type().is_nested())
    };
    let columns = columns.into_iter().filter(has_order).map(Expr::Column);
    let new = columns.filter(|column| sort.expr.iter().all(|key| key.expr != *column));
    let keys: Vec<SortExpr> = new.map(|column| column.sort(true, true)).collect();
    sort.expr.extend(keys);
    sort
}
