//! Breaks down the memory of a task: the slope over N of each part of a program's memory.
//!
//! For any program: classes of mappings (smaps) and the cgroup's kernel memory. An adapter asks the runtime or
//! allocator for more, in separate runs that are never ranked.

mod adapter;
mod jvm;
mod malloc;
mod mappings;
mod moved;
mod overlay;
mod readings;
mod sheet;
mod shown;

pub use adapter::{AdapterHook, adapter_for};
pub use moved::moved;
pub use overlay::with_go_hook;
pub use readings::Readings;
pub use sheet::{PartSource, PerTask, RunParts, UNEXPLAINED};
use sheet::{Sheet, sheet};
pub use shown::Explanation;

use std::path::Path;
use std::{fs, io};

use crate::catalog::Adapter;
use crate::document::{Document, Format, RenderOptions, json};
use crate::files::if_there;

/// An adapter that was not requested by name must explain at least this share of the memory it covers.
const MIN_KNOWN_SHARE: f64 = 0.5;

/// The sheet of a program, and why its adapter was left out, if so. `None` without a slope.
///
/// `insist`: the adapter was requested by name, so it is never left out.
pub fn explained(
    plain: &[RunParts],
    probed: &[RunParts],
    adapter: Option<Adapter>,
    insist: bool,
) -> Option<(Sheet, Option<String>)> {
    let bare = sheet(plain, &[], |_| false)?;
    let Some(adapter) = adapter.filter(|_| !probed.is_empty()) else { return Some((bare, None)) };
    let asked = sheet(plain, probed, adapter::covers(adapter))?;
    let bytes = |sheet: &Sheet, wanted: fn(PartSource) -> bool| {
        sheet.rows.iter().filter(|row| wanted(row.group)).map(|row| row.per_task.bytes).sum::<f64>()
    };
    let known = bytes(&asked, |group| matches!(group, PartSource::Live | PartSource::Unused));
    let covered = bytes(&bare, |group| group == PartSource::Mapped)
        - bytes(&asked, |group| group == PartSource::Mapped);
    if insist || known >= MIN_KNOWN_SHARE * covered {
        return Some((asked, None));
    }
    let share = if covered > 0.0 { known / covered * 100.0 } else { 0.0 };
    let name = adapter.name();
    let why = format!("the adapter `{name}` knows {share:.0}% of what it covers, and was left out");
    Some((bare, Some(why)))
}

/// The sheets in a format. Documents also compare two sheets.
pub fn render(explanations: &[Explanation], format: Format, options: RenderOptions) -> String {
    let document = || {
        let mut document: Document = shown::document(explanations);
        if let [base, new] = explanations {
            let names = Some((&*base.entry, &*new.entry));
            document.blocks.extend(moved(&explanations[..1], &explanations[1..], names).blocks);
        }
        document
    };
    format.render(options, document, || shown::table(explanations), || json::pretty(&explanations))
}

/// The file of sheets in a results folder.
const FILE: &str = "explain.json";

/// Writes sheets into a results folder.
pub fn store(folder: &Path, explanations: &[Explanation]) -> io::Result<()> {
    fs::write(folder.join(FILE), render(explanations, Format::Json, RenderOptions::default()))
}

/// The sheets of a results folder; `None` if it has none.
pub fn load(folder: &Path) -> io::Result<Option<Vec<Explanation>>> {
    let text = if_there(fs::read_to_string(folder.join(FILE)))?;
    Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
}
