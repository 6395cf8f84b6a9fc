//! The statements of a query: INCLUDE PERFETTO MODULE and CREATE VIEW statements, then one SELECT.

use crate::params::Params;
use crate::rules::with_ties;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::sqlparser::ast::Statement as SqlStatement;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use tracemill::engine::QueryParam;

/// Parses SQL, creates its views, and returns the plan of its SELECT.
///
/// # Errors
/// Returns an error if the SQL is wrong, has other parameters than `params`, or has a statement that
/// could write.
pub async fn plan(
    sql: &str,
    params: &[QueryParam],
    context: &SessionContext,
) -> Result<LogicalPlan> {
    let sql = without_includes(sql)?;
    let mut statements = DFParser::parse_sql_with_dialect(&sql, &PostgreSqlDialect {})?;
    let mut params = Params::new(params);
    statements.iter_mut().for_each(|statement| params.insert_into(statement));
    params.check()?;
    let Some(last) = statements.pop_back() else {
        return Err(refused("there is no statement"));
    };
    for statement in statements {
        create_view(statement, context).await?;
    }
    match &last {
        Statement::Statement(statement) if matches!(**statement, SqlStatement::Query(_)) => {}
        _ => return Err(refused(&format!("the last statement is not a SELECT: {last}"))),
    }
    let plan = context.state().statement_to_plan(last).await?;
    let reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    reads.verify_plan(&plan)?;
    with_ties(plan)
}

async fn create_view(statement: Statement, context: &SessionContext) -> Result<()> {
    match &statement {
        Statement::Statement(inner) if matches!(**inner, SqlStatement::CreateView { .. }) => {}
        _ => {
            return Err(refused(&format!(
                "queries only read; before the SELECT there may be CREATE VIEW statements, not: {statement}"
            )));
        }
    }
    let plan = context.state().statement_to_plan(statement).await?;
    SQLOptions::new().with_allow_dml(false).with_allow_statements(false).verify_plan(&plan)?;
    context.execute_logical_plan(plan).await?;
    Ok(())
}

/// Modules of PerfettoSQL whose tables always exist here.
const MODULES: [&str; 2] = ["slices.with_context", "slices.self_dur"];

/// Replaces the statements INCLUDE PERFETTO MODULE at the start by blank lines, so that errors name
/// the line in `sql`.
fn without_includes(sql: &str) -> Result<String> {
    let mut rest = sql;
    while let Some((statement, after)) = rest.split_once(';') {
        let words: Vec<&str> = statement.split_ascii_whitespace().collect();
        let [first, second, third, module] = words[..] else { break };
        let is_include = [(first, "include"), (second, "perfetto"), (third, "module")];
        if !is_include.iter().all(|(word, name)| word.eq_ignore_ascii_case(name)) {
            break;
        }
        if !MODULES.contains(&module) {
            return Err(refused(&format!(
                "there is no module {module} of PerfettoSQL: of its modules, there are {}",
                MODULES.join(" and ")
            )));
        }
        rest = after;
    }
    let lines = sql[..sql.len() - rest.len()].matches('\n').count();
    Ok("\n".repeat(lines) + rest)
}

fn refused(text: &str) -> DataFusionError {
    DataFusionError::Plan(text.to_owned())
}

/// Returns whether a plan only scans, filters, computes and limits, so that its rows are in file order.
pub fn is_in_file_order(plan: &LogicalPlan) -> bool {
    let is_plain = matches!(
        plan,
        LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::TableScan(_)
    );
    is_plain && plan.inputs().into_iter().all(is_in_file_order)
}
