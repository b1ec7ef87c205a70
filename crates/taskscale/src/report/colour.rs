//! The color of a language, the same in every picture.

/// Number of line colors. `assets/chart.css` and the page's `style.css` define them, in the same order.
pub const COLOURS: usize = 8;

/// The languages of the original blog posts. No two share a color.
const FIRST: [&str; COLOURS] = ["python", "rust", "node", "dotnet", "java", "go", "elixir", "c"];

/// The color of a runtime's lines, by its name alone, so that it does not depend on other lines or the catalog. There
/// are more languages than distinguishable colors, so lines also have markers and names.
pub fn colour_of(runtime: &str) -> usize {
    let own = FIRST.iter().position(|name| *name == runtime);
    own.unwrap_or_else(|| runtime.bytes().map(usize::from).sum::<usize>() % COLOURS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_color_and_original_languages_differ() {
        for (colour, name) in FIRST.iter().enumerate() {
            assert_eq!(colour_of(name), colour);
        }
        for name in ["", "zig", "my-own", "çà"] {
            assert!(colour_of(name) < COLOURS);
            assert_eq!(colour_of(name), colour_of(name));
        }
    }
}
