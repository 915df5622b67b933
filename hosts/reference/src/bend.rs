//! The lies that bend a text on its way. Without a fault, each of these functions gives back what it was given.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::fault::{Fault, Lies};
use crate::json::{self, Members, quote};
use crate::model::ToolUse;
use crate::name::{Alphabet, mangle};
use crate::told::{Part, Told};

impl Lies {
    /// A line for a server.
    pub(crate) fn bend_line(self, line: &str) -> Cow<'_, str> {
        let text = line.trim_end();
        match self.which() {
            Some(Fault::OmitJsonRpc) => line.replacen("\"jsonrpc\":\"2.0\",", "", 1).into(),
            Some(Fault::EmbeddedNewlines) => {
                line.replacen("\"jsonrpc\":\"2.0\",", "\n\"jsonrpc\":\"2.0\",\n", 1).into()
            }
            Some(Fault::SendBatches) => format!("[{text}]\n").into(),
            Some(Fault::FractionalIds) => match text.split_once("\"id\":") {
                Some((before, after)) if text.contains("\"method\":") => {
                    let end = after.find(',').unwrap_or(after.len());
                    let (id, rest) = after.split_at(end);
                    format!("{before}\"id\":{id}.5{rest}\n").into()
                }
                _ => line.into(),
            },
            _ => line.into(),
        }
    }

    /// A line of a server. Whoever lies about ids must understand the answers.
    pub(crate) fn bend_incoming(self, line: &[u8]) -> Cow<'_, [u8]> {
        if !self.tell(Fault::FractionalIds) {
            return line.into();
        }
        String::from_utf8_lossy(line).replacen(".5,\"", ",\"", 1).replacen(".5}", "}", 1).into_bytes().into()
    }

    /// The offer of the model request with this number, when it is not the honest one.
    pub(crate) fn bend_offer(self, offer: &str, request: usize) -> Option<String> {
        if !self.tell(Fault::ForgetTool) || request < 2 {
            return None;
        }
        let raw: &RawValue = serde_json::from_str(offer).ok()?;
        let mut tools: Vec<_> = json::elements(raw)?.into_iter().map(RawValue::get).collect();
        tools.pop();
        Some(format!("[{}]", tools.join(",")))
    }

    /// The name of a tool for the wire, as JSON text.
    pub(crate) fn bend_wire_name(self, name_json: &str, name: &str, server: &str, published: &str) -> String {
        match self.which() {
            Some(Fault::PrefixedWireName) => quote(published),
            Some(Fault::WrapperPrefixes) => quote(&format!("{server}_{name}")),
            Some(Fault::LowercaseWireName) => quote(&name.to_lowercase()),
            Some(Fault::MangledWireName) => quote(&mangle(name, Alphabet::UnderscoreOnly)),
            _ => name_json.to_owned(),
        }
    }

    /// The arguments of a call, as JSON text.
    pub(crate) fn bend_arguments(self, arguments: &str, schema: &str) -> String {
        let honest = || arguments.to_owned();
        let Ok(raw) = serde_json::from_str::<&RawValue>(arguments) else {
            return honest();
        };
        let Some(members) = Members::of(raw) else {
            return honest();
        };
        let properties = || Members::parse(schema).ok()?.get("properties").and_then(Members::of);
        match self.which() {
            Some(Fault::AddDefaults) => {
                let mut all: Vec<_> = members.0.iter().map(|(key, value)| member(key, value.get())).collect();
                for (key, property) in properties().map(|properties| properties.0).unwrap_or_default() {
                    let default = Members::of(property).and_then(|property| property.get("default"));
                    if let Some(default) = default.filter(|_| members.get(&key).is_none()) {
                        all.push(member(&key, default.get()));
                    }
                }
                format!("{{{}}}", all.join(","))
            }
            Some(Fault::NullArguments) if members.0.is_empty() => "null".to_owned(),
            Some(Fault::DropUnknown) => {
                let known = properties();
                let known = |key: &str| known.as_ref().is_some_and(|known| known.get(key).is_some());
                let all: Vec<_> = members
                    .0
                    .iter()
                    .filter(|(key, _)| known(key))
                    .map(|(key, value)| member(key, value.get()))
                    .collect();
                format!("{{{}}}", all.join(","))
            }
            Some(fault) if bends_values(fault) => bend_value(fault, raw, 0),
            _ => honest(),
        }
    }

    /// What is told about a result.
    pub(crate) fn bend_told(self, mut told: Told) -> Told {
        let text = |text: &str| vec![Part::Text(text.to_owned())];
        match self.which() {
            Some(Fault::SwallowError) if told.is_error => Told { parts: text("OK"), is_error: false },
            Some(Fault::LoseErrorText) if told.is_error => {
                Told { parts: text("The tool failed."), is_error: true }
            }
            Some(Fault::FirstBlockOnly) => {
                told.parts.truncate(1);
                told
            }
            Some(Fault::DropImages) => {
                told.parts.retain(|part| !matches!(part, Part::Image { .. }));
                told
            }
            Some(Fault::ReverseBlocks) => {
                told.parts.reverse();
                told
            }
            Some(Fault::CutText) => {
                for part in &mut told.parts {
                    if let Part::Text(text) = part {
                        *text = text.chars().take(16).collect();
                    }
                }
                told
            }
            _ => told,
        }
    }

    /// The results of all tool uses of a reply.
    pub(crate) fn bend_results(self, results: &mut Vec<(ToolUse, Told)>) {
        if self.tell(Fault::DropResult) && !results.is_empty() {
            results.remove(0);
        }
        if self.tell(Fault::SwapResults) && results.len() > 1 {
            let first = results[0].1.clone();
            results[0].1 = std::mem::replace(&mut results[1].1, first);
        }
    }
}

fn member(key: &str, value: &str) -> String {
    format!("{}:{value}", quote(key))
}

/// Whether a lie is about the values of arguments. Under all others not even a blank may change.
fn bends_values(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::RoundLargeIntegers
            | Fault::TruncateFractions
            | Fault::StringifyNumbers
            | Fault::NumbersFromStrings
            | Fault::BooleansAsNumbers
            | Fault::DropNulls
            | Fault::DropEmptyStrings
            | Fault::DropEmptyContainers
            | Fault::TrimStrings
            | Fault::ParseJsonStrings
            | Fault::StringifyObjects
            | Fault::AsciiOnly
            | Fault::EscapeHtml
            | Fault::FlattenLines
            | Fault::LowercaseKeys
            | Fault::ShortenArrays
            | Fault::UnwrapArrays
            | Fault::CutDepth
    )
}

/// Bends a value, and all values in it.
fn bend_value(fault: Fault, raw: &RawValue, depth: usize) -> String {
    if let Some(members) = Members::of(raw) {
        let kept = members.0.iter().filter(|(_, value)| keeps(fault, value, depth));
        let all: Vec<_> =
            kept.map(|(key, value)| member(&bend_key(fault, key), &bend_value(fault, value, depth + 1))).collect();
        let object = format!("{{{}}}", all.join(","));
        return if fault == Fault::StringifyObjects && depth > 0 { quote(&object) } else { object };
    }
    if let Some(mut elements) = json::elements(raw) {
        if fault == Fault::ShortenArrays && elements.len() > 1 {
            elements.pop();
        }
        let all: Vec<_> = elements.into_iter().map(|element| bend_value(fault, element, depth + 1)).collect();
        return match &all[..] {
            [only] if fault == Fault::UnwrapArrays => only.clone(),
            _ => format!("[{}]", all.join(",")),
        };
    }
    let text = raw.get();
    if let Some(string) = json::string(raw) {
        return bend_string(fault, &string, text);
    }
    match (fault, text) {
        (Fault::BooleansAsNumbers, "true") => "1".to_owned(),
        (Fault::BooleansAsNumbers, "false") => "0".to_owned(),
        (_, "true" | "false" | "null") => text.to_owned(),
        (Fault::StringifyNumbers, number) => quote(number),
        (Fault::RoundLargeIntegers, number) => match number.parse::<f64>() {
            Ok(double) if !number.contains(['.', 'e', 'E']) && double.is_finite() && double != 0.0 => {
                format!("{double:.0}")
            }
            _ => number.to_owned(),
        },
        (Fault::TruncateFractions, number) => match number.split_once('.') {
            Some((whole, fraction)) if !fraction.contains(['e', 'E']) => whole.to_owned(),
            _ => number.to_owned(),
        },
        (_, number) => number.to_owned(),
    }
}

fn keeps(fault: Fault, value: &RawValue, depth: usize) -> bool {
    let compact: String = value.get().split_ascii_whitespace().collect();
    match fault {
        Fault::DropNulls => compact != "null",
        Fault::DropEmptyStrings => value.get() != "\"\"",
        Fault::DropEmptyContainers => compact != "{}" && compact != "[]",
        Fault::CutDepth => depth < 2,
        _ => true,
    }
}

fn bend_key(fault: Fault, key: &str) -> String {
    if fault == Fault::LowercaseKeys { key.to_lowercase() } else { key.to_owned() }
}

fn bend_string(fault: Fault, string: &str, text: &str) -> String {
    match fault {
        Fault::NumbersFromStrings if serde_json::from_str::<serde_json::Number>(string).is_ok() => {
            string.to_owned()
        }
        Fault::TrimStrings => quote(string.trim()),
        Fault::ParseJsonStrings
            if string.starts_with(['{', '[']) && serde_json::from_str::<&RawValue>(string).is_ok() =>
        {
            crate::rpc::on_one_line(string)
        }
        Fault::AsciiOnly => quote(&string.replace(|c: char| !c.is_ascii(), "?")),
        Fault::EscapeHtml => quote(&string.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")),
        Fault::FlattenLines => quote(&string.replace(['\n', '\r'], " ")),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fault: Fault, arguments: &str, expected: &str) {
        let schema = r#"{"type":"object","properties":{"a":{"default":5},"b":{}}}"#;
        assert_eq!(Lies::only(fault).bend_arguments(arguments, schema), expected, "{fault:?}");
        assert_eq!(Lies::default().bend_arguments(arguments, schema), arguments);
    }

    #[test]
    fn each_lie_changes_what_it_is_about_and_nothing_else() {
        check(
            Fault::RoundLargeIntegers,
            r#"{"n":9007199254740993,"m":1.0,"z":-0}"#,
            r#"{"n":9007199254740992,"m":1.0,"z":-0}"#,
        );
        check(Fault::TruncateFractions, r#"{"n":1.5,"m":1e5}"#, r#"{"n":1,"m":1e5}"#);
        check(Fault::StringifyNumbers, r#"{"n":[1,"x",true]}"#, r#"{"n":["1","x",true]}"#);
        check(Fault::NumbersFromStrings, r#"{"n":"12","m":"1a"}"#, r#"{"n":12,"m":"1a"}"#);
        check(Fault::BooleansAsNumbers, r#"{"n":true,"m":[false]}"#, r#"{"n":1,"m":[0]}"#);
        check(Fault::DropNulls, r#"{"n":null,"m":{"x":null,"y":[null]}}"#, r#"{"m":{"y":[null]}}"#);
        check(Fault::DropEmptyStrings, r#"{"n":"","m":" "}"#, r#"{"m":" "}"#);
        check(Fault::DropEmptyContainers, r#"{"n":{},"m":[ ],"o":[{}]}"#, r#"{"o":[{}]}"#);
        check(Fault::DropUnknown, r#"{"b":1,"c":2}"#, r#"{"b":1}"#);
        check(Fault::AddDefaults, r#"{"b":1}"#, r#"{"b":1,"a":5}"#);
        check(Fault::TrimStrings, r#"{"n":" x "}"#, r#"{"n":"x"}"#);
        check(Fault::ParseJsonStrings, r#"{"n":"{\"x\":1}","m":"{"}"#, r#"{"n":{"x":1},"m":"{"}"#);
        check(Fault::StringifyObjects, r#"{"n":{"x":1}}"#, r#"{"n":"{\"x\":1}"}"#);
        check(Fault::AsciiOnly, r#"{"n":"ä"}"#, r#"{"n":"?"}"#);
        check(Fault::EscapeHtml, r#"{"n":"<a>"}"#, r#"{"n":"&lt;a&gt;"}"#);
        check(Fault::FlattenLines, r#"{"n":"a\nb"}"#, r#"{"n":"a b"}"#);
        check(Fault::LowercaseKeys, r#"{"Nn":1}"#, r#"{"nn":1}"#);
        check(Fault::ShortenArrays, r#"{"n":[1,2],"m":[1]}"#, r#"{"n":[1],"m":[1]}"#);
        check(Fault::UnwrapArrays, r#"{"n":[1,2],"m":[1]}"#, r#"{"n":[1,2],"m":1}"#);
        check(Fault::CutDepth, r#"{"n":{"x":{"y":1}}}"#, r#"{"n":{"x":{}}}"#);
    }

    #[test]
    fn other_lies_leave_arguments_alone() {
        check(Fault::CallTwice, r#"{ "n" : 1.0 }"#, r#"{ "n" : 1.0 }"#);
    }

    #[test]
    fn lines_stay_lines_but_for_the_lie() {
        let line = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"m\"}\n";
        assert_eq!(Lies::default().bend_line(line), line);
        assert_eq!(
            Lies::only(Fault::FractionalIds).bend_line(line),
            "{\"jsonrpc\":\"2.0\",\"id\":3.5,\"method\":\"m\"}\n"
        );
        assert_eq!(
            Lies::only(Fault::SendBatches).bend_line(line),
            "[{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"m\"}]\n"
        );
        assert_eq!(Lies::only(Fault::OmitJsonRpc).bend_line(line), "{\"id\":3,\"method\":\"m\"}\n");
    }
}
