//! The color of a language, the same in every picture.

/// Number of line colors. `assets/chart.css` and the page's `style.css` define them, in the same order.
pub const COLORS: usize = 8;

/// The languages of the original blog posts. No two share a color.
const FIRST: [&str; COLORS] = ["python", "rust", "node", "dotnet", "java", "go", "elixir", "c"];

/// The color of a runtime's lines, by its name alone, so that it does not depend on other lines or the catalog. There
/// are more languages than distinguishable colors, so lines also have markers and names.
pub fn color_of(runtime: &str) -> usize {
    let own = FIRST.iter().position(|name| *name == runtime);
    own.unwrap_or_else(|| runtime.bytes().map(usize::from).sum::<usize>() % COLORS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_color_and_original_languages_differ() {
        for (color, name) in FIRST.iter().enumerate() {
            assert_eq!(color_of(name), color);
        }
        for name in ["", "zig", "my-own", "çà"] {
            assert!(color_of(name) < COLORS);
            assert_eq!(color_of(name), color_of(name));
        }
    }
}
