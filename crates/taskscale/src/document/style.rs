//! Emphasis as the styles of a terminal.

use anstyle::{AnsiColor, Style};

use super::model::Emphasis;

pub(super) fn style(emphasis: Emphasis) -> Style {
    match emphasis {
        Emphasis::Plain => Style::new(),
        Emphasis::Strong => Style::new().bold(),
        Emphasis::Quiet => Style::new().dimmed(),
        Emphasis::Good => AnsiColor::Green.on_default().bold(),
        Emphasis::Doubtful => AnsiColor::Yellow.on_default(),
        Emphasis::Bad => AnsiColor::Red.on_default(),
    }
}

/// The text in the style, if color is on.
pub fn painted(text: &str, style: Style, color: bool) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
