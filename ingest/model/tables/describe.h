/* Defines `table_<id>`, the description of the rows of TABLE_DEF, whose struct is TABLE_ROW. */
#include "ingest/model/tables/kinds.h"

/* ---- columns ---- */
#define TABLE(id, stored, schema, doc) static const struct table_column id##_columns[] = {
#define COLUMN(kind, field_, name_, unit, flags_, doc) \
    {.name = #name_,                                   \
     .field = #field_,                                 \
     .is_stored = true,                                \
     .flags = (flags_),                                \
     .offset = offsetof(TABLE_ROW, field_),            \
     IS_##kind},
#define ADDED(kind, field_, name_, unit, flags_, sort_by_, doc) \
    {.name = #name_,                                            \
     .field = #field_,                                          \
     .sort_by = (sort_by_),                                     \
     .flags = (flags_),                                         \
     .offset = offsetof(TABLE_ROW, field_),                     \
     IS_##kind},
#define RATIO(name_, part, whole, unit, flags_, doc) \
    {.name = #name_,                                 \
     .field = "",                                    \
     .flags = (flags_),                              \
     .offset = offsetof(TABLE_ROW, part),            \
     .whole_offset = offsetof(TABLE_ROW, whole),     \
     .kind = TABLE_RATIO},
#define DELTA(name_, from, less, unit, doc)     \
    {.name = #name_,                            \
     .field = "",                               \
     .offset = offsetof(TABLE_ROW, from),       \
     .whole_offset = offsetof(TABLE_ROW, less), \
     .kind = TABLE_DELTA},
#define ARRAY(kind, field, count)
#define MEMBER(name)
#define ELEMENT(kind, field_, index, stored_, name_, unit, flags_, doc)                     \
    {.name = #name_,                                                                        \
     .field = #stored_,                                                                     \
     .is_stored = true,                                                                     \
     .flags = (flags_),                                                                     \
     .offset = offsetof(TABLE_ROW, field_[index]), /* NOLINT(bugprone-macro-parentheses) */ \
     IS_##kind},
#include TABLE_DEF
}
;
#include "ingest/model/tables/clear.h"

#ifdef TABLE_KEYED
/* ---- SQL: each statement is one text, so that it is found again by its address ---- */
#define ADDED(kind, field, name, unit, flags, sort_by, doc)
#define RATIO(name, part, whole, unit, flags, doc)
#define DELTA(name, from, less, unit, doc)
#define ARRAY(kind, field, count)
#define MEMBER(name)
#define COLUMN(kind, field, name, unit, flags, doc) ", " STORED_##kind(field)
#define ELEMENT(kind, field, index, stored, name, unit, flags, doc) ", " STORED_##kind(stored)
#define TABLE(id, stored, schema, doc) \
    static const char id##_select_sql[] = "SELECT " TABLE_KEYED(PLACE)
#include TABLE_DEF
#undef TABLE
#undef COLUMN
#undef ELEMENT
#define COLUMN(kind, field, name, unit, flags, doc)
#define ELEMENT(kind, field, index, stored, name, unit, flags, doc)
#define TABLE(id, stored, schema, doc) \
    " FROM " stored " WHERE " TABLE_KEYED(OWNER) " ORDER BY " TABLE_KEYED(PLACE)
#include TABLE_DEF
;
#undef TABLE
#undef COLUMN
#undef ELEMENT
#define COLUMN(kind, field, name, unit, flags, doc) ", " STORED_##kind(field)
#define ELEMENT(kind, field, index, stored, name, unit, flags, doc) ", " STORED_##kind(stored)
#define TABLE(id, stored, schema, doc) \
    static const char id##_insert_sql[] = "INSERT INTO " stored " (" TABLE_KEYED(KEY)
#include TABLE_DEF
#undef TABLE
#undef COLUMN
#undef ELEMENT
#define COLUMN(kind, field, name, unit, flags, doc) ", ?"
#define ELEMENT(kind, field, index, stored, name, unit, flags, doc) ", ?"
#define TABLE(id, stored, schema, doc) ") VALUES (" TABLE_KEYED(PARAMS)
#include TABLE_DEF
")" TABLE_KEYED(RETURNING);
#include "ingest/model/tables/clear.h"
#define TABLE_SQL(id) .insert_sql = id##_insert_sql, .select_sql = id##_select_sql,
#else
#define TABLE_SQL(id)
#endif

/* ---- the table ---- */
#define COLUMN(kind, field, name, unit, flags, doc)
#define ADDED(kind, field, name, unit, flags, sort_by, doc)
#define RATIO(name, part, whole, unit, flags, doc)
#define DELTA(name, from, less, unit, doc)
#define ARRAY(kind, field, count)
#define MEMBER(name)
#define ELEMENT(kind, field, index, stored, name, unit, flags, doc)
#define TABLE(id, stored, schema, doc)                                \
    const struct row_table table_##id = {                             \
        .name = (stored),                                             \
        TABLE_SQL(id).columns = id##_columns,                         \
        .column_count = sizeof id##_columns / sizeof id##_columns[0], \
        .row_bytes = sizeof(TABLE_ROW),                               \
    };
#include TABLE_DEF
#include "ingest/model/tables/clear.h"
#undef TABLE_SQL
#undef TABLE_KEYED
#undef TABLE_DEF
#undef TABLE_ROW
