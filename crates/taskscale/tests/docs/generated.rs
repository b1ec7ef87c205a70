//! Parts of documents that are generated: help texts, and tables of fields from the schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::PoisonError;

use serde_json::Value;

use super::{WRITES, files, output, read, repository};

/// Marks around the help of all commands.
const CLI: (&str, &str) = ("<!-- cli -->\n", "<!-- cli:end -->");
/// Marks around the table of a definition's fields: `<!-- fields of sample.Time -->`.
const FIELDS: (&str, &str) = ("<!-- fields of ", "<!-- fields:end -->");
/// Marks around the text of `taskscale help CODE` for each code.
const CODES: (&str, &str) = ("<!-- codes -->\n", "<!-- codes:end -->");

/// The help of taskscale and of each of its commands.
fn cli() -> String {
    let short = output(&["taskscale", "-h"]);
    let listed = short.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = listed.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  "));
    let names = commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let block = |title: &str, text: &str| format!("\n## `{title}`\n\n```text\n{}\n```\n", text.trim_end());
    let mut text = block("taskscale", &output(&["taskscale", "--help"]));
    for name in names {
        text.push_str(&block(&format!("taskscale {name}"), &output(&["taskscale", name, "--help"])));
    }
    text + "\n"
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Types whose values are words, listed in the field's description.
const WORDS: [&str; 5] = ["Shape", "Style", "By", "BuildState", "Level"];

/// A readable type of a property, and whether it may be null.
fn type_of(property: &Value, of_event: bool) -> (String, bool) {
    let one = |property: &Value| type_of(property, of_event).0;
    let many = |name: String| match name.split_once(' ') {
        _ if name.starts_with('[') => name,
        None => name + "s",
        Some((list, rest)) => format!("{list}s {rest}"),
    };
    if let Some(name) = property["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        if WORDS.contains(&name) {
            return ("string".to_owned(), false);
        }
        let page = if of_event { "results-format.md" } else { "" };
        return (format!("[{name}]({page}#{})", name.to_lowercase()), false);
    }
    if let Some(variants) = property["anyOf"].as_array() {
        return (
            variants.iter().find(|variant| variant["type"] != "null").map(one).unwrap_or_default(),
            true,
        );
    }
    let named = |name: &str| match name {
        "array" => format!("list of {}", many(one(&property["items"]))),
        "object" => format!("map to {}", many(one(&property["additionalProperties"]))),
        name => name.to_owned(),
    };
    match &property["type"] {
        Value::Array(names) => {
            let name = names.iter().filter_map(Value::as_str).find(|name| *name != "null");
            (name.map(named).unwrap_or_default(), true)
        }
        name => (named(name.as_str().unwrap_or("string")), false),
    }
}

/// A field's unit, by the end of its name.
fn unit(definition: &str, name: &str) -> &'static str {
    let ends = |end: &str| name.ends_with(end);
    match () {
        () if definition == "Latency" || ends("_us") => "µs",
        () if ends("per_s") => "1/s",
        () if ends("_bytes") => "bytes",
        () if ends("_s") || name == "seconds" => "s",
        () => "",
    }
}

/// Names in the order of the existing table, new ones last.
fn in_order<'a>(names: impl Iterator<Item = &'a String>, table: &str) -> Vec<&'a String> {
    let place = |name: &str| table.find(&format!("| `{name}` |")).unwrap_or(usize::MAX);
    let mut names: Vec<&String> = names.collect();
    names.sort_by_key(|name| place(name));
    names
}

/// A row for each property of an object.
fn rows(object: &Value, definition: &str, before: &str, of_event: bool) -> Vec<String> {
    let properties = object["properties"].as_object().expect("properties");
    let required: BTreeSet<&str> =
        object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut rows = Vec::new();
    for name in in_order(properties.keys(), before) {
        if of_event && name == "event" {
            continue;
        }
        let (kind, may_be_null) = type_of(&properties[name], of_event);
        let optional = if may_be_null || !required.contains(name.as_str()) { "?" } else { "" };
        let (unit, meaning) = (unit(definition, name), text(&properties[name], "description"));
        rows.push(format!("`{name}` | {kind}{optional} | {unit} | {} |\n", meaning.replace('\n', " ")));
    }
    rows
}

/// The table of a definition in a schema, such as `sample.Time`, in the order of the existing one.
fn fields(of: &str, before: &str) -> String {
    let (file, definition) = of.split_once('.').expect("SCHEMA.DEFINITION");
    let schema: Value = serde_json::from_str(&read(&format!("schema/{file}.schema.json"))).expect("JSON");
    let own = schema["title"] == definition;
    let object = if own { &schema } else { &schema["$defs"][definition] };
    let mut table = String::new();
    if own && object["oneOf"].is_array() {
        table.push_str("| event | field | type | unit | meaning |\n| --- | --- | --- | --- | --- |\n");
        table.extend(rows(object, definition, before, false).iter().map(|row| format!("| all | {row}")));
        let variants: BTreeMap<String, &Value> = (object["oneOf"].as_array().into_iter().flatten())
            .map(|variant| (text(&variant["properties"]["event"], "const").to_owned(), variant))
            .collect();
        for event in in_order(variants.keys(), before) {
            let meaning = text(variants[event], "description").replace('\n', " ");
            table.push_str(&format!("| `{event}` | | | | {meaning} |\n"));
            let from = before.find(&format!("| `{event}` |")).unwrap_or(before.len());
            let rows = rows(variants[event], definition, &before[from..], true);
            table.extend(rows.iter().map(|row| format!("| | {row}")));
        }
    } else if object["properties"].is_object() {
        table.push_str("| field | type | unit | meaning |\n| --- | --- | --- | --- |\n");
        table.extend(rows(object, definition, before, false).iter().map(|row| format!("| {row}")));
    } else {
        table.push_str("| value | meaning |\n| --- | --- |\n");
        for variant in object["oneOf"].as_array().unwrap_or_else(|| panic!("{of}: no such definition")) {
            let meaning = text(variant, "description").replace('\n', " ");
            table.push_str(&format!("| `{}` | {meaning} |\n", text(variant, "const")));
        }
    }
    format!("\n{table}\n")
}

/// The document with the text between each pair of marks generated again.
fn generated(document: &str) -> String {
    let mut written = document.to_owned();
    for ((begin, end), made) in [(CLI, &cli as &dyn Fn() -> String), (CODES, &codes)] {
        if let Some(mark) = written.find(begin) {
            let from = mark + begin.len();
            let to = from + written[from..].find(end).unwrap_or_else(|| panic!("{end} is missing"));
            written.replace_range(from..to, &made());
        }
    }
    let mut from = 0;
    while let Some(mark) = written[from..].find(FIELDS.0) {
        let name = from + mark + FIELDS.0.len();
        let name_end = name + written[name..].find(" -->\n").expect("the end of its mark");
        let begin = name_end + " -->\n".len();
        let end = begin + written[begin..].find(FIELDS.1).expect("the mark where fields end");
        let table = fields(&written[name..name_end], &written[begin..end]);
        written.replace_range(begin..end, &table);
        from = begin + table.len();
    }
    written
}

fn codes() -> String {
    output(&["taskscale", "help", "--markdown"])
}

#[test]
fn generated_parts_are_up_to_date() {
    let bless = std::env::var_os("TASKSCALE_BLESS").is_some();
    let _alone = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = 0;
    for path in files(&[".md"]) {
        let text = read(&path);
        if ![CLI.0, CODES.0, FIELDS.0].iter().any(|mark| text.contains(mark)) {
            continue;
        }
        found += 1;
        let due = generated(&text);
        assert!(bless || due == text, "{path} is not up to date: TASKSCALE_BLESS=1 writes it anew");
        if due != text {
            fs::write(repository().join(&path), due).expect("a document");
        }
    }
    assert!(found > 2, "only {found} documents have generated parts");
}
