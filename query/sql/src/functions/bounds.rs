//! The functions `trace_start()`, `trace_end()` and `trace_dur()`.

use crate::traces::Traces;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A bound of the trace that the inputs are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Bound {
    Start,
    End,
    Duration,
}

/// A function that returns a bound. The planner computes it once, so that the scan can check
/// conditions such as `ts_ns < trace_start() + 1e9`.
#[derive(Debug)]
pub(crate) struct BoundFunction {
    bound: Bound,
    traces: Arc<Traces>,
    signature: Signature,
}

impl BoundFunction {
    /// Returns all functions.
    pub(crate) fn all(traces: &Arc<Traces>) -> [BoundFunction; 3] {
        [Bound::Start, Bound::End, Bound::Duration].map(|bound| BoundFunction {
            bound,
            traces: Arc::clone(traces),
            signature: Signature::nullary(Volatility::Stable),
        })
    }
}

// all functions of a session have the same traces
impl PartialEq for BoundFunction {
    fn eq(&self, other: &Self) -> bool {
        self.bound == other.bound
    }
}

impl Eq for BoundFunction {}

impl Hash for BoundFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bound.hash(state);
    }
}

impl ScalarUDFImpl for BoundFunction {
    fn name(&self) -> &str {
        match self.bound {
            Bound::Start => "trace_start",
            Bound::End => "trace_end",
            Bound::Duration => "trace_dur",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let bounds = self.traces.bounds().map_err(|error| self.traces.failed(error))?;
        let time = bounds.map(|(start, end)| match self.bound {
            Bound::Start => start,
            Bound::End => end,
            Bound::Duration => end.saturating_sub(start),
        });
        Ok(ColumnarValue::Scalar(ScalarValue::Int64(time)))
    }
}
