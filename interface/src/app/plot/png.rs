//! Pictures as PNG: paths by tiny-skia, letters of Noto Sans Mono.

use noto_sans_mono_bitmap::{get_raster, get_raster_width, FontWeight, RasterHeight};
use tiny_skia::{
    Color, FillRule, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Stroke, Transform,
};

use super::{Anchor, Drawing, Symbol, BLACK, HEIGHT, WHITE, WIDTH};
use crate::error::{Error, Result, Status};

/// Number of pixels in a point, the unit of positions and lengths.
const SCALE: f32 = 2.0;
/// Letters of 12 points.
const SIZE: RasterHeight = RasterHeight::Size24;
const WEIGHT: FontWeight = FontWeight::Regular;
/// Rows of a letter's box above its base line.
const ASCENT: i32 = 19;
/// Width in pixels of the white around the names of series.
const AROUND: i32 = 3;

/// A colour `#rrggbb` as red, green and blue.
fn rgb(colour: &str) -> [u8; 3] {
    [1, 3, 5].map(|k| {
        colour.get(k..k + 2).and_then(|part| u8::from_str_radix(part, 16).ok()).unwrap_or(0)
    })
}

fn paint(colour: &str, opacity: u8) -> Paint<'static> {
    let [r, g, b] = rgb(colour);
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(Color::from_rgba8(r, g, b, opacity));
    paint
}

/// A picture in pixels, on which marks of the panel that begins `below` points under its top are drawn.
struct Page {
    map: Pixmap,
    below: f64,
}

/// The pixels of a text: column and row from its upper left corner, and the coverage, 0 to 255.
fn covered(text: &str) -> impl Iterator<Item = (i32, i32, u8)> + use<'_> {
    let width = get_raster_width(WEIGHT, SIZE) as i32;
    text.chars().enumerate().flat_map(move |(k, letter)| {
        let raster = get_raster(letter, WEIGHT, SIZE).or_else(|| get_raster('?', WEIGHT, SIZE));
        let pixels = raster.map_or(&[][..], |raster| raster.pixels());
        pixels
            .iter()
            .enumerate()
            .map(move |(at, ink)| (k as i32 * width + at as i32 % width, at as i32 / width, *ink))
    })
}

/// Width of a text in points.
fn width(text: &str) -> f64 {
    (text.chars().count() * get_raster_width(WEIGHT, SIZE)) as f64 / f64::from(SCALE)
}

impl Page {
    fn ink(&mut self, x: i32, y: i32, ink: u8, [r, g, b]: [u8; 3]) {
        let (across, down) = (self.map.width() as i32, self.map.height() as i32);
        if !(0..across).contains(&x) || !(0..down).contains(&y) {
            return;
        }
        let pixel = &mut self.map.pixels_mut()[(y * across + x) as usize];
        let mix = |below: u8, own: u8| {
            let (below, own, ink) = (u32::from(below), u32::from(own), u32::from(ink));
            ((below * (255 - ink) + own * ink + 127) / 255) as u8
        };
        let mixed = [mix(pixel.red(), r), mix(pixel.green(), g), mix(pixel.blue(), b)];
        // The page is opaque everywhere.
        if let Some(of) = PremultipliedColorU8::from_rgba(mixed[0], mixed[1], mixed[2], 255) {
            *pixel = of;
        }
    }

    /// Draws text whose base line begins at a point; `turned`: from below to above.
    fn text(&mut self, [x, y]: [f64; 2], text: &str, colour: &str, turned: bool) {
        let place = |v: f64| (v * f64::from(SCALE)).round() as i32;
        let (left, base) = (place(x), place(y + self.below));
        let colour = rgb(colour);
        for (across, down, ink) in covered(text).filter(|(.., ink)| *ink > 0) {
            let down = down - ASCENT;
            match turned {
                false => self.ink(left + across, base + down, ink, colour),
                true => self.ink(left + down, base - across, ink, colour),
            }
        }
    }

    /// Draws white where letters and their surroundings will be.
    fn blank(&mut self, [x, y]: [f64; 2], text: &str) {
        let place = |v: f64| (v * f64::from(SCALE)).round() as i32;
        let (left, base) = (place(x), place(y + self.below));
        for (across, down, _) in covered(text).filter(|(.., ink)| *ink > 127) {
            for dx in -AROUND..=AROUND {
                for dy in -AROUND..=AROUND {
                    let down = down - ASCENT + dy;
                    self.ink(left + across + dx, base + down, 255, rgb(WHITE));
                }
            }
        }
    }

    fn transform(&self) -> Transform {
        Transform::from_scale(SCALE, SCALE).pre_translate(0.0, self.below as f32)
    }

    fn fill(&mut self, path: Option<Path>, colour: &str, opacity: u8) {
        let Some(path) = path else { return };
        let transform = self.transform();
        let paint = paint(colour, opacity);
        self.map.fill_path(&path, &paint, FillRule::Winding, transform, None);
    }

    fn stroke(&mut self, lines: &[&[[f64; 2]]], colour: &str) {
        let mut builder = PathBuilder::new();
        for line in lines {
            for (k, [x, y]) in line.iter().enumerate() {
                match k {
                    0 => builder.move_to(*x as f32, *y as f32),
                    _ => builder.line_to(*x as f32, *y as f32),
                }
            }
        }
        let Some(path) = builder.finish() else { return };
        let transform = self.transform();
        self.map.stroke_path(&path, &paint(colour, 255), &Stroke::default(), transform, None);
    }

    fn draw(&mut self, mark: &Drawing) {
        match mark {
            Drawing::Text { at: [x, y], anchor, text } => {
                let left = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => 0.5 * width(text),
                    Anchor::End => width(text),
                };
                self.text([x - left, *y], text, BLACK, false);
            }
            Drawing::Turned { at: [x, y], text } => {
                self.text([*x, y + 0.5 * width(text)], text, BLACK, true);
            }
            Drawing::Name { at: [x, y], text, colour } => {
                let at = [x - width(text), *y];
                self.blank(at, text);
                self.text(at, text, colour, false);
            }
            Drawing::Rule { points, colour } | Drawing::Curve { points, colour } => {
                self.stroke(&[points], colour);
            }
            Drawing::Band { left, right, top, height, colour } => {
                let ends = [*left, *top, right - left, *height].map(|v| v as f32);
                let area = tiny_skia::Rect::from_xywh(ends[0], ends[1], ends[2], ends[3]);
                self.fill(area.map(PathBuilder::from_rect), colour, 77);
            }
            Drawing::Bar { x, top, bottom, colour } => {
                let end = |y: f64| [[x - 3.0, y], [x + 3.0, y]];
                self.stroke(&[&end(*top), &[[*x, *top], [*x, *bottom]], &end(*bottom)], colour);
            }
            Drawing::Symbol { at: [x, y], symbol, radius, colour } => {
                let (x, y, r) = (*x as f32, *y as f32, *radius as f32);
                let path = match symbol {
                    Symbol::Disc => PathBuilder::from_circle(x, y, r),
                    Symbol::Square => tiny_skia::Rect::from_xywh(x - r, y - r, 2.0 * r, 2.0 * r)
                        .map(PathBuilder::from_rect),
                    Symbol::Triangle => {
                        let mut builder = PathBuilder::new();
                        builder.move_to(x, y - 1.2 * r);
                        builder.line_to(x + 1.2 * r, y + r);
                        builder.line_to(x - 1.2 * r, y + r);
                        builder.close();
                        builder.finish()
                    }
                };
                self.fill(path, colour, 255);
            }
        }
    }
}

/// The panels below each other, with two pixels a point.
pub fn page(panels: &[Vec<Drawing>]) -> Result<Vec<u8>> {
    let failed = |why: String| Error::new(Status::Internal, format!("picture as PNG: {why}"));
    let [across, down] = [WIDTH, panels.len() * HEIGHT].map(|n| n as u32 * SCALE as u32);
    let Some(mut map) = Pixmap::new(across, down) else {
        return Err(failed(format!("{across} x {down} pixels")));
    };
    map.fill(Color::WHITE);
    let mut page = Page { map, below: 0.0 };
    for (k, marks) in panels.iter().enumerate() {
        page.below = (k * HEIGHT) as f64;
        marks.iter().for_each(|mark| page.draw(mark));
    }
    page.map.encode_png().map_err(|e| failed(e.to_string()))
}
