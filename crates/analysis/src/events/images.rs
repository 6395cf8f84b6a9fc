//! Which image events are of which URL: `ImagePaintingHandler` of DevTools. `Decode Image` is of the image that its thread painted
//! last, else of the one that is known by the reference that the thread decoded last.

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

/// Names of these events.
pub(crate) fn is_image(name: &[u8]) -> bool {
    matches!(name, b"Decode Image" | b"Draw LazyPixelRef")
}

/// An event of an image.
struct Image {
    role: Role,
    input: usize,
    /// Among all events.
    number: u64,
    pid: Box<[u8]>,
    tid: Box<[u8]>,
    /// The URL that is painted, or the reference.
    text: Option<Box<[u8]>>,
    /// Whether a condition takes the reference for true.
    is_true: bool,
}

/// All of them, in the order of the inputs.
#[derive(Default)]
pub(crate) struct Images {
    all: Vec<Image>,
    bytes: u64,
}

impl Images {
    /// Takes an event, the `number`th of its stretch, if it is one of them.
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
        /// Of the value itself, and of what is made of it.
        const OWN: usize = 2 * size_of::<Image>() + 100;
        let text = image.text.as_ref().map_or(0, |text| text.len());
        self.bytes += (OWN + 2 * (image.pid.len() + image.tid.len() + text)) as u64;
        self.all.push(image);
    }

    /// Takes over those of a later stretch of an input, before which `first` events stand.
    pub(crate) fn append(&mut self, later: Images, input: usize, first: u64) {
        for own in later.all {
            self.push(Image { input, number: own.number + first, ..own });
        }
    }

    /// Bytes of heap.
    pub(crate) fn heap(&self) -> u64 {
        self.bytes
    }

    /// URLs by the numbers of events, of those that are of an image.
    pub(crate) fn urls(&self) -> HashMap<u64, Box<[u8]>> {
        type Place<'i> = (usize, &'i [u8], &'i [u8]);
        let mut painted: HashMap<Place<'_>, &Image> = HashMap::default();
        let mut decoded: HashMap<Place<'_>, &Image> = HashMap::default();
        let mut by_reference: HashMap<(usize, &[u8]), &Image> = HashMap::default();
        let mut urls: HashMap<u64, Box<[u8]>> = HashMap::default();
        let url = |paint: &Image| paint.text.clone().unwrap_or_default();
        for own in &self.all {
            let place = (own.input, &*own.pid, &*own.tid);
            match (own.role, &own.text) {
                (Role::Paint, _) => drop(painted.insert(place, own)),
                (Role::DecodeReference, Some(_)) => drop(decoded.insert(place, own)),
                (Role::DrawReference, Some(reference)) => {
                    if let Some(paint) = painted.get(&place) {
                        by_reference.insert((own.input, reference), paint);
                    }
                }
                (Role::Decode, _) => {
                    let of_reference = || {
                        let reference = decoded.get(&place)?.text.as_deref()?;
                        by_reference.get(&(own.input, reference))
                    };
                    let paint = painted.get(&place).or_else(of_reference);
                    urls.insert(own.number, paint.map_or_else(Box::default, |own| url(own)));
                }
                _ => {}
            }
        }
        // what is drawn is looked up when all is known
        for own in self.all.iter().filter(|own| own.role == Role::DrawReference && own.is_true) {
            let reference = own.text.as_deref().unwrap_or_default();
            let paint = by_reference.get(&(own.input, reference));
            urls.insert(own.number, paint.map_or_else(Box::default, |own| url(own)));
        }
        urls
    }
}
