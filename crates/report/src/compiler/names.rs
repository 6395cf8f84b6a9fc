//! Names of templates and functions.

use cpp_demangle::{DemangleOptions, Symbol};
use std::fmt::{self, Write};

/// A name without the arguments of templates, which are a `$`: `a<b, c<d>>::e<f>` is `a<$>::e<$>`. Names with operators, and those whose
/// brackets do not fit, stay as they are.
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

/// A text that does not grow beyond what anybody reads.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        /// A few names of some hundred bytes can stand for gigabytes.
        const MOST: usize = 64 << 10;
        if self.0.len() + text.len() > MOST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// A symbol as C++ writes it; what is no symbol of the Itanium ABI is as it is.
pub(super) fn demangled(name: &[u8]) -> String {
    let plain = || String::from_utf8_lossy(name).into_owned();
    // macOS puts an underscore before it
    let symbol = name.strip_prefix(b"_").filter(|own| own.starts_with(b"_Z")).unwrap_or(name);
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
    fn arguments_of_templates_are_left_out() {
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
    fn symbols_are_read_and_what_is_none_stays() {
        assert_eq!(
            demangled(b"_Z6powersRK6MatrixIdLi8EEj"),
            "powers(Matrix<double, 8> const&, unsigned int)"
        );
        assert_eq!(demangled(b"__Z1fv"), "f()");
        assert_eq!(demangled(b"main"), "main");
        assert_eq!(demangled(b"_Znonsense"), "_Znonsense");
        assert_eq!(demangled(b"?f@@YAXXZ"), "?f@@YAXXZ");
        // each S_ doubles it: a symbol that would fill the memory stays a symbol
        let mut large = b"_Z1fP1aIS_S_E".to_vec();
        (0..40).for_each(|at| large.extend(format!("1aIS{at}_S{at}_E").bytes()));
        assert!(demangled(&large).len() <= 64 << 10);
    }
}
