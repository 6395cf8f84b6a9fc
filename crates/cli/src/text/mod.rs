//! Texts for people: tables, sizes, times, similar names.

pub(crate) mod similar;
pub(crate) mod size;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod time_in_name;
pub(crate) mod times;
