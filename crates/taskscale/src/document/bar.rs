//! Bars made of characters.

/// How bars are drawn next to a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bars {
    /// `####`: for files, pipes and plain terminals.
    #[default]
    Plain,
    /// Left out, as in a pipe.
    Hidden,
    /// Block elements, to an eighth of a column.
    Blocks,
}

/// Left one to seven eighths of a column.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar over `share` (0 to 1) of `columns`. Every nonzero value is visible.
pub fn bar(share: f64, columns: usize, bars: Bars) -> String {
    if share.is_nan() || share <= 0.0 {
        return String::new();
    }
    let length = share.min(1.0) * columns as f64;
    match bars {
        Bars::Hidden => String::new(),
        Bars::Plain if length < 0.5 => ".".to_owned(),
        Bars::Plain => "#".repeat(length.round() as usize),
        Bars::Blocks => {
            let eighths = ((length * 8.0).round() as usize).max(1);
            let mut bar = "█".repeat(eighths / 8);
            bar.extend((eighths % 8).checked_sub(1).map(|i| EIGHTHS[i]));
            bar
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sanitize::width;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bar_length_is_proportional_to_value() {
        assert_eq!(bar(1.0, 4, Bars::Blocks), "████");
        assert_eq!(bar(0.5, 4, Bars::Blocks), "██");
        assert_eq!(bar(0.4, 4, Bars::Blocks), "█▋");
        assert_eq!(bar(1e-9, 4, Bars::Blocks), "▏");
        assert_eq!(bar(0.0, 4, Bars::Blocks), "");
        assert_eq!(bar(f64::NAN, 4, Bars::Plain), "");
        assert_eq!(bar(0.7, 10, Bars::Plain), "#######");
        assert_eq!(bar(0.01, 10, Bars::Plain), ".");
    }

    proptest! {
        #[test]
        fn bars_fit_their_column(share in any::<f64>(), columns in 1usize..100) {
            for bars in [Bars::Plain, Bars::Blocks] {
                prop_assert!(width(&bar(share, columns, bars)) <= columns);
            }
        }
    }
}
