//! Sets of bytes as 256-entry tables, built at compile time: one load tells whether a byte can matter.

/// The set of these bytes.
pub(super) const fn byte_set(members: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    // `for` does not run in a `const fn`.
    let mut at = 0;
    while at < members.len() {
        table[members[at] as usize] = true;
        at += 1;
    }
    table
}
