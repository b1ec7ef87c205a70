//! Well-formed SVG for any texts. Knows nothing of charts.

use super::style::CSS;
use crate::document::{escaped, joined};

#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG document being written, one element a line.
pub struct Svg(String);

impl Svg {
    /// Begins a document of a size in pixels, with its description for screen readers. `id` distinguishes it from other
    /// charts on the same page.
    pub fn new(id: &str, width: f64, height: f64, title: &str, description: &str) -> Svg {
        let id = escaped(id);
        let (w, h) = (number(width), number(height));
        let mut svg = Svg(String::new());
        svg.line(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"taskscale\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"0 0 {w} {h}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">"
        ));
        svg.line(&format!("<title id=\"{id}-title\">{}</title>", escaped(title)));
        svg.line(&format!("<desc id=\"{id}-desc\">{}</desc>", escaped(description)));
        svg.line(&format!("<style>\n{CSS}</style>"));
        svg.rectangle(0.5, 0.5, width - 1.0, height - 1.0, "card", 8.0);
        svg
    }

    /// A group with a tooltip.
    pub fn group(&mut self, title: &str, draw: impl FnOnce(&mut Svg)) {
        self.line(&format!("<g>\n<title>{}</title>", escaped(title)));
        draw(self);
        self.line("</g>");
    }

    /// `radius` rounds its corners; draws nothing if the area is 0.
    pub fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str, radius: f64) {
        if width <= 0.0 || height <= 0.0 {
            return;
        }
        let radius = if radius > 0.0 { format!(" rx=\"{}\"", number(radius)) } else { String::new() };
        self.line(&format!(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{radius}/>",
            escaped(class),
            number(x),
            number(y),
            number(width),
            number(height)
        ));
    }

    /// A polyline.
    pub fn path(&mut self, points: &[(f64, f64)], class: &str) {
        if points.is_empty() {
            return;
        }
        let points = joined(points.iter().map(|(x, y)| format!("{} {}", number(*x), number(*y))), "L");
        self.line(&format!("<path class=\"{}\" d=\"M{points}\"/>", escaped(class)));
    }

    /// A polygon.
    pub fn shape(&mut self, points: &[(f64, f64)], class: &str) {
        let points = joined(points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))), " ");
        self.line(&format!("<polygon class=\"{}\" points=\"{points}\"/>", escaped(class)));
    }

    pub fn circle(&mut self, x: f64, y: f64, radius: f64, class: &str) {
        let (x, y, radius) = (number(x), number(y), number(radius));
        self.line(&format!("<circle class=\"{}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>", escaped(class)));
    }

    pub fn text(&mut self, x: f64, y: f64, class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        self.line(&format!(
            "<text class=\"{}\" x=\"{}\" y=\"{}\"{anchor}>{}</text>",
            escaped(class),
            number(x),
            number(y),
            escaped(text)
        ));
    }

    pub fn finish(mut self) -> String {
        self.line("</svg>");
        self.0
    }

    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }
}

/// Two decimals at most: a hundredth of a pixel, and the same text on every machine.
fn number(value: f64) -> String {
    // NaN and infinity would make the SVG invalid.
    let text = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_short_and_finite() {
        assert_eq!(number(12.0), "12");
        assert_eq!(number(0.126), "0.13");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(f64::NAN), "0");
    }

    proptest! {
        #[test]
        fn any_text_yields_a_valid_document(text in any::<String>(), class in "[a-z\"<>&' ]{0,20}") {
            let mut svg = Svg::new("a", 100.0, 100.0, &text, &text);
            svg.group(&text, |svg| svg.text(1.0, 2.0, &class, Anchor::Start, &text));
            let svg = svg.finish();
            let document = roxmltree::Document::parse(&svg).unwrap();
            let mut texts = document.descendants().filter(|node| node.has_tag_name("text"));
            let node = texts.next().unwrap();
            prop_assert!(texts.next().is_none());
            prop_assert_eq!(node.attribute("class"), Some(class.as_str()));
            let said = node.text().unwrap_or_default();
            prop_assert_eq!(said.chars().count(), text.chars().count());
        }
    }
}
