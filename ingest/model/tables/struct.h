/* The members of the row struct of TABLE_DEF: include it between the braces. */
#define TABLE(id, stored, schema, doc)
#define COLUMN(kind, field, name, unit, flags, doc) TABLE_FIELD_##kind(field)
#define ADDED(kind, field, name, unit, flags, sort_by, doc) TABLE_FIELD_##kind(field)
#define RATIO(name, part, whole, unit, flags, doc)
#define DELTA(name, from, less, unit, doc)
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator */
#define ARRAY(kind, field, count) TABLE_FIELD_##kind(field[count])
#define ELEMENT(kind, field, index, stored, name, unit, flags, doc)
#define MEMBER(name)
#include TABLE_DEF
#include "ingest/model/tables/clear.h"
#undef TABLE_DEF
