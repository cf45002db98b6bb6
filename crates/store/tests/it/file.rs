//! What only a file can suffer.
