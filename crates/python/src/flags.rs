//! The table of flags, for the functions that are made of it.

use clap::{Arg, ArgAction, Command};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::any::TypeId;
use std::path::PathBuf;

/// All verbs with their flags, as JSON.
#[pyfunction]
pub(crate) fn flags() -> String {
    json!(verbs(&tracemill::flags(), "")).to_string()
}

fn verbs(command: &Command, above: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for verb in command.get_subcommands() {
        let name = format!("{above}{}", verb.get_name());
        let text = |text: Option<&clap::builder::StyledStr>| text.map(ToString::to_string);
        let flags = verb.get_arguments().filter(|flag| !flag.is_hide_set());
        all.push(json!({
            "verb": name,
            "about": text(verb.get_about()),
            "flags": flags.filter_map(flag).collect::<Value>(),
        }));
        all.extend(verbs(verb, &format!("{name} ")));
    }
    all
}

fn flag(flag: &Arg) -> Option<Value> {
    let long = flag.get_long()?;
    let parser = flag.get_value_parser();
    let is = |id| parser.type_id() == id;
    let choices = flag.get_possible_values();
    let choices = choices.iter().filter(|own| !own.is_hide_set()).map(|own| own.get_name());
    let kind = match flag.get_action() {
        ArgAction::SetTrue => "bool",
        ArgAction::Set | ArgAction::Append if is(TypeId::of::<PathBuf>()) => "path",
        ArgAction::Set | ArgAction::Append if is(TypeId::of::<u16>()) => "int",
        ArgAction::Set | ArgAction::Append if is(TypeId::of::<u32>()) => "int",
        ArgAction::Set | ArgAction::Append => "value",
        _ => return None,
    };
    Some(json!({
        "flag": long,
        "kind": kind,
        "many": matches!(flag.get_action(), ArgAction::Append),
        "choices": choices.collect::<Value>(),
        "value": flag.get_value_names().and_then(|names| names.first()).map(ToString::to_string),
        "help": flag.get_help().map(ToString::to_string),
    }))
}
