//! Views of PerfettoSQL over the other tables.

use datafusion::datasource::ViewTable;
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use std::sync::Arc;
use tracemill::engine::{ColumnDescription, TableDescription};
use tracemill_arrow::{IDS_PER_INPUT, TrackKind};

/// A view.
pub struct View {
    name: &'static str,
    /// One sentence about the rows.
    rows: &'static str,
    columns: &'static [ViewColumn],
    sql: fn() -> String,
}

/// A column of a view.
struct ViewColumn {
    name: &'static str,
    data_type: &'static str,
    meaning: &'static str,
}

/// Declares the columns of a view: name, SQL type, meaning.
macro_rules! columns {
    ($($name:ident $data_type:ident, $meaning:literal;)+) => {
        &[$(ViewColumn {
            name: stringify!($name),
            data_type: stringify!($data_type),
            meaning: $meaning,
        }),+]
    };
}

/// All views. A view may use those before it.
pub const VIEWS: &[View] = &[
    View {
        name: "thread_track",
        rows: "one row per thread",
        columns: columns! {
            id BIGINT, "track, unique over all inputs";
            name TEXT, "NULL";
            type TEXT, "kind of the track, as in Perfetto";
            utid BIGINT, "thread: joins thread";
        },
        sql: || {
            let kind = TrackKind::Thread;
            let (offset, kind) = (kind.offset(), kind.name());
            format!(
                "SELECT utid + {offset} AS id, NULL::text AS name, '{kind}' AS type, utid FROM thread"
            )
        },
    },
    View {
        name: "process_track",
        rows: "one row per process, and per async id that is local to one",
        columns: columns! {
            id BIGINT, "track, unique over all inputs";
            name TEXT, "name of the first async operation";
            type TEXT, "kind of the track, as in Perfetto";
            upid BIGINT, "process: joins process";
        },
        sql: || {
            let (process, local) = (TrackKind::Process, TrackKind::LocalAsync);
            format!(
                "SELECT upid + {} AS id, NULL::text AS name, '{}' AS type, upid FROM process \
                 UNION ALL \
                 SELECT s.track_id, s.name, '{}', t.upid FROM thread t \
                 RIGHT JOIN slice s ON t.utid = s.utid WHERE s.track_id = s.id + {}",
                process.offset(),
                process.name(),
                local.name(),
                local.offset()
            )
        },
    },
    View {
        name: "track",
        rows: "one row per track of slices, instants or counters",
        columns: columns! {
            id BIGINT, "track, unique over all inputs";
            name TEXT, "name of the counter or the first async operation";
            type TEXT, "kind of the track, as in Perfetto";
            utid BIGINT, "thread, if the track belongs to one";
            upid BIGINT, "process, if the track belongs to one";
        },
        sql: || {
            let (thread, ids, global) = (TrackKind::Thread, TrackKind::Async, TrackKind::Global);
            format!(
                "SELECT utid + {} AS id, NULL::text AS name, '{}' AS type, utid, upid FROM thread \
                 UNION ALL SELECT id, name, type, NULL::bigint, upid FROM process_track \
                 UNION ALL SELECT track_id, name, '{}', NULL::bigint, NULL::bigint FROM slice \
                 WHERE track_id = id + {} \
                 UNION ALL SELECT id, name, type, NULL::bigint, upid FROM counter_track \
                 UNION ALL SELECT DISTINCT track_id, NULL::text, '{}', NULL::bigint, NULL::bigint \
                 FROM (SELECT track_id FROM instant UNION ALL SELECT track_id FROM slice) AS g \
                 WHERE track_id % {IDS_PER_INPUT} = {}",
                thread.offset(),
                thread.name(),
                ids.name(),
                ids.offset(),
                global.name(),
                global.offset()
            )
        },
    },
    View {
        name: "thread_slice",
        rows: "slices of threads, with their threads and processes",
        columns: columns! {
            id BIGINT, "begin event, unique over all inputs";
            ts BIGINT, "start in nanoseconds, rounded down";
            dur BIGINT, "duration in nanoseconds, -1 if it is unknown";
            category TEXT, "categories, separated by commas";
            name TEXT, "name";
            track_id BIGINT, "track: joins thread_track";
            thread_name TEXT, "name of the thread";
            utid BIGINT, "thread";
            tid BIGINT, "tid, if it is an integer";
            is_main_thread BIGINT, "1 if the tid is the pid, otherwise 0";
            process_name TEXT, "name of the process";
            upid BIGINT, "process";
            pid BIGINT, "pid, if it is an integer";
            depth BIGINT, "number of slices around it on its track";
            parent_id BIGINT, "innermost slice of the track that contains it";
            arg_set_id BIGINT, "id, if there are args";
            thread_ts BIGINT, "CPU time of the thread at the start";
            thread_dur BIGINT, "CPU time of the thread in between";
            file TEXT, "name of the input";
            self_dur BIGINT, "duration outside children, -1 if it is unknown";
            args TEXT, "args of the begin event as JSON";
        },
        sql: || {
            "SELECT s.id, s.ts, s.dur, s.category, s.name, s.track_id, t.name AS thread_name, t.utid, \
             t.tid, t.is_main_thread, p.name AS process_name, p.upid, p.pid, s.depth, s.parent_id, \
             s.arg_set_id, s.thread_ts, s.thread_dur, s.file, s.self_dur, s.args \
             FROM thread t LEFT JOIN process p ON t.upid = p.upid \
             JOIN slice s ON t.utid = s.track_id"
                .to_owned()
        },
    },
    View {
        name: "process_slice",
        rows: "slices of processes: async operations with a local id, slices without a tid",
        columns: columns! {
            id BIGINT, "begin event, unique over all inputs";
            ts BIGINT, "start in nanoseconds, rounded down";
            dur BIGINT, "duration in nanoseconds, -1 if it is unknown";
            category TEXT, "categories, separated by commas";
            name TEXT, "name";
            track_id BIGINT, "track: joins process_track";
            process_name TEXT, "name of the process";
            upid BIGINT, "process";
            pid BIGINT, "pid, if it is an integer";
            depth BIGINT, "number of slices around it on its track";
            parent_id BIGINT, "innermost slice of the track that contains it";
            arg_set_id BIGINT, "id, if there are args";
            file TEXT, "name of the input";
            self_dur BIGINT, "duration outside children, -1 if it is unknown";
            args TEXT, "args of the begin event as JSON";
        },
        sql: || {
            "SELECT s.id, s.ts, s.dur, s.category, s.name, s.track_id, p.name AS process_name, \
             p.upid, p.pid, s.depth, s.parent_id, s.arg_set_id, s.file, s.self_dur, s.args \
             FROM process_track t LEFT JOIN process p ON t.upid = p.upid \
             JOIN slice s ON t.id = s.track_id"
                .to_owned()
        },
    },
    View {
        name: "thread_or_process_slice",
        rows: "slices of threads and of processes, with both",
        columns: columns! {
            id BIGINT, "begin event, unique over all inputs";
            ts BIGINT, "start in nanoseconds, rounded down";
            dur BIGINT, "duration in nanoseconds, -1 if it is unknown";
            category TEXT, "categories, separated by commas";
            name TEXT, "name";
            track_id BIGINT, "track: joins track";
            thread_name TEXT, "name of the thread, NULL for slices of processes";
            utid BIGINT, "thread, NULL for slices of processes";
            tid BIGINT, "tid, if it is an integer";
            process_name TEXT, "name of the process";
            upid BIGINT, "process";
            pid BIGINT, "pid, if it is an integer";
            depth BIGINT, "number of slices around it on its track";
            parent_id BIGINT, "innermost slice of the track that contains it";
            arg_set_id BIGINT, "id, if there are args";
        },
        sql: || {
            "SELECT id, ts, dur, category, name, track_id, thread_name, utid, tid, process_name, \
             upid, pid, depth, parent_id, arg_set_id FROM thread_slice UNION ALL \
             SELECT id, ts, dur, category, name, track_id, NULL::text, NULL::bigint, NULL::bigint, \
             process_name, upid, pid, depth, parent_id, arg_set_id FROM process_slice"
                .to_owned()
        },
    },
    View {
        name: "slice_self_dur",
        rows: "one row per slice",
        columns: columns! {
            id BIGINT, "slice";
            self_dur BIGINT, "duration outside children, -1 if it is unknown";
        },
        sql: || "SELECT id, self_dur FROM slice".to_owned(),
    },
];

impl View {
    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the description of the view.
    pub fn description(&self) -> TableDescription {
        let columns = self.columns.iter().map(|column| ColumnDescription {
            name: column.name.to_owned(),
            data_type: column.data_type,
            meaning: column.meaning,
        });
        TableDescription { name: self.name, rows: self.rows, columns: columns.collect() }
    }
}

/// Adds the views to a session that has the tables.
///
/// # Errors
/// Returns an error if the SQL of a view is wrong.
pub async fn add_views(context: &SessionContext) -> Result<()> {
    for view in VIEWS {
        let sql = (view.sql)();
        let plan = context.state().create_logical_plan(&sql).await?;
        context.register_table(view.name, Arc::new(ViewTable::new(plan, Some(sql))))?;
    }
    Ok(())
}
