//! A macro to serialize types by name in reports.

/// Implements `Serialize` for types as the text that their method `name` returns.
///
/// ```
/// enum Side {
///     Left,
/// }
/// impl Side {
///     fn name(&self) -> &'static str {
///         "left"
///     }
/// }
/// tracemill_trace::serialize_by_name!(Side);
/// fn is_row(_: impl serde::Serialize) {}
/// is_row(Side::Left); // the text `left`
/// ```
#[macro_export]
macro_rules! serialize_by_name {
    ($($type:ty),+) => {$(
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    )+};
}
