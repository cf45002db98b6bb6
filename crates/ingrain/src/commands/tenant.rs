//! `tenant`: lists and creates tenants.

use clap::{Args, Subcommand};
use engine::TenantStatus;
use engine::model::vocabulary::Role;
use serde::Serialize;

use crate::assemble;
use crate::caller::Identity;
use crate::config::Config;
use crate::error::Failure;
use crate::output::{Output, Tone};

/// Longest slug, in bytes: it is used in file names and headers.
const SLUG_BYTES_MAX: usize = 64;

#[derive(Debug, Args)]
pub struct TenantArgs {
    #[command(subcommand)]
    command: TenantCommand,
}

#[derive(Debug, Subcommand)]
enum TenantCommand {
    /// List all tenants
    List,
    /// Create a tenant with its default stores
    Create {
        /// Slug of the tenant: 1 to 64 of a-z, 0-9, `_` and `-`
        slug: String,
    },
}

#[derive(Serialize)]
struct TenantsView {
    tenants: Vec<TenantStatus>,
}

impl TenantArgs {
    pub fn run(self, config: &Config, output: &Output) -> Result<(), Failure> {
        // Callers belong to one tenant; only the local admin works across tenants.
        if config.identity.parse() != Ok(Identity::Admin) {
            let message = format!("only an {} may list or create tenants", Role::Admin);
            return Err(engine::model::refusal::Refusal::new("policy.admins_only", message).into());
        }
        let engine = assemble::open_engine(config)?;
        match self.command {
            TenantCommand::List => {
                // The default tenant always exists; on a new database it is created here.
                engine.start_tenant("default")?;
                let view = TenantsView { tenants: engine.tenants()? };
                let row = |TenantStatus { tenant, erased_at }: &TenantStatus| {
                    let erased = erased_at.map(|at| at.to_string()).unwrap_or_default();
                    vec![tenant.slug.clone(), tenant.id.to_string(), tenant.created_at.to_string(), erased]
                };
                output.print_answer(&view, || {
                    output.render_table(&["slug", "id", "created", "erased"], view.tenants.iter().map(row))
                })
            }
            TenantCommand::Create { slug } => {
                let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
                if slug.is_empty() || slug.len() > SLUG_BYTES_MAX || !slug.bytes().all(plain) {
                    return Err(Failure::user_error(
                        "shape.slug",
                        "a tenant slug has 1 to 64 characters of a-z, 0-9, `_` and `-`",
                    ));
                }
                if let Some(existing) = engine.tenants()?.iter().find(|known| known.tenant.slug == slug) {
                    return Err(tenant_exists_failure(existing));
                }
                let tenant = engine.create_tenant(&slug)?;
                output.print_answer(&tenant, || {
                    format!("{} tenant {slug} ({})", output.paint(Tone::Good, "created"), tenant.id)
                })
            }
        }
    }
}

fn tenant_exists_failure(TenantStatus { tenant, erased_at }: &TenantStatus) -> Failure {
    let slug = &tenant.slug;
    let (message, hint) = match erased_at {
        Some(at) => (
            format!("tenant `{slug}` already exists and was erased on {}", at.strftime("%F")),
            format!("the next save starts it again, empty: `ingrain --tenant {slug} remember …`"),
        ),
        None => (format!("tenant `{slug}` already exists"), format!("use it: `--tenant {slug}`")),
    };
    Failure::user_error("conflict.tenant_exists", message).with_hint(hint)
}
