//! Parts of documents that are made from the program: help texts, and tables of fields from the schemas.

use std::collections::BTreeSet;
use std::fs;
use std::sync::PoisonError;

use serde_json::Value;

use super::{WRITES, files, output, read, repository};

/// Around the help of all commands.
const CLI: (&str, &str) = ("<!-- cli -->\n", "<!-- cli:end -->");
/// Around the table of a definition's fields: `<!-- fields of sample.schema.json Time -->`, or of the schema's own.
const FIELDS: (&str, &str) = ("<!-- fields of ", "<!-- fields:end -->");
/// Around what `taskscale help CODE` has for each code.
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

/// A type as a person calls it.
fn type_of(property: &Value) -> String {
    if let Some(to) = property["$ref"].as_str() {
        return format!("`{}`", to.rsplit('/').next().unwrap_or(to));
    }
    let variants = property["anyOf"].as_array().or(property["allOf"].as_array());
    if let Some(variants) = variants {
        let named = variants.iter().find(|variant| variant["type"] != "null");
        return named.map(type_of).unwrap_or_default();
    }
    let one = |name: &str| match name {
        "array" => format!("list of {}", type_of(&property["items"])),
        "object" if property["additionalProperties"].is_object() => {
            format!("map to {}", type_of(&property["additionalProperties"]))
        }
        name => name.to_owned(),
    };
    match &property["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").map(one).unwrap_or_default()
        }
        _ if property["enum"].is_array() => "string".to_owned(),
        _ => String::new(),
    }
}

/// A table of the fields of a definition in a schema.
fn fields(of: &str) -> String {
    let mut words = of.split_whitespace();
    let file = words.next().expect("a schema");
    let schema: Value = serde_json::from_str(&read(&format!("schema/{file}"))).expect("JSON");
    let definition = match words.next() {
        Some(name) => &schema["$defs"][name],
        None => &schema,
    };
    let properties = definition["properties"].as_object().unwrap_or_else(|| panic!("{of}: no such definition"));
    let required: BTreeSet<&str> =
        definition["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut table = "\n| field | type | meaning |\n| --- | --- | --- |\n".to_owned();
    for (name, property) in properties {
        let optional = if required.contains(name.as_str()) { "" } else { ", optional" };
        let meaning = text(property, "description").replace('\n', " ").replace('|', "\\|");
        table.push_str(&format!("| `{name}` | {}{optional} | {meaning} |\n", type_of(property)));
    }
    table + "\n"
}

/// The document with what stands between each pair of marks made anew.
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
        let table = fields(&written[name..name_end].to_owned());
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
