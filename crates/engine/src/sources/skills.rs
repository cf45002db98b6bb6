//! Skills: SKILL.md files with instructions for a model. They are read from files, not stored, and never cut.

use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::error::Error;
use crate::model::refusal::Refusal;
use crate::safety::{self, Concern};

/// Where the configured skills are read from. Read on every use, so that a changed file has effect at once.
pub trait SkillSource: Send + Sync + std::fmt::Debug {
    /// Every skill, in a fixed order, and the files that are not valid skills.
    fn load_skills(&self) -> LoadedSkills;
}

/// The skills of a source. An invalid file does not affect the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadedSkills {
    pub skills: Vec<Skill>,
    pub left_out: Vec<SkippedSkill>,
}

/// A file that is not a valid skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedSkill {
    /// Name of its folder. Agents see this, never the full path.
    pub name: String,
    pub file: String,
    pub code: &'static str,
    pub why: String,
}

impl SkippedSkill {
    /// Note about it in a context window.
    pub fn to_note(&self) -> String {
        format!("skill `{}` left out: {} [{}]", self.name, self.why, self.code)
    }
}

/// The content of a SKILL.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub body: String,
}

impl Skill {
    /// [`Skill::parse`] that refuses a file with a secret: skills are shown in every window.
    pub fn parse_checked(text: &str) -> Result<Skill, Error> {
        let skill = Skill::parse(text)?;
        // Only secrets: instructions are what a skill is made of.
        let secret = safety::inspect(text).into_iter().find(|finding| finding.concern == Concern::Secret);
        match secret {
            Some(finding) => {
                let message = format!("it seems to hold a secret: rule `{}`", finding.rule);
                Err(Refusal::new("safety.secret_found", message).into())
            }
            None => Ok(skill),
        }
    }

    /// Parses a SKILL.md: `name` and `description` between two lines of `---`, then the body.
    pub fn parse(text: &str) -> Result<Skill, Error> {
        let invalid = |rule: &str| Error::invalid("skill.invalid", format!("a SKILL.md {rule}"));
        // Editors on Windows add a byte order mark and CRLF.
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let rest = text.strip_prefix("---\n").ok_or_else(|| invalid("begins with a line of `---`"))?;
        let (front, body) = rest.split_once("\n---").ok_or_else(|| invalid("has a second line of `---`"))?;
        let field = |name: &str| {
            let line = front.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
            line.map(|value| value.trim().trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
        };
        Ok(Skill {
            name: field("name").ok_or_else(|| invalid("needs a `name`"))?,
            description: field("description").unwrap_or_default(),
            // The closing line may have more than three dashes.
            body: body.trim_start_matches('-').trim().to_owned(),
        })
    }
}

impl Engine {
    /// The configured skills. They apply to all tenants.
    pub fn skills(&self) -> LoadedSkills {
        self.settings.skills.as_ref().map(|source| source.load_skills()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_is_a_name_a_description_and_a_body() {
        let skill = Skill::parse("---\nname: deploy\ndescription: \"how to: ship\"\n---\n\n# Steps\n--- not an end\n");
        let skill = skill.expect("reads");
        assert_eq!((skill.name.as_str(), skill.description.as_str()), ("deploy", "how to: ship"));
        assert_eq!(skill.body, "# Steps\n--- not an end");
        for invalid in ["", "name: x", "---\nname: x\n", "---\ndescription: y\n---\nbody"] {
            assert_eq!(Skill::parse(invalid).map_err(|error| error.code()), Err("skill.invalid"), "{invalid}");
        }
    }
}
