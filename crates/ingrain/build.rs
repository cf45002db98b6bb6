//! Linker option: packed relative relocations (`DT_RELR`). The binary is 1 MB smaller and needs 2 to 3 MB less memory.
//! glibc supports them since 2.36; `INGRAIN_PORTABLE` leaves them out, for binaries that must run on older systems.

use std::env;
use std::process::Command;

/// First glibc that loads `DT_RELR`.
const GLIBC_MIN: (u32, u32) = (2, 36);

#[expect(clippy::disallowed_methods, reason = "cargo passes the target to build scripts in variables")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=INGRAIN_PORTABLE");
    let target = env::var("TARGET").unwrap_or_default();
    let builds_for_host = target.ends_with("-linux-gnu") && env::var("HOST").is_ok_and(|host| host == target);
    // A cross build cannot ask the target for its glibc.
    if builds_for_host
        && env::var_os("INGRAIN_PORTABLE").is_none()
        && glibc_version().is_some_and(|version| version >= GLIBC_MIN)
    {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Version of the glibc on this machine; `getconf` prints `glibc 2.36`.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = version.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
