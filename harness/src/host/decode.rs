//! Host profiles: text to [`Profile`], with version and variant applied.

mod drives;
pub mod keys;
mod surface;
mod version;

use std::sync::Arc;

use super::profile::{
    ApiName, ArgumentsClaim, Bin, Claims, DialectName, Drive, FileTemplate, MainLine, ModelLane, ModelProfile,
    NameRule, Profile, SchemaGate, SideRule, Strict, Surface, VersionQuery,
};
use crate::decode::{Data, Reporter, Value, keys::quoted, patch, shape, suggest, syntax};
use crate::diagnostic::{Diagnostic, Source, Span};
use crate::revision::{Revision, Transport};
use crate::scenario::ast::Feature;

pub use version::VersionReq;

/// Reads a profile. `[[when]]` blocks that fit `version` are applied first, in file order, then the variant, which has
/// the last word. Without a version no `[[when]]` block is applied.
///
/// # Errors
/// Everything that is wrong with the file, also in variants and blocks that are not chosen; or a variant that the
/// file does not have.
pub fn parse(
    source: &Arc<Source>,
    variant: Option<&str>,
    version: Option<&str>,
) -> Result<Profile, Vec<Diagnostic>> {
    let mut out = Reporter::new(source);
    let root = syntax::read(source, &mut out);
    shape::check(&root, &keys::PROFILE, &mut out);
    check_versions(&root, &mut out);
    // Each block by itself: blocks for different versions need not fit together.
    for block in root.list("when").iter().chain(root.list("variant")) {
        let mut changed = root.clone();
        patch::apply(&mut changed, block, &mut out);
        shape::check(&changed, &keys::PROFILE, &mut out);
        profile(&changed, &mut out);
    }
    let mut chosen = root.clone();
    for block in root.list("when") {
        let req = block.get("version").and_then(|text| VersionReq::parse(text.as_str()?));
        if version.zip(req).is_some_and(|(version, req)| req.matches(version)) {
            patch::apply(&mut chosen, block, &mut out);
        }
    }
    if let Some(block) = variant.and_then(|name| find_variant(&root, name, &mut out)) {
        patch::apply(&mut chosen, block, &mut out);
    }
    shape::check(&chosen, &keys::PROFILE, &mut out);
    let mut profile = profile(&chosen, &mut out);
    profile.variant = variant.map(str::to_owned);
    out.finish(profile)
}

/// The versions that the `[[when]]` blocks of a profile ask for.
#[must_use]
pub fn whens(source: &Arc<Source>) -> Vec<VersionReq> {
    let root = syntax::read(source, &mut Reporter::new(source));
    let req = |block: &Value| VersionReq::parse(block.get("version")?.as_str()?);
    root.list("when").iter().filter_map(req).collect()
}

fn check_versions(root: &Value, out: &mut Reporter) {
    for block in root.list("when") {
        VersionReq::read(block, "version", out);
    }
}

fn find_variant<'a>(root: &'a Value, name: &str, out: &mut Reporter) -> Option<&'a Value> {
    let found = root.list("variant").iter().find(|block| block.get("name").and_then(Value::as_str) == Some(name));
    if found.is_none() {
        let names = variants(root);
        let place = root.get("name").map_or(0..0, |value| value.span.clone());
        let wording =
            out.error(place, format!("no variant `{name}` of this host")).label("asked for as a variant of this");
        match suggest(name, names.iter().map(String::as_str)) {
            Some(close) => wording.help(format!("did you mean `{close}`?")),
            None if names.is_empty() => wording.help("the profile has no variants"),
            None => wording.help(format!("the variants are {}", quoted(names.iter().map(String::as_str)))),
        };
    }
    found
}

/// The names of a host and its variants stand on the command line and in file names.
fn check_names(root: &Value, out: &mut Reporter) {
    let variants = root.list("variant").iter().filter_map(|block| block.get("name"));
    for value in root.get("name").into_iter().chain(variants) {
        let Some(name) = value.as_str() else { continue };
        if name.chars().any(|c| !(c.is_ascii_alphanumeric() || "-_".contains(c))) {
            out.error(value.span.clone(), format!("`{name}` cannot name a host or a variant"))
                .label("letters, digits, `-` and `_` only");
        }
    }
}

fn variants(root: &Value) -> Vec<String> {
    root.list("variant").iter().filter_map(|block| block.string("name")).collect()
}

/// The typed form; what is missing or wrong was reported by the shape pass and becomes a default.
fn profile(root: &Value, out: &mut Reporter) -> Profile {
    let nothing = Value::empty_table(0..0);
    let table = |key: &str| root.get(key).unwrap_or(&nothing);
    let name = root.string("name").unwrap_or_default();
    check_names(root, out);
    drives::check(root, out);
    Profile {
        source: Arc::clone(out.source()),
        variant: None,
        variants: variants(root),
        pack: root.string("pack"),
        title: root.string("title").unwrap_or_else(|| name.clone()),
        name,
        bin: bin(root, out),
        runtime: root.string("runtime").unwrap_or_default(),
        version: version_query(table("version"), out),
        model: model(root, out),
        names: names(table("names")),
        tool_use_id: tool_use_id(table("wire"), out),
        drives: root.list("drive").iter().filter_map(|value| drive(value, out)).collect(),
        files: root.list("file").iter().filter_map(file).collect(),
        claims: claims(table("claims")),
        strip: table("told").get("strip").map(Value::spanned_strings).unwrap_or_default(),
        redact: table("redact")
            .members()
            .iter()
            .filter_map(|member| Some((member.key.value.clone(), member.value.spanned_str()?)))
            .collect(),
    }
}

fn bin(root: &Value, out: &mut Reporter) -> Bin {
    let Some(table) = root.get("bin") else { return Bin::default() };
    let bin = Bin {
        env: table.string("env"),
        names: table.strings("names"),
        npm: table.string("npm"),
        builtin: table.string("builtin"),
    };
    if table.members().is_empty() {
        empty(
            table.span.clone(),
            "`bin` names no program",
            "give it one of `env`, `names`, `npm`, `builtin`",
            out,
        );
    }
    bin
}

fn version_query(table: &Value, out: &mut Reporter) -> VersionQuery {
    if let Some(pattern) = table.get("pattern") {
        let groups =
            pattern.as_str().and_then(|text| regex_lite::Regex::new(text).ok()).map(|regex| regex.captures_len());
        if groups == Some(1) {
            out.error(pattern.span.clone(), "the version pattern has no group")
                .label("the first group is the version")
                .help("put brackets around the version: `acme (\\S+)`");
        }
    }
    VersionQuery {
        args: if table.get("args").is_some() { table.strings("args") } else { vec!["--version".to_owned()] },
        pattern: table.string("pattern").unwrap_or_else(|| r"(\d+\.\d+\S*)".to_owned()),
    }
}

fn model(root: &Value, out: &mut Reporter) -> ModelProfile {
    let nothing = Value::empty_table(0..0);
    let table = root.get("model").unwrap_or(&nothing);
    let kind = root.list("drive").first().and_then(drives::kind);
    if kind.is_some_and(|kind| kind.model_lane() == ModelLane::Synthetic) {
        return ModelProfile {
            api: ApiName::Synthetic,
            surface: Surface::Flat,
            // hopcheck makes every request itself, so each is one of the main line.
            main_line: MainLine::Marker,
            strict: Strict::Report,
            sides: Vec::new(),
        };
    }
    let word = |key: &str| table.get(key).and_then(Value::as_str);
    let api = find(ApiName::ALL, ApiName::as_str, word("api")).unwrap_or(ApiName::AnthropicMessages);
    ModelProfile {
        api,
        surface: surface::read(root, api, out),
        main_line: find(MainLine::ALL, MainLine::as_str, word("main_line")).unwrap_or(MainLine::Tools),
        strict: table.get("strict").and_then(|word| word.pick(&keys::STRICT)).unwrap_or(Strict::Report),
        sides: table.list("side").iter().filter_map(side).collect(),
    }
}

fn side(value: &Value) -> Option<SideRule> {
    Some(SideRule {
        name: value.string("name")?,
        contains: value.string("contains")?,
        answer: value.string("answer")?,
    })
}

fn names(table: &Value) -> NameRule {
    let text = |key: &str, default: &str| table.string(key).unwrap_or_else(|| default.to_owned());
    NameRule {
        flat: text("flat", "mcp__{{ server }}__{{ tool }}"),
        namespace: text("namespace", "mcp__{{ server }}"),
        replace: text("replace", "[^A-Za-z0-9_-]"),
        max: table.get("max").and_then(Value::as_integer).unwrap_or(64),
    }
}

fn tool_use_id(table: &Value, out: &mut Reporter) -> Option<String> {
    let value = table.get("tool_use_id")?;
    let pointer = value.as_str()?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        out.error(value.span.clone(), "`tool_use_id` is no JSON pointer")
            .label("must start with `/`")
            .help(format!("write `/{}`", pointer.replace('.', "/")));
    }
    Some(pointer.to_owned())
}

fn drive(value: &Value, out: &mut Reporter) -> Option<Drive> {
    if let Some(argv) =
        value.get("argv").filter(|argv| matches!(&argv.data, Data::Array(items) if items.is_empty()))
    {
        empty(argv.span.clone(), "`argv` is empty", "its first item is the program, most often `{{ bin }}`", out);
    }
    Some(Drive {
        kind: drives::kind(value)?,
        argv: value.strings("argv"),
        env: value
            .get("env")
            .map_or(&[][..], Value::members)
            .iter()
            .filter_map(|member| Some((member.key.value.clone(), member.value.as_str()?.to_owned())))
            .collect(),
        features: value.list("features").iter().filter_map(|word| Feature::parse(word.as_str()?)).collect(),
    })
}

fn file(value: &Value) -> Option<FileTemplate> {
    Some(FileTemplate { path: value.string("path")?, template: value.get("template")?.spanned_str()? })
}

fn claims(table: &Value) -> Claims {
    let word = |key: &str| table.get(key).and_then(Value::as_str);
    Claims {
        dialect: find(DialectName::ALL, DialectName::as_str, word("dialect")).unwrap_or(DialectName::None),
        schema_gate: match table.get("schema_gate").and_then(Value::as_bool) {
            Some(true) => SchemaGate::Claimed,
            _ => SchemaGate::Unclaimed,
        },
        arguments: find(ArgumentsClaim::ALL, ArgumentsClaim::as_str, word("arguments"))
            .unwrap_or(ArgumentsClaim::Exact),
        published: surface::claimed(table),
        wire: table.list("wire").iter().filter_map(wire).collect(),
    }
}

fn wire(value: &Value) -> Option<(Transport, Vec<Revision>)> {
    let transport = Transport::parse(value.get("transport")?.as_str()?)?;
    let revisions = value.list("revisions").iter().filter_map(|word| Revision::parse(word.as_str()?)).collect();
    Some((transport, revisions))
}

fn find<T: Copy, const N: usize>(all: [T; N], word: fn(T) -> &'static str, text: Option<&str>) -> Option<T> {
    all.into_iter().find(|value| Some(word(*value)) == text)
}

fn empty(span: Span, title: &str, help: &str, out: &mut Reporter) {
    out.error(span, title).label("nothing here").help(help);
}

#[cfg(test)]
mod tests;
