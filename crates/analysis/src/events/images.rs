//! Finds the URLs of image events (DevTools: `ImagePaintingHandler`).
//!
//! A `Decode Image` event belongs to the last image painted on its thread. If no image was painted,
//! it belongs to the last image reference decoded on its thread.

use crate::value::Value;
use crate::value::args::Args;
use crate::value::typed::decode_short;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::spill::hash::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Paint,
    Decode,
    DecodeReference,
    DrawReference,
}

pub(crate) fn is_image(name: &[u8]) -> bool {
    matches!(name, b"Decode Image" | b"Draw LazyPixelRef")
}

/// An event that paints, decodes or draws an image.
struct Image {
    role: Role,
    input: usize,
    number: u64,
    pid: Box<[u8]>,
    tid: Box<[u8]>,
    /// For a paint event, the URL of the image; for other events, the reference of an image.
    text: Option<Box<[u8]>>,
    /// Whether JavaScript treats the reference as true.
    is_true: bool,
}

/// Image events in input order.
#[derive(Default)]
pub(crate) struct Images {
    all: Vec<Image>,
    bytes: u64,
}

impl Images {
    /// Adds an event, the `number`th of its chunk, if it belongs to an image.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, number: u64) {
        let Some([b'"', name @ .., b'"']) = event.field(Field::Name) else { return };
        let role = match name {
            b"PaintImage" => Role::Paint,
            b"Decode Image" => Role::Decode,
            b"Decode LazyPixelRef" => Role::DecodeReference,
            b"Draw LazyPixelRef" => Role::DrawReference,
            _ => return,
        };
        let args = event.field(Field::Args).unwrap_or_default();
        let args: Args = decode_short(args);
        let reference = &args.lazy_pixel_ref;
        let text = match role {
            Role::Paint => args.url_or_request(name).0.and_then(Value::text).map(<[u8]>::to_vec),
            Role::Decode => None,
            _ if *reference == Value::Missing => None,
            _ => Some(reference.template().into_owned()),
        };
        let field = |field| event.field(field).unwrap_or_default().into();
        let (pid, tid) = (field(Field::Pid), field(Field::Tid));
        let is_true = reference.is_true();
        self.push(Image { role, input: 0, number, pid, tid, text: text.map(Into::into), is_true });
    }

    fn push(&mut self, image: Image) {
        /// Heap bytes of an event and of its results.
        const OWN: usize = 2 * size_of::<Image>() + 100;
        let text = image.text.as_ref().map_or(0, |text| text.len());
        self.bytes += (OWN + 2 * (image.pid.len() + image.tid.len() + text)) as u64;
        self.all.push(image);
    }

    /// Adds the events of a later chunk of an input, before which there are `first` events.
    pub(crate) fn append(&mut self, later: Images, input: usize, first: u64) {
        for image in later.all {
            self.push(Image { input, number: image.number + first, ..image });
        }
    }

    pub(crate) fn heap(&self) -> u64 {
        self.bytes
    }

    /// Returns the URLs of image events by event number.
    pub(crate) fn urls(&self) -> HashMap<u64, Box<[u8]>> {
        type Place<'i> = (usize, &'i [u8], &'i [u8]);
        let mut painted: HashMap<Place<'_>, &Image> = HashMap::default();
        let mut decoded: HashMap<Place<'_>, &Image> = HashMap::default();
        let mut by_reference: HashMap<(usize, &[u8]), &Image> = HashMap::default();
        let mut urls: HashMap<u64, Box<[u8]>> = HashMap::default();
        let url = |paint: &Image| paint.text.clone().unwrap_or_default();
        for image in &self.all {
            let place = (image.input, &*image.pid, &*image.tid);
            match (image.role, &image.text) {
                (Role::Paint, _) => drop(painted.insert(place, image)),
                (Role::DecodeReference, Some(_)) => drop(decoded.insert(place, image)),
                (Role::DrawReference, Some(reference)) => {
                    if let Some(paint) = painted.get(&place) {
                        by_reference.insert((image.input, reference), paint);
                    }
                }
                (Role::Decode, _) => {
                    let of_reference = || {
                        let reference = decoded.get(&place)?.text.as_deref()?;
                        by_reference.get(&(image.input, reference))
                    };
                    let paint = painted.get(&place).or_else(of_reference);
                    urls.insert(
                        image.number,
                        paint.map_or_else(Box::default, |source| url(source)),
                    );
                }
                _ => {}
            }
        }
        // Draw events are resolved last, when the URLs of all references are known.
        for image in
            self.all.iter().filter(|image| image.role == Role::DrawReference && image.is_true)
        {
            let reference = image.text.as_deref().unwrap_or_default();
            let paint = by_reference.get(&(image.input, reference));
            urls.insert(image.number, paint.map_or_else(Box::default, |source| url(source)));
        }
        urls
    }
}
