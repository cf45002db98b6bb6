//! The embedders as the rest of the product sees them.
mod fixed;
mod http;
mod tokens;
mod transformer;
