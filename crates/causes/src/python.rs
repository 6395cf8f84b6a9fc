//! Python functions that slices name.
//!
//! | producer | category | name |
//! |---|---|---|
//! | PyTorch (Kineto) | `python_function` | `train.py(12): step`; `<built-in method zeros>`; `nn.Module: Linear_0` |
//! | VizTracer | `FEE` | `step (/app/train.py:12)`; `len` |

use tracemill_analysis::events::kinds::{Kind, NO_CAT};
use tracemill_trace::event::names::Names;

/// A Python function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PythonFunction<'n> {
    pub(crate) function: &'n [u8],
    /// Path of the file; `None` for functions that are not in Python.
    pub(crate) url: Option<&'n [u8]>,
    /// First line of the function, from 0.
    pub(crate) line: Option<u64>,
}

impl<'n> PythonFunction<'n> {
    /// Returns the function that slices of a kind are calls of; `None` for other events.
    pub(crate) fn of(kind: Kind, names: &'n Names) -> Option<Self> {
        let name = names.bytes_of(kind.name);
        let cat = if kind.cat == NO_CAT { b"" } else { names.bytes_of(kind.cat) };
        let located = match cat {
            b"python_function" => of_kineto(name),
            b"FEE" => of_viztracer(name),
            _ => return None,
        };
        Some(located.unwrap_or(PythonFunction { function: name, url: None, line: None }))
    }
}

fn line(digits: &[u8]) -> Option<u64> {
    let line: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(line.saturating_sub(1))
}

/// Splits `PATH(LINE): FUNCTION`.
fn of_kineto(name: &[u8]) -> Option<PythonFunction<'_>> {
    let ends = (0..name.len()).filter(|&at| name[at..].starts_with(b"): "));
    let mut found = ends.filter_map(|end| {
        let start = name[..end].iter().rposition(|byte| !byte.is_ascii_digit())?;
        let line = Some(line(&name[start + 1..end]).filter(|_| name[start] == b'(')?);
        Some(PythonFunction { function: &name[end + 3..], url: Some(&name[..start]), line })
    });
    found.next()
}

/// Splits `FUNCTION (PATH:LINE)`.
fn of_viztracer(name: &[u8]) -> Option<PythonFunction<'_>> {
    let place = name.strip_suffix(b")")?;
    let start = place.windows(2).position(|bytes| bytes == b" (")?;
    let colon = place.iter().rposition(|&byte| byte == b':').filter(|&at| at > start + 1)?;
    let line = Some(line(&place[colon + 1..])?);
    Some(PythonFunction { function: &name[..start], url: Some(&place[start + 2..colon]), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(found: Option<PythonFunction<'_>>) -> Option<[String; 3]> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let PythonFunction { function, url, line } = found?;
        Some([text(function), text(url?), line?.to_string()])
    }

    #[test]
    fn names_have_functions_files_and_lines() {
        for (name, function, url, line) in [
            ("train.py(12): step", "step", "train.py", "11"),
            ("<string>(1): __init__", "__init__", "<string>", "0"),
            ("/a (1)/b.py(3): f(x): y", "f(x): y", "/a (1)/b.py", "2"),
        ] {
            let wanted = [function, url, line].map(str::to_owned);
            assert_eq!(texts(of_kineto(name.as_bytes())), Some(wanted), "{name}");
        }
        for (name, function, url, line) in [
            ("step (/app/train.py:12)", "step", "/app/train.py", "11"),
            ("<listcomp> (C:/a (1)/b.py:1)", "<listcomp>", "C:/a (1)/b.py", "0"),
        ] {
            let wanted = [function, url, line].map(str::to_owned);
            assert_eq!(texts(of_viztracer(name.as_bytes())), Some(wanted), "{name}");
        }
    }

    #[test]
    fn other_names_are_functions_without_a_file() {
        for name in
            ["<built-in method zeros of type object at 0x7f>", "nn.Module: Linear_0", "f(): g", ""]
        {
            assert_eq!(of_kineto(name.as_bytes()), None, "{name}");
        }
        for name in ["len", "f (a)", "f (:1)x", ")", "f:1)"] {
            assert_eq!(of_viztracer(name.as_bytes()), None, "{name}");
        }
    }
}
