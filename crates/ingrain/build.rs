//! Has the linker note the addresses to fill in at start in short (`DT_RELR`): a megabyte less to ship, two or three less
//! to keep in memory. glibc reads that form since 2.36, so a binary for older systems does without.

use std::env;
use std::process::Command;

/// The first glibc that reads the short form.
const GLIBC_MIN: (u32, u32) = (2, 36);

#[expect(clippy::disallowed_methods, reason = "this is how cargo tells")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=INGRAIN_PORTABLE");
    let target = env::var("TARGET").unwrap_or_default();
    let builds_for_host = target.ends_with("-linux-gnu") && env::var("HOST").is_ok_and(|host| host == target);
    if builds_for_host
        && env::var_os("INGRAIN_PORTABLE").is_none()
        && glibc_version().is_some_and(|version| version >= GLIBC_MIN)
    {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// As in `glibc 2.36`.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = version.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
