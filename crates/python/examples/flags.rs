//! Prints the verbs of the command and their flags as JSON, from which `generate.py` writes the
//! functions of the Python package.

use clap::{Arg, ArgAction, Command};
use serde_json::{Value, json};
use std::any::TypeId;
use std::path::PathBuf;

fn main() -> serde_json::Result<()> {
    serde_json::to_writer(std::io::stdout(), &verbs(&tracemill::flags(), ""))
}

/// Returns all verbs below `command` with their flags. `above` is put before their names.
fn verbs(command: &Command, above: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for verb in command.get_subcommands() {
        let name = format!("{above}{}", verb.get_name());
        let flags = verb.get_arguments().filter(|flag| !flag.is_hide_set());
        all.push(json!({
            "verb": name,
            "about": verb.get_about().map(ToString::to_string),
            "flags": flags.filter_map(flag).collect::<Value>(),
        }));
        all.extend(verbs(verb, &format!("{name} ")));
    }
    all
}

/// Describes a flag that becomes a keyword: positional arguments and flags that end the command,
/// such as `--help`, do not.
fn flag(flag: &Arg) -> Option<Value> {
    let long = flag.get_long()?;
    let parser = flag.get_value_parser().type_id();
    let choices = flag.get_possible_values();
    let choices =
        choices.iter().filter(|choice| !choice.is_hide_set()).map(|choice| choice.get_name());
    let kind = match flag.get_action() {
        ArgAction::SetTrue => "bool",
        ArgAction::Set | ArgAction::Append if parser == TypeId::of::<PathBuf>() => "path",
        ArgAction::Set | ArgAction::Append if parser == TypeId::of::<u16>() => "int",
        ArgAction::Set | ArgAction::Append if parser == TypeId::of::<u32>() => "int",
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
