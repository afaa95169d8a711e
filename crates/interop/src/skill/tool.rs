//! [`SkillTool`]: loads a skill when it is needed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use antiphon_agent::permission::Subject;
use antiphon_agent::{Class, Spec};
use antiphon_event::{CallType, Json, Provenance};
use antiphon_port::{Future, Tool, ToolCall, ToolFault, ToolReply};
use serde::Deserialize;
use serde_json::json;

use super::{FILE, Skill, front, read};

/// The tool `skill`: gives the instructions of a skill, or another file of it.
#[derive(Debug)]
pub struct SkillTool {
    spec: Spec,
    folders: BTreeMap<String, PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    name: String,
    file: Option<String>,
}

impl SkillTool {
    /// A tool for these skills; none if there are none.
    pub fn new(skills: &[Skill]) -> Option<Self> {
        if skills.is_empty() {
            return None;
        }
        let folders: BTreeMap<_, _> =
            skills.iter().map(|skill| (skill.name.clone(), skill.folder.clone())).collect();
        let spec = Spec {
            name: "skill".to_owned(),
            description:
                "Loads a skill: instructions for a particular task. Give the name of a skill to get its \
                          instructions, and the name of a file as well to get another file of that skill."
                    .to_owned(),
            input: Json::from(json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "enum": folders.keys().collect::<Vec<_>>(), "description": "The skill."},
                    "file": {"type": "string", "description": "A file in its folder; its instructions if absent."},
                },
                "required": ["name"],
                "additionalProperties": false,
            })),
            class: Class::Read,
            call_type: Some(CallType::Skill),
        };
        Some(Self { spec, folders })
    }

    fn folder(&self, input: &Json) -> Result<(PathBuf, Input), ToolFault> {
        let input: Input = serde_json::from_str(input.as_str())
            .map_err(|error| ToolFault::new(format!("the arguments do not fit: {error}")))?;
        let Some(folder) = self.folders.get(&input.name) else {
            let known: Vec<_> = self.folders.keys().map(String::as_str).collect();
            let asked: String = input.name.chars().take(80).collect();
            return Err(ToolFault::new(format!(
                "there is no skill `{asked}`: there are {}",
                known.join(", ")
            )));
        };
        Ok((folder.clone(), input))
    }
}

impl Tool for SkillTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn subjects(&self, input: &Json) -> Vec<Subject> {
        let Ok((folder, input)) = self.folder(input) else {
            return Vec::new();
        };
        let file = input.file.unwrap_or_else(|| FILE.to_owned());
        let Ok(resolved) = read::resolve(&folder, &file) else {
            return Vec::new();
        };
        vec![Subject::Path { given: file, resolved: resolved.display().to_string(), writes: false }]
    }

    fn call(&self, call: ToolCall) -> Future<Result<ToolReply, ToolFault>> {
        let asked = self.folder(&call.input);
        Box::pin(async move {
            let (folder, input) = asked?;
            let name = input.name.clone();
            let read = tokio::task::spawn_blocking(move || match input.file {
                Some(file) => read::text(&folder, &file),
                None => instructions(&folder),
            });
            let text = read.await.unwrap_or_else(|_| Err("reading was stopped".to_owned()));
            let text = text.map_err(|message| ToolFault::new(format!("skill `{name}`: {message}")))?;
            Ok(ToolReply { output: Json::from(text.as_str()), provenance: Some(Provenance::File) })
        })
    }
}

/// What a skill says, and what else is in its folder.
fn instructions(folder: &Path) -> Result<String, String> {
    let text = read::text(folder, FILE)?;
    let front = front::parse(&text).map_err(|wrong| format!("{FILE}:{}: {}", wrong.line, wrong.message))?;
    let others = read::others(folder, FILE);
    let mut said = format!("The folder of this skill is {}\n", folder.display());
    if !others.is_empty() {
        said += "Other files in it: ";
        said += &others.join(", ");
        said += "\n";
    }
    said += "\n";
    said += front.body;
    Ok(said)
}
