//! Formats of call trees for other programs, requested by flag or file name.

use super::OutputArgs;
use std::path::Path;
use tracemill_export::ExportForm;

/// The format of an exported call tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Export {
    pub(crate) form: ExportForm,
    /// Whether the output is compressed with gzip.
    pub(crate) packed: bool,
}

/// File extensions and their formats, longer extensions first.
const ENDINGS: [(&str, ExportForm); 5] = [
    (".folded", ExportForm::Folded),
    (".collapsed", ExportForm::Folded),
    (".speedscope.json", ExportForm::Speedscope),
    (".pprof", ExportForm::Pprof),
    (".pb", ExportForm::Pprof),
];

impl Export {
    /// Returns the requested format, if any.
    pub(crate) fn of(form: Option<ExportForm>, output: &OutputArgs) -> Option<Self> {
        let name = output.file().map(|path| name_of(path)).unwrap_or_default();
        let plain = name.strip_suffix(".gz");
        let by_name = by_name(plain.unwrap_or(&name));
        Some(Export { form: form.or(by_name)?, packed: plain.is_some() })
    }
}

/// Returns whether the output's name means Perfetto's format, and whether it means compression.
pub(super) fn is_perfetto(output: &OutputArgs) -> (bool, bool) {
    let name = output.file().map(|path| name_of(path)).unwrap_or_default();
    let plain = name.strip_suffix(".gz");
    let stem = plain.unwrap_or(&name);
    ([".pftrace", ".perfetto-trace"].iter().any(|end| stem.ends_with(end)), plain.is_some())
}

/// Returns the format that a file name means, with or without the extension of a compression.
pub(super) fn named(path: &Path) -> Option<ExportForm> {
    let name = name_of(path);
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst"));
    by_name(plain.unwrap_or(&name))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

fn by_name(name: &str) -> Option<ExportForm> {
    ENDINGS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, form)| *form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_determine_the_export_format() {
        let of = |name: &str| {
            Export::of(None, &OutputArgs { output: Some(name.into()), force: false })
                .map(|export| (export.form, export.packed))
        };
        assert_eq!(of("a.folded"), Some((ExportForm::Folded, false)));
        assert_eq!(of("x/a.SPEEDSCOPE.json.gz"), Some((ExportForm::Speedscope, true)));
        assert_eq!(of("a.pb.gz"), Some((ExportForm::Pprof, true)));
        assert_eq!(of("a.pprof"), Some((ExportForm::Pprof, false)));
        assert_eq!((of("a.json"), of("a.gz"), of("folded/a")), (None, None, None));
        let perfetto =
            |name: &str| is_perfetto(&OutputArgs { output: Some(name.into()), force: false });
        assert_eq!(
            [perfetto("a.pftrace"), perfetto("x.Perfetto-Trace.gz")],
            [(true, false), (true, true)]
        );
        assert_eq!(perfetto("pftrace.json.gz"), (false, true));
        assert_eq!(named(Path::new("a.folded.zst")), Some(ExportForm::Folded));
    }
}
