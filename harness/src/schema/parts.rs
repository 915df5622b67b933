//! Small schemas that the others are made of.

use crate::json::Json;

/// A schema with one keyword.
pub(super) fn keyword(name: &str, value: impl Into<Json>) -> Json {
    Json::object([(name, value.into())])
}

/// A value of that type.
pub(super) fn typed(name: &str) -> Json {
    keyword("type", name)
}

/// A value of that type, or `null`.
pub(super) fn nullable(name: &str) -> Json {
    keyword("type", Json::array([name, "null"]))
}

/// A whole number, no less than that.
pub(super) fn at_least(min: u32) -> Json {
    let mut schema = typed("integer");
    schema.set("minimum", min);
    schema
}

/// One of these words.
pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Json {
    let words: Vec<&str> = words.into_iter().collect();
    match words.as_slice() {
        [word] => keyword("const", *word),
        words => keyword("enum", Json::array(words.iter().copied())),
    }
}

/// A list of these.
pub(super) fn list(item: Json) -> Json {
    let mut schema = typed("array");
    schema.set("items", item);
    schema
}

/// An object with free keys and these values.
pub(super) fn map(value: Json) -> Json {
    let mut schema = typed("object");
    schema.set("additionalProperties", value);
    schema
}

/// A schema that stands under `$defs`.
pub(super) fn defined(name: &str) -> Json {
    keyword("$ref", format!("#/$defs/{name}"))
}

/// An object that has these members.
pub(super) fn has<'a>(names: impl IntoIterator<Item = &'a str>) -> Json {
    keyword("required", Json::array(names))
}

/// What holds where one of the schemas does; a single one stands for itself.
pub(super) fn any_of(mut schemas: Vec<Json>) -> Json {
    match schemas.len() {
        1 => schemas.remove(0),
        _ => keyword("anyOf", schemas),
    }
}

/// The schema with a description in front.
pub(super) fn described(description: &str, schema: Json) -> Json {
    let mut members = vec![("description".into(), description.into())];
    if let Json::Object(rest) = schema {
        members.extend(rest);
    }
    Json::Object(members)
}

/// A closed object: the members that it must have, then those that it may have.
pub(super) fn object<'a>(
    required: impl IntoIterator<Item = (&'a str, Json)>,
    optional: impl IntoIterator<Item = (&'a str, Json)>,
) -> Json {
    let mut properties: Vec<(&str, Json)> = required.into_iter().collect();
    let names = Json::array(properties.iter().map(|(name, _)| *name));
    properties.extend(optional);
    let mut schema = typed("object");
    schema.set("properties", Json::object(properties));
    schema.set("required", names);
    schema.set("additionalProperties", false);
    schema
}
