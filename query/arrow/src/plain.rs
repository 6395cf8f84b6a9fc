//! Text without views, for files and other programs: not all of them know views.

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// Maximum number of bytes of text in a column without views.
const TEXT_MAX: u64 = i32::MAX as u64;

/// Returns a schema with [`DataType::Utf8`] in place of [`DataType::Utf8View`].
pub fn plain_schema(schema: &Schema) -> SchemaRef {
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8View => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)),
        _ => Arc::clone(field),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// Copies a batch to a schema from [`plain_schema`]. The result has several batches if a column has
/// 2 GiB of text or more.
///
/// # Errors
/// Returns an error if one value has 2 GiB of text or more, or the batch has other columns.
pub fn plain_batches(
    batch: &RecordBatch,
    schema: &SchemaRef,
) -> Result<Vec<RecordBatch>, ArrowError> {
    within(batch, schema, TEXT_MAX)
}

fn within(
    batch: &RecordBatch,
    schema: &SchemaRef,
    text_max: u64,
) -> Result<Vec<RecordBatch>, ArrowError> {
    let rows = batch.num_rows();
    let text = batch.columns().iter().map(text_len).max().unwrap_or(0);
    if text > text_max {
        if rows == 1 {
            return Err(ArrowError::OffsetOverflowError(text as usize));
        }
        let mut halves = within(&batch.slice(0, rows / 2), schema, text_max)?;
        halves.extend(within(&batch.slice(rows / 2, rows - rows / 2), schema, text_max)?);
        return Ok(halves);
    }
    let columns = batch.columns().iter().map(plain_column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(vec![RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?])
}

/// Returns the number of bytes of text in a column of views, else 0.
fn text_len(column: &ArrayRef) -> u64 {
    column.as_string_view_opt().map_or(0, |views| views.lengths().map(u64::from).sum())
}

fn plain_column(column: &ArrayRef) -> ArrayRef {
    match column.as_string_view_opt() {
        Some(views) => Arc::new(StringArray::from_iter(views)),
        None => Arc::clone(column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, StringViewArray};

    #[test]
    fn batches_of_any_limit_have_the_same_rows() {
        let texts = [Some("a"), None, Some(""), Some("a text that is not inline"), Some("é")];
        let views: ArrayRef = Arc::new(StringViewArray::from_iter(texts));
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5));
        let batch = RecordBatch::try_from_iter([("text", views), ("number", numbers)]).unwrap();
        let schema = plain_schema(&batch.schema());
        for (text_max, parts) in [(25, 4), (27, 2), (28, 1), (TEXT_MAX, 1)] {
            let plain = within(&batch, &schema, text_max).unwrap();
            assert_eq!(plain.len(), parts);
            let rows = plain.iter().flat_map(|part| {
                let texts = part.column(0).as_string::<i32>().iter();
                texts.zip(part.column(1).as_primitive::<arrow_array::types::Int64Type>().values())
            });
            assert!(rows.eq(texts.into_iter().zip(&[0, 1, 2, 3, 4])));
        }
        let error = within(&batch, &schema, 24).unwrap_err();
        assert!(matches!(error, ArrowError::OffsetOverflowError(25)), "{error}");
    }
}
