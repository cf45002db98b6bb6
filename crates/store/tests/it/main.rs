//! The conformance suite: every case runs on every backend. A backend's bug gets a case here.

mod altered;
mod cases;
mod copying;
mod exhaustive;
mod file;
mod held;
mod log_position;
mod lost_answer;
mod parity;
mod plans;
mod postgres;
mod repair;
mod sealed;
mod server;
mod trust;
mod verify;
mod world;

use store::{Location, SqliteOptions, open_sqlite};

/// Runs each case on a fresh database of each backend.
macro_rules! conformance {
    ($($module:ident :: { $($case:ident),+ $(,)? }),+ $(,)?) => {
        mod sqlite_in_memory {
            $(mod $module { $(#[test] fn $case() { crate::on_memory(crate::cases::$module::$case); })+ })+
        }
        mod sqlite_in_a_file {
            $(mod $module { $(#[test] fn $case() { crate::on_file(crate::cases::$module::$case); })+ })+
        }
        mod sqlite_without_an_index {
            $(mod $module { $(#[test] fn $case() { crate::on_no_index(crate::cases::$module::$case); })+ })+
        }
        mod postgres_server {
            $(mod $module { $(
                #[test]
                #[ignore = "needs Postgres: scripts/postgres-test"]
                fn $case() { crate::on_postgres(crate::cases::$module::$case); }
            )+ })+
        }
    };
}

type Case = fn(&dyn engine::ports::Backend);

fn on_memory(case: Case) {
    case(&*open_sqlite(&Location::Memory, &SqliteOptions::default()).expect("opens"));
}

fn on_no_index(case: Case) {
    let options = SqliteOptions { recall_bytes_max: 0, ..SqliteOptions::default() };
    case(&*open_sqlite(&Location::Memory, &options).expect("opens"));
}

fn on_file(case: Case) {
    let folder = tempfile::tempdir().expect("a folder");
    let location = Location::File(folder.path().join("ingrain.db"));
    case(&*open_sqlite(&location, &SqliteOptions::default()).expect("opens"));
}

fn on_postgres(case: Case) {
    case(&*postgres::Database::fresh(&postgres::server()).open());
}

conformance! {
    writing::{
        a_memory_is_read_back_as_it_was_written,
        a_taken_path_or_hash_is_a_failed_guard,
        a_failed_guard_writes_nothing,
        what_is_submitted_is_answered_once_it_is_written,
        of_64_patchers_one_wins,
        what_fails_among_others_fails_alone,
        versions_are_contiguous_and_newest_first,
        a_vector_stays_while_the_content_does,
        a_late_vector_needs_its_version_to_stand,
        places_count_and_move,
        turns_end_where_they_end,
        a_run_saves_so_many,
        what_is_written_together_sees_each_other,
        later_is_written_by_flush,
    },
    reading::{
        a_stranger_sees_nothing,
        tenants_are_walls,
        lists_come_in_order_and_in_pages,
        the_least_important_fades_first,
        what_has_faded_is_found_in_every_place,
        the_last_turn_of_a_session_comes_first,
        what_is_due_comes_first_to_expire_first,
        filters_say_what_they_mean,
        an_archived_store_is_not_read,
        places_of_one_kind_are_listed,
        the_past_is_as_it_was,
    },
    finding::{
        turns_beside_the_best_are_found,
        words_find_the_best_first,
        statistics_are_of_what_is_seen,
        the_nearest_vectors_are_found,
        filters_come_before_scoring,
        a_closed_store_takes_no_place_in_the_pool,
        a_find_sees_every_write,
        every_searched_field_is_searched_in_the_past,
        the_newest_a_piece_and_the_asked_about,
    },
    records::{
        rows_are_found_by_their_columns,
        a_row_guard_looks_at_the_state,
        events_are_gapless_and_chained,
        recalls_are_counted,
    },
    forgetting::{
        redaction_takes_text_and_leaves_the_story,
        erasing_a_place_leaves_nothing,
    },
}
