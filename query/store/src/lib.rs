//! Traces in object stores and on web servers as inputs.
//!
//! ```text
//!   address ─ open ─┬─ Ranges, and there is an index ─> RemoteFile: a sparse local file next to the
//!                   │                                   index; ranges are copied when they are read
//!                   ├─ File ──────────────────────────> RemoteFile: a copy of the whole object
//!                   └─ otherwise ─────────────────────> a stream of the whole object, by one request
//! ```
//!
//! | address | credentials |
//! |---|---|
//! | `s3://BUCKET/PATH` | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`, … |
//! | `gs://BUCKET/PATH` | `GOOGLE_APPLICATION_CREDENTIALS`, `GOOGLE_SERVICE_ACCOUNT`, … |
//! | `az://CONTAINER/PATH` | `AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_STORAGE_ACCOUNT_KEY`, … |
//! | `https://HOST/PATH`, `http://HOST/PATH` | none |
//!
//! Failed requests are tried again, as `object_store` does. Every request after the first asks for
//! the same version of the object (`If-Match`), so an object that is replaced meanwhile is an error.
//! Redirects to other hosts are refused.
//!
//! An index is the object whose name ends in `.tmi`. It is used if it is not older than the trace.
#![forbid(unsafe_code)]

mod client;
mod errors;
mod object;
mod ranges;
mod remote;
mod stream;

pub use object::Object;

use remote::{LocalCopy, WholeCopy};
use std::path::Path;
use std::sync::Arc;
use stream::{ObjectStream, download};
use tracemill_index::index_path;
use tracemill_trace::input::remote::{FetchRanges, RemoteFile};
use tracemill_trace::{Error, Source};

/// How an object is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Once, as a stream.
    Once,
    /// Ranges of it, if it has an index; else once.
    Ranges,
    /// As a file, which is downloaded at once.
    File,
}

/// Opens the trace at an address. `folder` does not exist; it is created if local files are needed.
///
/// Cost: one request; for the index two more.
///
/// # Errors
/// Returns an error that names the address, if it cannot be read.
pub fn open(address: &str, folder: &Path, access: Access) -> Result<Source, Error> {
    let object = Object::find(address)?;
    let index = match access {
        Access::Ranges => object.index()?,
        _ => None,
    };
    if access != Access::File && index.is_none() {
        return Ok(Source::reader(address, ObjectStream::new(object)));
    }
    std::fs::create_dir_all(folder).map_err(|error| Error::scratch(folder, error))?;
    let path = folder.join(object.file_name());
    let length = object.length();
    let ranges: Arc<dyn FetchRanges> = match index {
        Some(index) => {
            download(&index, &index_path(&path))?;
            Arc::new(LocalCopy::create(object, &path)?)
        }
        None => {
            download(&object, &path)?;
            Arc::new(WholeCopy)
        }
    };
    Ok(Source::Remote(RemoteFile::new(address, path, length, ranges)))
}
