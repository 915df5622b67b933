//! Templates of profiles: minijinja, undefined is an error, escaping by file type.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior};

use crate::json::Json;

/// Values for several templates.
#[derive(Clone, Debug)]
pub struct Values(Value);

impl Values {
    /// An object, whose members are the names in a template.
    #[must_use]
    pub fn new(json: &Json) -> Self {
        Self(to_value(json))
    }

    /// The same with a text beside them that goes out exactly as it stands, under the given name: payloads never pass
    /// through the numbers and strings of a template engine.
    #[must_use]
    pub fn around(json: &Json, name: &str, text: &str) -> Self {
        let members = json.members().iter().map(|(key, value)| (key.to_lossy().into_owned(), to_value(value)));
        let exact = (name.to_owned(), Value::from_safe_string(text.to_owned()));
        Self(Value::from(members.chain([exact]).collect::<BTreeMap<_, _>>()))
    }

    /// Renders one template.
    ///
    /// `name` decides the escaping: in a file that ends in `.json` or `.toml` a string value is escaped for the inside of
    /// a double-quoted string; the filters `json` and `toml` give whole values.
    ///
    /// # Errors
    /// Undefined names and syntax errors, with the template's name and line.
    pub fn render(&self, name: &str, template: &str) -> Result<String, Error> {
        ENVIRONMENT.render_named_str(name, template, &self.0)
    }
}

/// It takes longer to make than most templates take to render.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    // The defaults of Jinja, but a file keeps its last newline. Only delimiters could be wrong.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        env.set_syntax(syntax);
    }
    env.set_auto_escape_callback(|name| {
        let quoted = [".json", ".jsonc", ".toml"].iter().any(|end| name.ends_with(end));
        if quoted { AutoEscape::Custom("quoted".into()) } else { AutoEscape::None }
    });
    env.set_formatter(format_value);
    env.add_filter("json", |value: Value| Value::from_safe_string(to_json(&value).to_string()));
    env.add_filter("toml", |value: Value| to_toml(&value).map(Value::from_safe_string));
    env
});

fn format_value(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    match (state.auto_escape(), value.as_str()) {
        (AutoEscape::Custom(_), Some(text)) if !value.is_safe() => {
            let quoted = Json::from(text).to_string();
            out.write_str(&quoted[1..quoted.len() - 1]).map_err(Error::from)
        }
        // Strings go out as they are; all else as JSON, since the display form of booleans is that of Python.
        (_, Some(text)) => out.write_str(text).map_err(Error::from),
        _ => write!(out, "{}", to_json(value)).map_err(Error::from),
    }
}

/// A template value from JSON. Numbers beyond a double are rounded: templates never carry payloads.
fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => number.as_i64().map_or_else(|| Value::from(number.as_f64()), Value::from),
        Json::String(text) => Value::from(text.to_lossy().into_owned()),
        Json::Array(items) => items.iter().map(to_value).collect(),
        Json::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.to_lossy().into_owned(), to_value(value)));
            Value::from(members.collect::<BTreeMap<_, _>>())
        }
    }
}

fn to_json(value: &Value) -> Json {
    match value.kind() {
        ValueKind::Bool => Json::Bool(value.is_true()),
        ValueKind::Number => Json::parse(value.to_string()).unwrap_or(Json::Null),
        ValueKind::Seq | ValueKind::Iterable => {
            Json::Array(value.try_iter().into_iter().flatten().map(|item| to_json(&item)).collect())
        }
        ValueKind::Map => Json::Object(
            value
                .try_iter()
                .into_iter()
                .flatten()
                .map(|key| (key.to_string().into(), to_json(&value.get_item(&key).unwrap_or_default())))
                .collect(),
        ),
        ValueKind::None | ValueKind::Undefined => Json::Null,
        _ => Json::from(value.to_string()),
    }
}

fn to_toml(value: &Value) -> Result<String, Error> {
    let list = |value: &Value| {
        value.try_iter().into_iter().flatten().map(|item| to_toml(&item)).collect::<Result<Vec<_>, _>>()
    };
    match value.kind() {
        ValueKind::Bool | ValueKind::Number => Ok(to_json(value).to_string()),
        ValueKind::String => Ok(toml_string(value.as_str().unwrap_or_default())),
        ValueKind::Seq | ValueKind::Iterable => Ok(format!("[{}]", list(value)?.join(", "))),
        ValueKind::Map => {
            let mut out = String::from("{");
            for (at, key) in value.try_iter()?.enumerate() {
                let item = to_toml(&value.get_item(&key)?)?;
                let comma = if at == 0 { "" } else { "," };
                write!(out, "{comma} {} = {item}", toml_string(&key.to_string())).map_err(Error::from)?;
            }
            out.push_str(" }");
            Ok(out)
        }
        kind => Err(Error::new(ErrorKind::InvalidOperation, format!("TOML has no value for {kind}"))),
    }
}

/// A TOML basic string. JSON's escapes are a subset of TOML's, except that TOML also escapes DEL.
fn toml_string(text: &str) -> String {
    Json::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, template: &str, values: &str, expected: &str) {
        let values = Json::parse(values).unwrap();
        assert_eq!(Values::new(&values).render(name, template).unwrap(), expected);
    }

    #[test]
    fn escapes_by_file_type() {
        check("a.json", r#"{"k": "{{ v }}"}"#, r#"{"v": "a\"b"}"#, r#"{"k": "a\"b"}"#);
        check("a.txt", "{{ v }} {{ w }}", r#"{"v": "a\"b", "w": true}"#, "a\"b true");
        check("a.json", "{{ v | json }}", r#"{"v": ["a", {"b": 1}, null]}"#, r#"["a",{"b":1},null]"#);
        check(
            "a.toml",
            "v = {{ v | toml }}\n",
            r#"{"v": ["a", {"b c": true}]}"#,
            "v = [\"a\", { \"b c\" = true }]\n",
        );
    }

    #[test]
    fn a_payload_goes_out_as_it_stands() {
        let values = Json::object([("v", "a\"b")]);
        let payload = r#"{"n": 9007199254740993, "s": "\u00e4"#;
        let text = Values::around(&values, "p", payload).render("a.json", r#"{"v":"{{ v }}","p":{{ p }}}"#);
        assert_eq!(text.unwrap(), format!(r#"{{"v":"a\"b","p":{payload}}}"#));
    }

    #[test]
    fn undefined_names_are_errors() {
        assert!(Values::new(&Json::empty()).render("a.json", "{{ nothing }}").is_err());
        assert!(Values::new(&Json::object([("v", Json::Null)])).render("a.toml", "{{ v | toml }}").is_err());
    }
}
