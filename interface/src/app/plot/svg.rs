//! Pictures in SVG.

use super::{Anchor, Drawing, Symbol, FONT, HEIGHT, WHITE, WIDTH};

/// Escapes text for XML.
fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn points(all: &[[f64; 2]], between: &str) -> String {
    let all: Vec<String> = all.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
    all.join(between)
}

fn element(mark: &Drawing) -> String {
    match mark {
        Drawing::Text { at: [x, y], anchor, text } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", xml(text))
        }
        Drawing::Turned { at: [x, y], text } => format!(
            "<text transform=\"translate({x} {y}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            xml(text)
        ),
        // The text is drawn twice, since not every viewer of SVG supports paint-order.
        Drawing::Name { at: [x, y], text, colour } => {
            let place = format!("x=\"{x}\" y=\"{y}\" text-anchor=\"end\"");
            let text = xml(text);
            format!(
                "<text {place} fill=\"{WHITE}\" stroke=\"{WHITE}\" stroke-width=\"3\">{text}</text>\n\
                 <text {place} fill=\"{colour}\">{text}</text>"
            )
        }
        Drawing::Rule { points: all, colour } => {
            format!("<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\"/>", points(all, "L"))
        }
        Drawing::Curve { points: all, colour } => {
            let all = points(all, " ");
            format!("<polyline points=\"{all}\" fill=\"none\" stroke=\"{colour}\"/>")
        }
        Drawing::Band { left, right, top, height, colour } => format!(
            "<path class=\"mean\" d=\"M{left:.1} {top:.1}H{right}v{height:.1}H{left:.1}z\" fill=\"{colour}\" \
             fill-opacity=\"0.3\"/>"
        ),
        Drawing::Bar { x, top, bottom, colour } => format!(
            "<path class=\"error\" d=\"M{:.1} {top:.1}h6m-3 0V{bottom:.1}m-3 0h6\" fill=\"none\" \
             stroke=\"{colour}\"/>",
            x - 3.0
        ),
        Drawing::Symbol { at: [x, y], symbol, radius: r, colour } => match symbol {
            Symbol::Disc => {
                format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\" fill=\"{colour}\"/>")
            }
            Symbol::Square => {
                let (l, t, d) = (x - r, y - r, 2.0 * r);
                format!("<path d=\"M{l:.1} {t:.1}h{d}v{d}h-{d}z\" fill=\"{colour}\"/>")
            }
            Symbol::Triangle => {
                let (t, a, b, c) = (y - 1.2 * r, 1.2 * r, 2.2 * r, 2.4 * r);
                format!("<path d=\"M{x:.1} {t:.1}l{a:.1} {b:.1}h-{c:.1}z\" fill=\"{colour}\"/>")
            }
        },
    }
}

/// The file with the panels above each other.
pub fn page(panels: &[Vec<Drawing>]) -> String {
    let height = panels.len() * HEIGHT;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"{FONT}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (k, marks) in panels.iter().enumerate() {
        text += &format!("<g transform=\"translate(0 {})\">\n", k * HEIGHT);
        for mark in marks {
            text += &element(mark);
            text.push('\n');
        }
        text += "</g>\n";
    }
    text + "</svg>\n"
}
