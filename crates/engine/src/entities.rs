#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Entity {
    pub name: String,
}
pub fn extract(_: &str) -> Vec<Entity> {
    vec![]
}
