//! One file per scenario and host: a section for each distinct transcript.

/// The text of a snapshot file. A section is headed by the revisions and transports that gave it.
#[must_use]
pub fn file(sections: &[(String, String)]) -> String {
    let mut distinct: Vec<(Vec<&str>, &str)> = Vec::new();
    for (name, text) in sections {
        match distinct.iter_mut().find(|(_, known)| known == text) {
            Some((names, _)) => names.push(name),
            None => distinct.push((vec![name], text)),
        }
    }
    let sections: Vec<String> =
        distinct.iter().map(|(names, text)| format!("# {}\n{text}", names.join(" "))).collect();
    sections.join("\n")
}
