/* Figures as profilers print them for people: numbers with separators, and units.
 *
 * Numbers. Profilers print in the user's locale: 1,234.5 or 1.234,5 or 1 234,5 or 1'234.5. Where
 * both "." and "," occur, the last one is the decimal point; one that occurs more than once groups
 * digits. A single "." is a decimal point. A single "," groups digits where exactly three follow
 * and one to three others, the first not 0, stand before it (1,234 is 1234, as in English), else it
 * is a decimal point (12,5; 0,125). Grouped digits stand in threes, or it is no number.
 *
 * Units. Nsight Compute scales each value to a handy unit, so that one metric may be printed in
 * microseconds here and milliseconds there: figures are taken back to the unit without a prefix
 * (decimal prefixes), times to nanoseconds. */
#ifndef KS_FORMATS_NSIGHT_QUANTITY_H
#define KS_FORMATS_NSIGHT_QUANTITY_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum quantity { QUANTITY_NUMBER, QUANTITY_MISSING, QUANTITY_NONE };

/* QUANTITY_MISSING: "", "n/a", "-", "nan" and their like; QUANTITY_NONE: no number. *value is set
 * for numbers only. Blanks around it do not count; a "%" behind it is allowed. */
enum quantity quantity_read(const char *text, size_t len, double *value) KS_MUST_USE;
/* A number that is an integer. */
enum quantity quantity_read_integer(const char *text, size_t len, int64_t *value) KS_MUST_USE;

/* Nanoseconds in a unit of time: ns, nsecond, us, usecond, msec, s, second ... 0: none. */
double quantity_time_ns(const char *unit, size_t len);
/* Bytes in a unit of size: B, bytes, KB (1000), KiB (1024), Mbyte ... 0: none. */
double quantity_size_bytes(const char *unit, size_t len);
/* A time as nanoseconds; false: negative, or beyond 64 bits. */
bool quantity_to_ns(double value, double unit_ns, int64_t *ns) KS_MUST_USE;

/* The unit without a prefix, and the factor that takes values there: "Gbyte/second" is 1e9
 * "byte/second", "usecond" 1000 "ns", "Mhz" 1e6 "hz". Others stay as they are, with 1. */
#define QUANTITY_UNIT_BYTES 64
double quantity_base_unit(const char *unit, size_t len, char base[QUANTITY_UNIT_BYTES]);

#endif
