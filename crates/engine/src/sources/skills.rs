//! Skills: files that tell a model how to do something. Global, never cut, never rows.

use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::error::Error;
use crate::model::refusal::Refusal;
use crate::safety::{self, Concern};

/// Where configured skills are: a folder that is looked at when they are wanted, so that a change shows at once.
pub trait SkillSource: Send + Sync + std::fmt::Debug {
    /// Every skill, in a fixed order, and what is none.
    fn load_skills(&self) -> LoadedSkills;
}

/// What a shelf holds. One file that is no skill takes nothing from the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadedSkills {
    pub skills: Vec<Skill>,
    pub left_out: Vec<SkippedSkill>,
}

/// A file that is given to nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedSkill {
    /// The folder it is in, by name: agents are told no more of where.
    pub name: String,
    pub file: String,
    pub code: &'static str,
    pub why: String,
}

impl SkippedSkill {
    /// What a window says of it.
    pub fn to_note(&self) -> String {
        format!("skill `{}` left out: {} [{}]", self.name, self.why, self.code)
    }
}

/// One SKILL.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub body: String,
}

impl Skill {
    /// Reads a SKILL.md that goes into every window: one that holds a secret is none.
    pub fn parse_checked(text: &str) -> Result<Skill, Error> {
        let skill = Skill::parse(text)?;
        let secret = safety::inspect(text).into_iter().find(|finding| finding.concern == Concern::Secret);
        match secret {
            Some(finding) => {
                let message = format!("it looks like it holds a secret: rule `{}`", finding.rule);
                Err(Refusal::new("safety.secret_found", message).into())
            }
            None => Ok(skill),
        }
    }

    /// Reads a SKILL.md: `name` and `description` between two lines of `---`, then the body.
    pub fn parse(text: &str) -> Result<Skill, Error> {
        let wrong = |what: &str| Error::invalid("skill.invalid", format!("a SKILL.md {what}"));
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let rest = text.strip_prefix("---\n").ok_or_else(|| wrong("begins with a line of `---`"))?;
        let (front, body) = rest.split_once("\n---").ok_or_else(|| wrong("has a second line of `---`"))?;
        let field = |name: &str| {
            let line = front.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
            line.map(|value| value.trim().trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
        };
        Ok(Skill {
            name: field("name").ok_or_else(|| wrong("needs a `name`"))?,
            description: field("description").unwrap_or_default(),
            body: body.trim_start_matches('-').trim().to_owned(),
        })
    }
}

impl Engine {
    /// The configured skills: global, never cut, never expired.
    pub fn skills(&self) -> LoadedSkills {
        self.settings.skills.as_ref().map(|shelf| shelf.load_skills()).unwrap_or_default()
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
        for odd in ["", "name: x", "---\nname: x\n", "---\ndescription: y\n---\nbody"] {
            assert_eq!(Skill::parse(odd).map_err(|error| error.code()), Err("skill.invalid"), "{odd}");
        }
    }
}
