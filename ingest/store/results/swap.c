#include "ingest/store/results/swap.h"

static bool set_id(struct db *db, int64_t from, int64_t to, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "UPDATE trace SET id = ? WHERE id = ?");
    db_put_int(&st, to);
    db_put_int(&st, from);
    return db_run(&st, err);
}

/* Foreign keys follow (ON UPDATE CASCADE). */
static bool swap(struct db *db, int64_t old_id, int64_t new_id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "UPDATE trace SET note = (SELECT o.note FROM trace AS o WHERE o.id = ?1),"
               " tags = (SELECT o.tags FROM trace AS o WHERE o.id = ?1) WHERE id = ?2");
    db_put_int(&st, old_id);
    db_put_int(&st, new_id);
    return db_run(&st, err) && set_id(db, old_id, -old_id, err) &&
           set_id(db, new_id, old_id, err) && set_id(db, -old_id, new_id, err);
}

/* An old trace has the smaller id until it is exchanged. */
static bool next_pair(struct db *db,
                      int64_t old_upload_id,
                      int64_t new_upload_id,
                      int64_t *old_id,
                      int64_t *new_id,
                      struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT o.id, n.id FROM trace AS o JOIN trace AS n ON n.upload_id = ?2 AND"
               " n.worker = o.worker AND n.span_digits = o.span_digits AND n.id > o.id AND"
               " n.derived_of IS NULL WHERE o.upload_id = ?1 AND o.derived_of IS NULL LIMIT 1");
    db_put_int(&st, old_upload_id);
    db_put_int(&st, new_upload_id);
    *old_id = 0;
    if (db_next(&st)) {
        *old_id = db_get_int(&st);
        *new_id = db_get_int(&st);
    }
    return db_done(&st, err);
}

bool swap_traces(struct db *db, int64_t old_upload_id, int64_t new_upload_id, struct err *err)
{
    int64_t old_id = 0;
    int64_t new_id = 0;
    bool ok = next_pair(db, old_upload_id, new_upload_id, &old_id, &new_id, err);
    while (ok && old_id != 0) {
        ok = swap(db, old_id, new_id, err) &&
             next_pair(db, old_upload_id, new_upload_id, &old_id, &new_id, err);
    }
    return ok;
}

bool swap_leave_deleted(struct db *db, int64_t upload_id, struct err *err)
{
    return db_run_id(db,
                     "UPDATE trace SET upload_id = NULL WHERE upload_id = ?1 AND EXISTS"
                     " (SELECT 1 FROM deleted_trace AS d JOIN upload AS u ON u.job_id = d.job_id"
                     " WHERE u.id = ?1 AND d.worker = trace.worker"
                     " AND d.span_digits = trace.span_digits)",
                     upload_id, err);
}
