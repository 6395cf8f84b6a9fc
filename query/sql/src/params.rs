//! Parameters of a query: `$name` in its SQL.
//!
//! A value takes the place of its parameter in the parsed SQL, as a literal would be written there. So
//! its type is known before the query is planned, and conditions with parameters are pushed down.

use datafusion::error::{DataFusionError, Result};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{Expr, Value, visit_expressions_mut};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use tracemill::engine::{ParamValue, QueryParam};

/// The parameters of a query, and the names in its SQL.
pub struct Params<'p> {
    params: &'p [QueryParam],
    names: BTreeSet<String>,
}

impl<'p> Params<'p> {
    /// Creates the parameters of a query whose SQL was not looked at yet.
    pub fn new(params: &'p [QueryParam]) -> Self {
        Params { params, names: BTreeSet::new() }
    }

    /// Replaces the parameters in a statement by their values.
    pub fn insert_into(&mut self, statement: &mut Statement) {
        let Statement::Statement(statement) = statement else { return };
        let _ = visit_expressions_mut(&mut **statement, |expr| {
            if let Expr::Value(value) = expr
                && let Value::Placeholder(name) = &value.value
            {
                let name = name.trim_start_matches('$').to_owned();
                // of several values for one name, the last counts
                let param = self.params.iter().rfind(|param| param.name == name);
                if let Some(param) = param {
                    value.value = literal(&param.value);
                }
                self.names.insert(name);
            }
            ControlFlow::<()>::Continue(())
        });
    }

    /// Checks that each parameter has a value, and each value a parameter.
    ///
    /// # Errors
    /// Returns an error that lists the names that exist.
    pub fn check(&self) -> Result<()> {
        let given: BTreeSet<&str> = self.params.iter().map(|param| &*param.name).collect();
        if let Some(name) = self.names.iter().find(|name| !given.contains(name.as_str())) {
            return Err(refused(&format!("${name} has no value"), "values", given));
        }
        let names: BTreeSet<&str> = self.names.iter().map(String::as_str).collect();
        match given.difference(&names).next() {
            Some(name) => Err(refused(&format!("the query has no ${name}"), "parameters", names)),
            None => Ok(()),
        }
    }
}

fn refused(wrong: &str, kind: &str, names: BTreeSet<&str>) -> DataFusionError {
    let names: Vec<String> = names.into_iter().map(|name| format!("${name}")).collect();
    let names = match names.is_empty() {
        true => format!("there are no {kind}"),
        false => format!("there are {kind} of {}", names.join(", ")),
    };
    DataFusionError::Plan(format!("{wrong}; {names}: --param KEY=VAL is the value of $KEY"))
}

fn literal(value: &ParamValue) -> Value {
    match value {
        ParamValue::Integer(number) => Value::Number(number.to_string(), false),
        ParamValue::Float(number) => Value::Number(format!("{number:?}"), false),
        ParamValue::Text(text) => Value::SingleQuotedString(text.clone()),
    }
}
