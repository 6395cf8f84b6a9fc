//! Maps error classes to the exceptions of `tracemill/_errors.py`.

use pyo3::exceptions::{PyBrokenPipeError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use tracemill::ErrorClass;

/// Creates the exception for an error class.
pub(crate) fn exception(py: Python<'_>, class: ErrorClass, text: &str) -> PyErr {
    let name = match class {
        ErrorClass::Usage => "UsageError",
        ErrorClass::Input => "InputError",
        ErrorClass::System => "MachineError",
        ErrorClass::BrokenPipe => return PyBrokenPipeError::new_err(text.to_owned()),
        ErrorClass::Cancelled => return PyKeyboardInterrupt::new_err(()),
    };
    let raised = py
        .import("tracemill._errors")
        .and_then(|module| module.getattr(name))
        .and_then(|class| class.call1((text,)));
    raised.map_or_else(|why| why, PyErr::from_value)
}
