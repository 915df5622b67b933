//! The committed schemas, and what they accept and refuse.
//!
//! `HOPCHECK_BLESS=1` rewrites `schemas/*.json`; review the difference like a snapshot.

mod driver;
mod records;
mod toml;

use std::path::Path;
use std::{env, fs};

use hopcheck::json;
use hopcheck::schema::Schema;
use jsonschema::Validator;
use serde_json::Value as Json;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn lossy(json: &json::Json) -> Json {
    serde_json::from_str(&json.to_string()).unwrap()
}

/// The rules, as an editor applies them.
fn validator(schema: Schema) -> Validator {
    jsonschema::draft202012::new(&lossy(&schema.json())).unwrap()
}

/// What a schema says of a value, with places.
fn problems(validator: &Validator, json: &Json) -> Vec<String> {
    validator.iter_errors(json).map(|problem| format!("{}: {problem}", problem.instance_path())).collect()
}

#[test]
fn the_committed_schemas_are_the_generated_ones() {
    for schema in Schema::ALL {
        let path = folder().join(format!("schemas/{schema}.json"));
        if env::var_os("HOPCHECK_BLESS").is_some() {
            fs::write(&path, schema.text()).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == schema.text(), "schemas/{schema}.json is stale; HOPCHECK_BLESS=1 rewrites it");
    }
}

#[test]
fn every_schema_is_a_schema() {
    for schema in Schema::ALL {
        let json = lossy(&schema.json());
        let problems: Vec<String> =
            jsonschema::draft202012::meta::validate(&json).err().iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{schema}: {problems:?}");
        assert_eq!(json["$id"], format!("urn:hopcheck:schema:{schema}"));
    }
}
