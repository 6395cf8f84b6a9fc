//! Names of templates and functions.

use cpp_demangle::{DemangleOptions, Symbol};
use std::fmt::{self, Write};

/// Replaces template arguments by `$`: `a<b, c<d>>::e<f>` becomes `a<$>::e<$>`. Names with
/// operators or unbalanced brackets stay unchanged.
pub(super) fn collapsed(name: &str) -> String {
    if name.contains("operator") {
        return name.to_owned();
    }
    let mut short = String::with_capacity(name.len());
    let mut depth = 0usize;
    for c in name.chars() {
        match c {
            '<' if depth == 0 => {
                short.push_str("<$");
                depth = 1;
            }
            '<' => depth += 1,
            '>' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    short.push('>');
                }
            }
            _ if depth > 0 => {}
            other => short.push(other),
        }
    }
    match depth {
        0 => short,
        _ => name.to_owned(),
    }
}

/// A text of limited length.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        /// Maximum length of a text in bytes. Names of some hundred bytes could expand to
        /// gigabytes.
        const MOST: usize = 64 << 10;
        if self.0.len() + text.len() > MOST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Demangles a symbol of the Itanium C++ ABI; returns other names unchanged.
pub(super) fn demangled(name: &[u8]) -> String {
    let plain = || String::from_utf8_lossy(name).into_owned();
    // macOS adds an underscore.
    let symbol = name.strip_prefix(b"_").filter(|symbol| symbol.starts_with(b"_Z")).unwrap_or(name);
    if !symbol.starts_with(b"_Z") {
        return plain();
    }
    let mut text = Bounded(String::new());
    match Symbol::new(symbol) {
        Ok(symbol) if symbol.structured_demangle(&mut text, &DemangleOptions::new()).is_ok() => {
            text.0
        }
        _ => plain(),
    }
}

#[cfg(test)]
mod tests {
    use super::{collapsed, demangled};

    #[test]
    fn template_arguments_are_collapsed() {
        let cases = [
            ("std::vector<int>", "std::vector<$>"),
            ("a<b<c>, d>::e<f>(g)", "a<$>::e<$>(g)"),
            ("plain", "plain"),
            ("X<>::operator<", "X<>::operator<"),
            ("a<b", "a<b"),
            ("a->b", "a->b"),
        ];
        cases.iter().for_each(|(name, short)| assert_eq!(collapsed(name), *short));
    }

    #[test]
    fn symbols_are_demangled_and_other_names_kept() {
        assert_eq!(
            demangled(b"_Z6powersRK6MatrixIdLi8EEj"),
            "powers(Matrix<double, 8> const&, unsigned int)"
        );
        assert_eq!(demangled(b"__Z1fv"), "f()");
        assert_eq!(demangled(b"main"), "main");
        assert_eq!(demangled(b"_Znonsense"), "_Znonsense");
        assert_eq!(demangled(b"?f@@YAXXZ"), "?f@@YAXXZ");
        // Each `S_` doubles the length of the name.
        let mut large = b"_Z1fP1aIS_S_E".to_vec();
        (0..40).for_each(|at| large.extend(format!("1aIS{at}_S{at}_E").bytes()));
        assert!(demangled(&large).len() <= 64 << 10);
    }
}
