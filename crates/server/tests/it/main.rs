//! REST, live events and who is asking, through real sockets on an in-memory database.
mod auth;
mod borders;
mod episodic;
mod events;
mod govern;
mod house;
mod memories;
mod once;
mod others;
mod reference;
mod shape;
mod token;
