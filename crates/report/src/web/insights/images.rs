//! Images that are larger than needed (DevTools: `ImageDelivery`).

use crate::web::insights::found::{Found, Offender, State, rounded};
use crate::web::insights::page::Page;
use crate::web::network::Request;
use serde::Serialize;
use tracemill_analysis::Trace;
use tracemill_analysis::events::pages::{Mark, Marked};
use tracemill_analysis::value::Value;
use tracemill_analysis::value::typed::object;
use tracemill_trace::spill::hash::HashMap;

/// Bytes per pixel of a well compressed AVIF image.
const BYTES_PER_PIXEL: f64 = 2.0 / 12.0;
/// Bytes of a GIF from which a video is advised.
const LARGE_GIF: f64 = 100.0 * 1024.0;
/// Savings in bytes that do not count, and those of images with several sizes.
const FEW_BYTES: f64 = 4096.0;
const FEW_BYTES_OF_SIZES: f64 = 12288.0;

/// Images that are larger than needed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImageDelivery {
    /// Bytes that all images could save.
    pub wasted_bytes: f64,
    /// The images, the largest savings first.
    pub images: Vec<LargeImage>,
}

/// An image that is larger than needed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LargeImage {
    /// The request for the image.
    #[serde(flatten)]
    pub request: Offender,
    /// DevTools' key of the largest paint of the image.
    pub paint: String,
    /// Bytes that all optimizations save together.
    pub wasted_bytes: f64,
    /// Possible improvements.
    pub optimizations: Vec<Optimization>,
}

/// A way to make an image smaller.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Optimization {
    /// `adjust-compression`, `modern-format-or-compression`, `video-format` or `responsive-size`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Bytes that this optimization alone saves.
    pub bytes: f64,
    /// Width and height of the file in pixels, if the size is too large.
    pub file: Option<[f64; 2]>,
    /// Displayed width and height in pixels, if the size is too large.
    pub display: Option<[f64; 2]>,
}

impl Optimization {
    fn of_file(kind: &'static str, bytes: f64) -> Self {
        Optimization { kind, bytes, file: None, display: None }
    }
}

object! {
    struct Painted { url, width, height, src_width, src_height, #[serde(rename = "isCSS")] is_css, is_picture, srcset_attribute }

    struct Ratio { dpr }
}

/// A paint of an image, with the displayed size.
struct Paint<'t> {
    mark: &'t Marked,
    data: Painted,
    size: [f64; 2],
}

impl Paint<'_> {
    fn pixels(&self) -> f64 {
        self.size[0] * self.size[1]
    }
}

/// Device pixel ratios, if both are known. Chrome paints with that of the screen.
#[derive(Clone, Copy)]
pub(crate) struct Ratios {
    screen: f64,
    page: f64,
}

impl Ratios {
    /// Returns the ratios of a recording. Cost: visits the page events up to the first with a ratio.
    pub(crate) fn of(trace: &Trace) -> Option<Self> {
        let known = |ratio: &f64| *ratio != 0.0;
        let screen = trace.host_ratio.filter(known)?;
        let first = trace.marks().iter().find(|mark| mark.mark == Mark::MainViewport)?;
        let page = first.data::<Ratio>()?.dpr.number().filter(known)?;
        Some(Ratios { screen, page })
    }
}

/// Returns the largest paint of each URL.
fn paints<'t>(page: &Page<'t>, ratios: Option<Ratios>) -> HashMap<String, Paint<'t>> {
    let side = |value: &Value| {
        let side = value.number().unwrap_or(f64::NAN);
        ratios.map_or(side, |ratios| side / ratios.screen * ratios.page)
    };
    let mut largest: HashMap<String, Paint<'t>> = HashMap::default();
    for mark in page.marks(Mark::PaintImage) {
        let data: Painted = mark.data().unwrap_or_default();
        let Some(url) = data.url.printable().filter(|url| !url.is_empty()) else { continue };
        let paint = Paint { mark, size: [side(&data.width), side(&data.height)], data };
        match largest.get_mut(&url) {
            Some(known) if known.pixels() > paint.pixels() => {}
            Some(known) => *known = paint,
            None => drop(largest.insert(url, paint)),
        }
    }
    largest
}

/// Returns the optimization of the file's format, whatever its savings.
fn of_format(request: &Request, bytes: f64, pixels: f64) -> Option<Optimization> {
    if request.mime == "image/gif" {
        if bytes <= LARGE_GIF {
            return None;
        }
        let body = request.body.unwrap_or(f64::NAN);
        let part = rounded(29.1 * body.log10() - 100.7) / 100.0;
        return Some(Optimization::of_file("video-format", rounded(bytes * part)));
    }
    let saved = bytes - rounded(BYTES_PER_PIXEL * pixels);
    let kind = match &*request.mime {
        "image/webp" | "image/avif" => "adjust-compression",
        _ => "modern-format-or-compression",
    };
    (bytes / pixels > BYTES_PER_PIXEL).then(|| Optimization::of_file(kind, saved))
}

fn large_image(request: &Request, paint: &Paint<'_>) -> Option<LargeImage> {
    let of_file = |value: &Value| value.number().unwrap_or(f64::NAN);
    let file = [of_file(&paint.data.src_width), of_file(&paint.data.src_height)];
    let pixels = file[0] * file[1];
    let bytes = request.body.unwrap_or(f64::NAN).min(request.transfer.unwrap_or(f64::NAN));
    let mut optimizations: Vec<Optimization> =
        of_format(request, bytes, pixels).into_iter().collect();
    let of_format = optimizations.iter().map(|found| found.bytes).fold(0.0, f64::max);
    let mut wasted_bytes = of_format;
    let wasted_part = 1.0 - paint.pixels() / pixels;
    if wasted_part > 0.0 && !paint.data.is_css.is_true() {
        let saved = rounded(wasted_part * bytes);
        let has_sizes = paint.data.is_picture.is_true() || paint.data.srcset_attribute.is_true();
        if !has_sizes || saved > FEW_BYTES_OF_SIZES {
            wasted_bytes += rounded(wasted_part * (bytes - of_format));
            optimizations.push(Optimization {
                kind: "responsive-size",
                bytes: saved,
                file: Some(file.map(rounded)),
                display: Some(paint.size.map(rounded)),
            });
        }
    }
    optimizations.retain(|found| found.bytes > FEW_BYTES);
    let paint = format!("r-{}", paint.mark.number);
    let request = Offender::of(request);
    let image = LargeImage { request, paint, wasted_bytes, optimizations };
    (!image.optimizations.is_empty()).then_some(image)
}

pub(crate) fn insight(page: &Page<'_>, ratios: Option<Ratios>) -> Found<ImageDelivery> {
    let paints = paints(page, ratios);
    let mut found = Vec::new();
    for request in &page.requests {
        if request.resource != "Image" || request.mime == "image/svg+xml" {
            continue;
        }
        // A paint names the URL before redirects.
        let url = request.redirects.first().unwrap_or(&request.url);
        let image = paints.get(url).and_then(|paint| large_image(request, paint));
        found.extend(image.map(|image| (request.body.unwrap_or(0.0), image)));
    }
    found.sort_by(|(a, left), (b, right)| {
        right.wasted_bytes.total_cmp(&left.wasted_bytes).then_with(|| b.total_cmp(a))
    });
    let images: Vec<LargeImage> = found.into_iter().map(|(_, image)| image).collect();
    let wasted_bytes = images.iter().map(|image| image.wasted_bytes).sum();
    let state = State::fail_if(!images.is_empty());
    Found::new(state, ImageDelivery { wasted_bytes, images })
}
