//! Translates conditions of a query to conditions that the scan checks before it decodes an event.
//!
//! A condition is translated exactly or not at all, so a query has the same rows either way.

use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::{InList, Like};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use std::ops::RangeInclusive;
use tracemill_arrow::{Condition, NumberColumn, TextColumn};

/// Greatest magnitude up to which doubles represent all integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A column on which the scan can filter.
#[derive(Clone, Copy)]
enum Column {
    Number(NumberColumn),
    Text(TextColumn),
}

/// Returns the conditions of the scan that are equivalent to expressions together.
///
/// # Errors
/// Returns an error if there are none.
pub fn all_conditions(filters: &[Expr]) -> Result<Vec<Condition>> {
    let all = filters.iter().map(|filter| {
        let refused = || DataFusionError::Internal(format!("{filter} is no scan condition"));
        conditions(filter).ok_or_else(refused)
    });
    Ok(all.collect::<Result<Vec<_>>>()?.concat())
}

/// Describes conditions for `--explain`. The text is empty if there are none.
pub fn described(conditions: &[Condition]) -> String {
    match conditions {
        [] => String::new(),
        conditions => format!("{conditions:?}"),
    }
}

/// Returns the conditions of the scan that are equivalent to an expression. Returns `None` if there
/// are none.
pub fn conditions(expr: &Expr) -> Option<Vec<Condition>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            Some([conditions(left)?, conditions(right)?].concat())
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let condition = match (column(left), column(right)) {
                (Some(column), _) => comparison(column, *op, literal(right)?),
                (_, Some(column)) => comparison(column, op.swap()?, literal(left)?),
                _ => None,
            };
            Some(vec![condition?])
        }
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let column = column(expr)?;
            let least = comparison(column, Operator::GtEq, literal(low)?)?;
            Some(vec![least, comparison(column, Operator::LtEq, literal(high)?)?])
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            let values = list.iter().map(literal).collect::<Option<Vec<_>>>()?;
            Some(vec![any_of(column(expr)?, &values)?])
        }
        Expr::Like(Like {
            negated: false,
            expr,
            pattern,
            escape_char: None,
            case_insensitive: false,
        }) => {
            let Column::Text(column) = column(expr)? else { return None };
            Some(vec![Condition::Prefix(column, prefix(&text(literal(pattern)?)?)?)])
        }
        _ => None,
    }
}

/// Returns the column of the scan for a column of any table that passes conditions on.
fn column(expr: &Expr) -> Option<Column> {
    match expr {
        Expr::Column(column) => Some(match &*column.name {
            "pid" => Column::Number(NumberColumn::Pid),
            "tid" => Column::Number(NumberColumn::Tid),
            "ts_ns" | "ts" => Column::Number(NumberColumn::Time),
            "dur_ns" => Column::Number(NumberColumn::Duration),
            "byte_offset" => Column::Number(NumberColumn::ByteOffset),
            "ph" => Column::Text(TextColumn::Phase),
            "cat" | "category" => Column::Text(TextColumn::Category),
            "name" => Column::Text(TextColumn::Name),
            "pid_text" => Column::Text(TextColumn::PidText),
            "tid_text" => Column::Text(TextColumn::TidText),
            "file" => Column::Text(TextColumn::File),
            _ => return None,
        }),
        // a comparison with a decimal number converts the integers of the column
        Expr::Cast(cast) if cast.field.data_type().is_floating() => {
            column(&cast.expr).filter(|column| matches!(column, Column::Number(_)))
        }
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<&ScalarValue> {
    match expr {
        Expr::Literal(value, _) if !value.is_null() => Some(value),
        _ => None,
    }
}

fn text(value: &ScalarValue) -> Option<String> {
    match value {
        ScalarValue::Utf8(value) | ScalarValue::Utf8View(value) | ScalarValue::LargeUtf8(value) => {
            value.clone()
        }
        _ => None,
    }
}

fn integer(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::Int64(value) => *value,
        ScalarValue::Int32(value) => value.map(i64::from),
        ScalarValue::UInt64(value) => value.and_then(|value| i64::try_from(value).ok()),
        _ => None,
    }
}

fn comparison(column: Column, op: Operator, value: &ScalarValue) -> Option<Condition> {
    match (column, value) {
        (Column::Number(column), ScalarValue::Float64(Some(value))) => {
            Some(Condition::Between(column, range_of_float(op, *value)?))
        }
        (Column::Number(column), _) => {
            Some(Condition::Between(column, range(op, integer(value)?)?))
        }
        (Column::Text(_), _) if op == Operator::Eq => any_of(column, &[value]),
        (Column::Text(_), _) => None,
    }
}

/// Returns the integers that compare with a value by `op`.
fn range(op: Operator, value: i64) -> Option<RangeInclusive<i64>> {
    // an empty range, where no integer compares
    const NONE: RangeInclusive<i64> = RangeInclusive::new(1, 0);
    Some(match op {
        Operator::Eq => value..=value,
        Operator::LtEq => i64::MIN..=value,
        Operator::GtEq => value..=i64::MAX,
        Operator::Lt => value.checked_sub(1).map_or(NONE, |most| i64::MIN..=most),
        Operator::Gt => value.checked_add(1).map_or(NONE, |least| least..=i64::MAX),
        _ => return None,
    })
}

/// Returns the integers that, as doubles, compare with a value by `op`.
fn range_of_float(op: Operator, value: f64) -> Option<RangeInclusive<i64>> {
    if value.is_nan() || value.abs() >= EXACT {
        return None;
    }
    let is_whole = value == value.trunc();
    match op {
        Operator::Eq if !is_whole => None,
        Operator::Gt | Operator::LtEq => range(op, value.floor() as i64),
        _ => range(op, value.ceil() as i64),
    }
}

fn any_of(column: Column, values: &[&ScalarValue]) -> Option<Condition> {
    match column {
        Column::Number(column) => {
            let values = values.iter().map(|value| integer(value)).collect::<Option<_>>()?;
            Some(Condition::AnyNumber(column, values))
        }
        Column::Text(column) => {
            let values = values.iter().map(|value| text(value)).collect::<Option<_>>()?;
            Some(Condition::AnyText(column, values))
        }
    }
}

/// Returns the prefix of a pattern such as `abc%`.
fn prefix(pattern: &str) -> Option<String> {
    let prefix = pattern.strip_suffix('%')?;
    (!prefix.contains(['%', '_', '\\'])).then(|| prefix.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{col, lit};

    #[test]
    fn comparisons_with_doubles_select_the_same_integers() {
        let doubles = [-2.5, -2.0, -0.0, 0.0, 0.5, 1.0, 3.25, 1e6];
        let ops = [Operator::Lt, Operator::LtEq, Operator::Gt, Operator::GtEq, Operator::Eq];
        for (value, op) in doubles.iter().flat_map(|value| ops.map(|op| (*value, op))) {
            let Some(range) = range_of_float(op, value) else { continue };
            for number in -5..5_i64 {
                let compares = match op {
                    Operator::Lt => (number as f64) < value,
                    Operator::LtEq => (number as f64) <= value,
                    Operator::Gt => (number as f64) > value,
                    Operator::GtEq => (number as f64) >= value,
                    _ => number as f64 == value,
                };
                assert_eq!(range.contains(&number), compares, "{number} {op} {value}");
            }
        }
    }

    #[test]
    fn conditions_are_exact_or_absent() {
        let both = col("name").eq(lit("a")).and(lit(5_i64).lt(col("dur_ns")));
        let expected = vec![
            Condition::AnyText(TextColumn::Name, ["a".into()].into()),
            Condition::Between(NumberColumn::Duration, 6..=i64::MAX),
        ];
        assert_eq!(conditions(&both), Some(expected));
        let prefixed = Condition::Prefix(TextColumn::Name, "a.".into());
        assert_eq!(conditions(&col("name").like(lit("a.%"))), Some(vec![prefixed]));
        for other in [
            col("name").like(lit("a_%")),
            col("name").not_eq(lit("a")),
            col("args").eq(lit("{}")),
            col("pid").eq(col("tid")),
            col("name").eq(lit("a")).or(col("name").eq(lit("b"))),
            col("name").lt(lit("b")),
        ] {
            assert_eq!(conditions(&other), None, "{other}");
        }
    }
}
