#include "ingest/store/history/changes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CHANGES_KEPT 10000
#define IN_GAPS "id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))"

bool changes_add(struct db *db, int64_t run_id, struct err *err)
{
    struct db_stmt st;
    int64_t change_id = 0;
    db_prepare(&st, db, "INSERT INTO series_change (run_id) VALUES (?) RETURNING id");
    db_put_int(&st, run_id);
    return db_run_returning(&st, &change_id, err) &&
           db_run_id(db, "DELETE FROM series_change WHERE id <= ?", change_id - CHANGES_KEPT, err);
}

bool changes_are_seen(const struct changes *changes, struct db *db, bool *are, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT 1 FROM series_change WHERE id > ? OR " IN_GAPS " LIMIT 1");
    db_put_int(&st, changes->seen);
    db_put_text(&st, changes->gaps_json);
    *are = !db_next(&st);
    return db_done(&st, err);
}

/* The oldest of too many are given up. */
static void add_gap(struct changes *changes, int64_t id)
{
    if (changes->gap_count == CHANGES_GAPS) {
        memmove(changes->gaps, changes->gaps + 1, (CHANGES_GAPS - 1) * sizeof *changes->gaps);
        changes->gap_count--;
    }
    changes->gaps[changes->gap_count++] = id;
}

static void drop_gap(struct changes *changes, int64_t id)
{
    size_t kept = 0;
    for (size_t i = 0; i < changes->gap_count; i++) {
        changes->gaps[kept] = changes->gaps[i];
        kept += changes->gaps[i] != id;
    }
    changes->gap_count = kept;
}

static void note_gaps(struct changes *changes)
{
    size_t len = 0;
    for (size_t i = 0; i < changes->gap_count; i++) {
        len += (size_t)snprintf(changes->gaps_json + len, CHANGES_GAP_BYTES + 1, "%c%" PRId64,
                                i == 0 ? '[' : ',', changes->gaps[i]);
    }
    (void)snprintf(changes->gaps_json + len, 3, "%s", len == 0 ? "[]" : "]");
}

/* The numbers of changes are given before they are committed: where servers share a catalogue, a
 * smaller one may come later. */
static void see(struct changes *changes, int64_t id)
{
    if (id < changes->seen) {
        drop_gap(changes, id);
        return;
    }
    int64_t first = id - changes->seen > CHANGES_GAPS ? id - CHANGES_GAPS : changes->seen + 1;
    for (int64_t missing = first; missing < id; missing++) {
        add_gap(changes, missing);
    }
    changes->seen = id;
}

static bool add_run(int64_t *runs, size_t max, size_t *count, int64_t run_id)
{
    size_t at = 0;
    while (at < *count && runs[at] != run_id) {
        at++;
    }
    if (at == max) {
        return false;
    }
    runs[at] = run_id;
    *count += at == *count;
    return true;
}

bool changes_see(struct changes *changes,
                 struct db *db,
                 bool is_first,
                 int64_t *runs,
                 size_t max,
                 size_t *count,
                 bool *are_all,
                 struct err *err)
{
    struct db_stmt st;
    int64_t first = 0;
    if (!db_read_int(db, "SELECT coalesce(min(id), 0) FROM series_change", &first, err)) {
        return false;
    }
    *count = 0;
    *are_all = !is_first && first <= changes->seen + 1;
    if (!*are_all) {
        /* What may still be committed comes after these. */
        changes->gap_count = 0;
        changes->seen = first > 0 ? first - 1 : 0;
        note_gaps(changes);
    }
    db_prepare(&st, db,
               "SELECT id, run_id FROM series_change WHERE id > ? OR " IN_GAPS " ORDER BY id");
    db_put_int(&st, changes->seen);
    db_put_text(&st, changes->gaps_json);
    while (db_next(&st)) {
        see(changes, db_get_int(&st));
        *are_all = *are_all && add_run(runs, max, count, db_get_int(&st));
    }
    note_gaps(changes);
    return db_done(&st, err);
}
