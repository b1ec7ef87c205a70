//! The colour of a language, the same in every picture.

/// How many colours lines have. Which they are, `svg/style.rs` and the page's `chart.ts` say, in the same order.
pub const COLOURS: usize = 8;

/// The languages of the three posts, of which no two share a colour.
const FIRST: [&str; COLOURS] = ["python", "rust", "node", "dotnet", "java", "go", "elixir", "c"];

/// The colour of a runtime's lines, by its name alone: neither what else is in a picture nor the place in a catalogue
/// changes it. There are more languages than colours that all readers can tell apart, so lines have marks and names too.
pub fn colour_of(runtime: &str) -> usize {
    let own = FIRST.iter().position(|name| *name == runtime);
    own.unwrap_or_else(|| runtime.bytes().map(usize::from).sum::<usize>() % COLOURS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_posts_languages_differ_and_every_name_has_a_colour() {
        for (colour, name) in FIRST.iter().enumerate() {
            assert_eq!(colour_of(name), colour);
        }
        for name in ["", "zig", "my-own", "çà"] {
            assert!(colour_of(name) < COLOURS);
            assert_eq!(colour_of(name), colour_of(name));
        }
    }
}
