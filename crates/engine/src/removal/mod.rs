//! Removal: forget (a tombstone), redact (the text goes), quarantine (out of use for a while), and the certificates
//! that prove an erasure. Erasing a user, a pipeline or a tenant is in `admin::erase`.

pub mod certificate;
pub(crate) mod forget;
pub(crate) mod quarantine;
pub(crate) mod redact;
