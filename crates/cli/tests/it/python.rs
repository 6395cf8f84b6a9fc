//! The functions of the Python package are made of the flags of the command: `UPDATE_GOLDEN=1 cargo test` makes them anew.
//!
//! `crates/python/generate.py` writes them of the table that it is handed here. Without Python nothing is tested.

use clap::{Arg, ArgAction, Command};
use serde_json::{Value, json};
use std::any::TypeId;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// All verbs with their flags.
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

/// What a keyword is made of; nothing of what stands by its place, and of flags that end the command.
fn flag(flag: &Arg) -> Option<Value> {
    let long = flag.get_long()?;
    let parser = flag.get_value_parser().type_id();
    let choices = flag.get_possible_values();
    let choices = choices.iter().filter(|own| !own.is_hide_set()).map(|own| own.get_name());
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

#[test]
fn functions_of_python_are_golden() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/generate.py");
    let mut python = std::process::Command::new("python3");
    python.arg("-B").arg(script);
    if std::env::var_os("UPDATE_GOLDEN").is_none() {
        python.arg("--check");
    }
    let table = json!(verbs(&tracemill::flags(), "")).to_string();
    // without Python nothing is tested here
    let Ok(mut child) = python.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn() else { return };
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(table.as_bytes()).expect("it reads all");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
