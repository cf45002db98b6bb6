pub type Term = u32;
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Words {
    pub terms: Vec<(Term, u8)>,
    pub len: u32,
}
impl Words {
    pub fn to_bytes(&self) -> Vec<u8> {
        vec![]
    }
    pub fn from_bytes(_: &[u8]) -> Option<Words> {
        None
    }
}
pub struct Fields<'a> {
    pub title: Option<&'a str>,
    pub hint: Option<&'a str>,
    pub content: &'a str,
    pub tags: &'a [String],
    pub path: Option<&'a str>,
    pub speaker: Option<&'a str>,
}
pub fn index(_: &Fields) -> Words {
    Words::default()
}
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryWords {
    pub terms: Vec<QueryTerm>,
}
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    pub term: Term,
    pub weight: f32,
}
pub fn query(_: &str) -> QueryWords {
    QueryWords::default()
}
pub fn tokens(_: &str) -> Vec<String> {
    vec![]
}
