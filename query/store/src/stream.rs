//! The bytes of a whole object as a blocking reader.

use crate::errors::io_error;
use crate::object::{Object, start};
use futures::future::ready;
use futures::{StreamExt, stream};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tracemill_trace::Error;

/// Number of parts of an answer that wait for the reader.
const WAITING: usize = 8;

/// Bytes that a download writes at once.
const PART: usize = 256 << 10;

/// A part of an object, or the error that ends it.
type Part = Result<Vec<u8>, object_store::Error>;

/// Reads an object from its start. The first call sends the request.
pub(crate) struct ObjectStream {
    object: Object,
    parts: Option<Receiver<Part>>,
    part: Vec<u8>,
    /// Number of bytes of `part` that were read.
    read: usize,
}

impl ObjectStream {
    pub(crate) fn new(object: Object) -> Self {
        ObjectStream { object, parts: None, part: Vec::new(), read: 0 }
    }
}

/// Copies a whole object to a new file.
///
/// # Errors
/// Returns an error if the object cannot be read, or the file cannot be written.
pub(crate) fn download(object: &Object, path: &Path) -> Result<(), Error> {
    let failed = |error| Error::write(path.display(), error);
    let mut file = File::create_new(path).map_err(failed)?;
    let mut stream = ObjectStream::new(object.clone());
    let mut part = vec![0; PART];
    loop {
        match stream.read(&mut part).map_err(|error| Error::read(object.address(), error))? {
            0 => return Ok(()),
            count => file.write_all(&part[..count]).map_err(failed)?,
        }
    }
}

/// Sends the parts of an answer, until the reader is dropped.
async fn send_parts(object: Object, sender: Sender<Part>) {
    let mut parts = match object.get(None).await {
        Ok(answer) => answer.into_stream(),
        Err(error) => stream::once(ready(Err(error))).boxed(),
    };
    while let Some(part) = parts.next().await {
        if sender.send(part.map(|bytes| bytes.to_vec())).await.is_err() {
            return;
        }
    }
}

impl Read for ObjectStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let parts = match &mut self.parts {
            Some(parts) => parts,
            None => {
                let (sender, receiver) = channel(WAITING);
                let sending = send_parts(self.object.clone(), sender);
                start(self.object.address(), sending).map_err(io::Error::other)?;
                self.parts.insert(receiver)
            }
        };
        while self.read == self.part.len() {
            match parts.blocking_recv() {
                Some(Ok(part)) => (self.part, self.read) = (part, 0),
                Some(Err(error)) => return Err(io_error(error)),
                None => return Ok(0),
            }
        }
        let rest = &self.part[self.read..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}
