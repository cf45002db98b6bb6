pub(crate) mod finding;
pub(crate) mod forgetting;
pub(crate) mod reading;
pub(crate) mod records;
pub(crate) mod writing;
