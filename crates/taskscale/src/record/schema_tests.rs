//! The published schemas of results (JSON Schema 2020-12), generated from the types. The tests compare schema/ with
//! them, so that they cannot drift apart.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::record::{Campaign, EventLine, Sample};

fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}

/// `TASKSCALE_BLESS=1 cargo test schema` rewrites them.
#[test]
fn published_schemas_are_up_to_date() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    for (name, schema) in [
        ("sample", schema_of::<Sample>()),
        ("campaign", schema_of::<Campaign>()),
        ("event", schema_of::<EventLine>()),
    ] {
        let path = folder.join(format!("{name}.schema.json"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("TASKSCALE_BLESS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(published == text, "out of date: {} (rewrite it with TASKSCALE_BLESS=1)", path.display());
    }
}
