//! The report as one HTML file that needs nothing else: no network, no server, no other file.
//!
//! The page itself (markup, style, program) is an asset that `report/` builds; only data is put in here. Texts in it
//! come from programs, manifests and results that somebody may have sent. They are JSON inside a block that no browser
//! interprets, can neither end that block nor act where they are shown, and the page's policy allows no other script.

use std::io::{self, Write};

use serde::Serialize;

use super::embedded_json::EmbeddedJson;
use super::page::{PageCampaign, PageData};

/// Built from `report/` by `npm run build`; never edited by hand.
const PAGE: &str = include_str!("../../assets/report.html");
/// Stands where the data is to be.
const DATA: &str = "@@TASKSCALE_DATA@@";

/// The page of one or more campaigns. The first is the one that others are compared with.
pub fn html(campaigns: impl Into<Vec<PageCampaign>>) -> String {
    let mut page = Vec::new();
    match write_html(campaigns, &mut page) {
        Ok(()) => String::from_utf8_lossy(&page).into_owned(),
        // Memory takes all that is written, and the model holds no type that refuses to be written.
        Err(error) => unreachable!("the data of a page is always valid JSON: {error}"),
    }
}

/// The same, piece by piece: the text of a long campaign need not be in memory beside its figures.
pub fn write_html(campaigns: impl Into<Vec<PageCampaign>>, mut out: impl Write) -> io::Result<()> {
    let (before, after) = PAGE.split_once(DATA).unwrap_or((PAGE, ""));
    out.write_all(before.as_bytes())?;
    PageData::of(campaigns).serialize(&mut serde_json::Serializer::with_formatter(&mut out, EmbeddedJson))?;
    out.write_all(after.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_asset_has_one_place_for_data() {
        assert_eq!(PAGE.matches(DATA).count(), 1, "report/: npm run build");
        assert!(PAGE.len() < 1024 * 1024, "{} bytes", PAGE.len());
        assert!(PAGE.contains("Content-Security-Policy"));
    }
}
