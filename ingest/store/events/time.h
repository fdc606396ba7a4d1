/* Times of events as files write them: microseconds, whole, decimal, or whatever else holds a
 * number. Results are nanoseconds, exact; what lies beyond the third decimal is rounded half away
 * from zero. False: no number, or beyond +-2^62 ns, as the readers of traces have it. */
#ifndef KS_STORE_EVENTS_TIME_H
#define KS_STORE_EVENTS_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `value` without its point, `digits` (1 to 19) behind the point; 0: an integer. */
bool event_time_number(int64_t value, int64_t digits, int64_t *ns);
/* A JSON value: 1.5e3, "123". */
bool event_time_text(const char *json, size_t len, int64_t *ns);

#endif
