//! Rust files as the tests of the architecture see them: code, without comments and unit tests.

use std::fs;
use std::path::{Path, PathBuf};

/// The code of all Rust files below a folder of the workspace, by path; files of tests are left out.
pub(super) fn code_below(folder: &str) -> Vec<(String, String)> {
    let files = files_below(folder).into_iter();
    files.filter(|(name, _)| !is_test(name)).map(|(name, text)| (name, code(&text))).collect()
}

/// All Rust files below a folder of the workspace, by path.
pub(super) fn files_below(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    collect(&root.join(folder), &mut files);
    assert!(!files.is_empty(), "{folder} has no Rust file");
    files.sort();
    let named = files.into_iter().map(|path| {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        (name, fs::read_to_string(&path).unwrap())
    });
    named.collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// Modules of unit tests have files of their own, with these names.
fn is_test(name: &str) -> bool {
    name.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "testing" | "testing.rs"))
}

/// The text without comments and without inline modules of tests. Strings stay.
pub(super) fn code(text: &str) -> String {
    let mut code = without_comments(text);
    while let Some(at) = code.find("#[cfg(test)]") {
        let end = end_of_item(&code[at..]).map_or(code.len(), |length| at + length);
        code.replace_range(at..end, "");
    }
    code
}

/// How long the item at the beginning is: to the bracket that closes it, or to its semicolon.
fn end_of_item(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = "#[cfg(test)]".len();
    while at < code.len() {
        let rest = &code[at..];
        let string = literal(rest);
        if string > 0 {
            at += string;
            continue;
        }
        match rest.as_bytes()[0] {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at + 1),
            b'}' => depth = depth.checked_sub(1)?,
            b';' if depth == 0 => return Some(at + 1),
            _ => {}
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    None
}

fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let comment = comment(rest);
        if comment > 0 {
            rest = &rest[comment..];
            continue;
        }
        let length = match literal(rest) {
            0 => rest.chars().next().map_or(1, char::len_utf8),
            literal => literal,
        };
        code.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    code
}

/// The length of the comment that the text begins with.
fn comment(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if !text.starts_with("/*") {
        return 0;
    }
    // Block comments nest.
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match text.as_bytes().get(at..at + 2) {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length of the string or character literal that the text begins with.
fn literal(text: &str) -> usize {
    let raw = text.strip_prefix("br").or_else(|| text.strip_prefix('r'));
    if let Some(rest) = raw {
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        if rest[hashes..].starts_with('"') {
            let end = format!("\"{}", &rest[..hashes]);
            let body = text.len() - rest.len() + hashes + 1;
            return text[body..].find(&end).map_or(text.len(), |at| body + at + end.len());
        }
    }
    match text.as_bytes() {
        [b'"', ..] => 1 + escaped(&text[1..], '"'),
        [b'\'', b'\\', ..] => 1 + escaped(&text[1..], '\''),
        // A lifetime has no quote behind its first letter.
        [b'\'', ..] => match text[1..].chars().next() {
            Some(char) if text[1 + char.len_utf8()..].starts_with('\'') => 2 + char.len_utf8(),
            _ => 0,
        },
        _ => 0,
    }
}

/// The length up to the quote that ends a literal, the quote included.
fn escaped(text: &str, quote: char) -> usize {
    let mut escape = false;
    for (at, char) in text.char_indices() {
        match char {
            _ if escape => escape = false,
            '\\' => escape = true,
            _ if char == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[test]
fn comments_and_tests_are_no_code() {
    let text = r##"
/* a /* nested */ comment */ let a = "// no comment"; // a comment
let b = r#"a "quoted" // text"#; let c = '"'; let d: &'static str = "\"//";
#[cfg(test)]
mod tests {
    fn brace() -> char { '}' }
    const S: &str = "}";
}
fn after() {}
#[cfg(test)]
mod elsewhere;
fn last() {}
"##;
    let code = code(text);
    for word in ["// no comment", "a \"quoted\" // text", "fn after", "fn last", "\"\\\"//\""] {
        assert!(code.contains(word), "{word} in {code}");
    }
    for word in ["nested", "a comment", "brace", "const S", "elsewhere"] {
        assert!(!code.contains(word), "{word} in {code}");
    }
}
