//! REST, live events and who is asking, through real sockets, on SQLite in memory or on Postgres.
mod auth;
mod borders;
mod bounds;
mod consent;
mod entrance;
mod episodic;
mod events;
mod fields;
mod govern;
mod house;
mod lines;
mod meanwhile;
mod memories;
mod misfit;
mod once;
mod others;
#[cfg(feature = "otlp")]
mod otlp;
mod postgres;
mod projects;
mod reference;
mod reviews;
mod shape;
mod token;
mod upkeep;
mod verbs;
mod windows;
