//! The function `extract_arg`, which becomes a look into the args of the same row.
//!
//! ```text
//!   extract_arg(arg_set_id, 'args.data.urls[0]')  ─>  json_as_text(args, 'data', 'urls', 0)
//! ```

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, Result, ScalarValue, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility, lit,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion_functions_json::udfs::json_as_text_udf;

/// Name of the function.
const NAME: &str = "extract_arg";

/// The function before it is rewritten.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExtractArg(Signature);

impl ExtractArg {
    pub(crate) fn new() -> Self {
        ExtractArg(Signature::any(2, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for ExtractArg {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        plan_err!("{NAME} needs a column arg_set_id or args, and a path as text")
    }
}

/// Rewrites calls of [`ExtractArg`].
#[derive(Debug)]
pub(crate) struct ExtractArgs;

impl AnalyzerRule for ExtractArgs {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(rewritten).data()
    }

    fn name(&self) -> &str {
        "extract_args"
    }
}

/// Rewrites the calls in the expressions of a plan. The names of its columns stay.
fn rewritten(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let names = NamePreserver::new(&plan);
    let schemas: Vec<_> = plan.inputs().iter().map(|input| input.schema().clone()).collect();
    let has = |column: &Column| schemas.iter().any(|schema| schema.has_column(column));
    let changed = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let changed = expr.transform_up(|expr| match expr {
            Expr::ScalarFunction(call) if call.func.name() == NAME => {
                look(call, has).map(Transformed::yes)
            }
            other => Ok(Transformed::no(other)),
        })?;
        Ok(changed.update_data(|expr| name.restore(expr)))
    })?;
    match changed.transformed {
        true => changed.map_data(LogicalPlan::recompute_schema),
        false => Ok(changed),
    }
}

/// Returns the look into args that a call means.
fn look(call: ScalarFunction, has: impl Fn(&Column) -> bool) -> Result<Expr> {
    let ScalarFunction { args, .. } = call;
    let [of, Expr::Literal(path, _)] = &args[..] else {
        return plan_err!("the path of {NAME} must be text, such as 'args.data.url'");
    };
    let Some(Some(path)) = path.try_as_str() else {
        return plan_err!("the path of {NAME} must be text, such as 'args.data.url'");
    };
    let (of, path) = match of {
        Expr::Column(Column { relation, name, .. }) if name == "arg_set_id" => {
            let column = Column::new(relation.clone(), "args");
            if !has(&column) {
                return plan_err!("{NAME}(arg_set_id, …) needs a table that has args, too");
            }
            (Expr::Column(column), path.strip_prefix("args.").unwrap_or(path))
        }
        other => (other.clone(), path),
    };
    let args = std::iter::once(of).chain(steps(path)).collect();
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(json_as_text_udf(), args)))
}

/// Returns the steps of a path: names of members, and indices of elements.
fn steps(path: &str) -> Vec<Expr> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if !name.is_empty() {
            steps.push(lit(name));
        }
        while let Some((index, after)) =
            rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        {
            steps.push(match index.parse::<i64>() {
                Ok(index) => lit(index),
                Err(_) => lit(ScalarValue::from(index)),
            });
            rest = after;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_names_and_indices() {
        assert_eq!(steps("data.url"), [lit("data"), lit("url")]);
        assert_eq!(steps("a[0][12].b"), [lit("a"), lit(0_i64), lit(12_i64), lit("b")]);
        assert_eq!(steps("a[b"), [lit("a")]);
    }
}
