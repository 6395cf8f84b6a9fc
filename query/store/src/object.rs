//! An object of a store, in one version.

use crate::client::{Located, located};
use crate::errors::input_error;
use futures::future::BoxFuture;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt};
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock};
use tokio::runtime::{Builder, Runtime};
use tracemill_trace::{Error, ErrorKind};

/// Threads of requests.
const THREADS: usize = 2;

static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(THREADS).thread_name("store").enable_all().build()
});

/// Starts a request. The result comes on the channel.
pub(crate) fn start<T: Send + 'static>(
    address: &str,
    request: impl Future<Output = T> + Send + 'static,
) -> Result<Receiver<T>, Error> {
    let runtime = RUNTIME.as_ref();
    let failed = |error: &io::Error| Error::read(address, io::Error::other(error.to_string()));
    let (sender, receiver) = channel();
    runtime.map_err(failed)?.spawn(async move {
        // a run that was cancelled waits no more
        _ = sender.send(request.await);
    });
    Ok(receiver)
}

/// Waits for a request.
pub(crate) fn wait<T: Send + 'static>(
    address: &str,
    request: impl Future<Output = T> + Send + 'static,
) -> Result<T, Error> {
    start(address, request)?.recv().map_err(|_| ErrorKind::Cancelled.into())
}

/// An object, in the version that was found first.
#[derive(Clone, Debug)]
pub struct Object {
    address: Arc<str>,
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
}

impl Object {
    /// Finds the object at an address.
    ///
    /// # Errors
    /// Returns an error if there is none, or it cannot be read.
    pub fn find(address: &str) -> Result<Self, Error> {
        let Located { store, path } =
            located(address).map_err(|error| input_error(address, error))?;
        let head = Arc::clone(&store);
        let meta = wait(address, async move { head.head(&path).await })?;
        let meta = meta.map_err(|error| input_error(address, error))?;
        Ok(Object { address: address.into(), store, meta })
    }

    /// Returns the address.
    pub(crate) fn address(&self) -> &Arc<str> {
        &self.address
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.meta.size
    }

    /// Returns the last part of the path.
    pub(crate) fn file_name(&self) -> &str {
        self.meta.location.filename().unwrap_or("trace")
    }

    /// Finds the index of the object. Returns `None` if there is none, or it is older than the object.
    pub(crate) fn index(&self) -> Result<Option<Object>, Error> {
        match Object::find(&format!("{}.tmi", self.address)) {
            Ok(index) if index.meta.last_modified >= self.meta.last_modified => Ok(Some(index)),
            Ok(_) => Ok(None),
            // a store may hide objects that a user may not read
            Err(error) if matches!(error.kind(), ErrorKind::Read { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Requests a range, or the whole object.
    pub(crate) fn get(
        &self,
        range: Option<Range<u64>>,
    ) -> BoxFuture<'static, Result<GetResult, object_store::Error>> {
        let (store, path) = (Arc::clone(&self.store), self.meta.location.clone());
        let options = GetOptions {
            if_match: self.meta.e_tag.clone(),
            range: range.map(GetRange::Bounded),
            ..GetOptions::default()
        };
        Box::pin(async move { store.get_opts(&path, options).await })
    }
}
