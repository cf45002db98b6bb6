//! Finds what must not be remembered: secrets, planted orders, raw logs.
