/* Defines `table_<id>`, the description of the rows of TABLE_DEF, whose struct is TABLE_ROW. */

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
        .columns = id##_columns,                                      \
        .column_count = sizeof id##_columns / sizeof id##_columns[0], \
        .row_bytes = sizeof(TABLE_ROW),                               \
    };
#include TABLE_DEF
#include "ingest/model/tables/clear.h"
#undef TABLE_DEF
#undef TABLE_ROW
