//! Collects the events that the rows of a result name.

use crate::errors::format_error;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, SchemaRef};
use tracemill::engine::{Query, QueryError};
use tracemill_arrow::IDS_PER_INPUT;
use tracemill_pipeline::{EventList, EventLister, ListedBy, ListedEvent};
use tracemill_trace::input::expand;

/// Columns that name events of any input.
const IDS: [&str; 2] = ["event_id", "id"];
/// Columns that name events of a single input.
const PLACES: [(&str, ListedBy); 2] =
    [("byte_offset", ListedBy::Offset), ("number", ListedBy::Number)];

/// The events that rows name by one of their columns.
pub struct EventNames {
    column: usize,
    /// Whether numbers contain the input, as in `event_id`.
    is_id: bool,
    events: EventLister,
}

impl EventNames {
    /// Finds the column that names events.
    ///
    /// # Errors
    /// Returns an error if no column does, or several of the same name.
    pub(super) fn new(query: &Query<'_>, schema: &SchemaRef) -> Result<Self, QueryError> {
        let inputs = expand(query.sources).map_err(QueryError::Run)?.len();
        let ids = IDS.map(|name| (name, ListedBy::Number));
        let places = PLACES.iter().copied().filter(|_| inputs == 1);
        for (name, by) in ids.into_iter().chain(places) {
            let fields = schema.fields().iter().enumerate();
            let named: Vec<_> = fields
                .filter(|(_, field)| field.name() == name && field.data_type().is_integer())
                .map(|(column, _)| column)
                .collect();
            match named[..] {
                [] => {}
                [column] => {
                    let is_id = IDS.contains(&name);
                    let events = EventLister::new(by, &query.config.limits);
                    return Ok(EventNames { column, is_id, events });
                }
                _ => {
                    return Err(QueryError::Sql(format!(
                        "the result has several columns {name}, and a trace is made of the events of one: select one of them"
                    )));
                }
            }
        }
        let wanted = match inputs {
            1 => "event_id (of slice: id), byte_offset or number",
            _ => "event_id (of slice: id), for there are several inputs",
        };
        Err(QueryError::Sql(format!(
            "the result does not say which events the trace has: select {wanted}"
        )))
    }

    /// Adds the events of a batch.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<(), QueryError> {
        let column = cast(batch.column(self.column), &DataType::Int64).map_err(format_error)?;
        let numbers = column.as_primitive::<Int64Type>();
        for number in numbers.iter().flatten() {
            let [input, value] = match self.is_id {
                true => [number.div_euclid(IDS_PER_INPUT), number.rem_euclid(IDS_PER_INPUT)],
                false => [0, number],
            };
            let (Ok(input), Ok(value)) = (u32::try_from(input), u64::try_from(value)) else {
                return Err(QueryError::Sql(format!("{number} is not the number of an event")));
            };
            self.events.push(ListedEvent { input, value }).map_err(QueryError::Run)?;
        }
        Ok(())
    }

    /// Returns the events.
    pub(super) fn finish(self) -> Result<EventList, QueryError> {
        self.events.finish().map_err(QueryError::Run)
    }
}
