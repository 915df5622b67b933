//! How the tools of a server differ from what they were: after a restart, or when they change from outside.

use super::script::Tool;

/// Changes to a list of tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// Tools that come, behind the others.
    pub add: Vec<Tool>,
    /// Registered names of tools that go.
    pub remove: Vec<String>,
    /// Tools that take the place of those of the same name.
    pub replace: Vec<Tool>,
}

impl Edit {
    /// Changes a list. What is to go or to be replaced and is not there is no error: a restarted server may have lost it.
    pub fn apply(&self, tools: &mut Vec<Tool>) {
        tools.retain(|tool| !self.remove.contains(&tool.name));
        for tool in tools.iter_mut() {
            if let Some(new) = self.replace.iter().find(|new| new.name == tool.name) {
                *tool = new.clone();
            }
        }
        tools.extend(self.add.iter().cloned());
    }

    /// The tools that it brings, new ones and replacements.
    pub fn brings(&self) -> impl Iterator<Item = &Tool> {
        self.add.iter().chain(&self.replace)
    }
}

/// What a server offers from one of its processes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// The first process, counted from 1 within one host run.
    pub from: u32,
    /// What differs from the processes before.
    pub edit: Edit,
}
