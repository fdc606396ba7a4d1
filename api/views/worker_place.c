#include "api/views/worker_place.h"

#include <ctype.h>
#include <string.h>

#define BACKEND_KEY "distributedInfo.backend"

struct worker_place worker_place_of(struct api_call *call, const char *worker, size_t position)
{
    for (size_t i = strlen(worker); i-- > 0;) {
        if (worker[i] == '_' && isdigit((unsigned char)worker[i + 1])) {
            size_t digits = strspn(worker + i + 1, "0123456789");
            return (struct worker_place){arena_strndup(call_arena(call), worker, i),
                                         arena_strndup(call_arena(call), worker + i + 1, digits)};
        }
    }
    return (struct worker_place){worker, call_format(call, "%zu", position)};
}

static const char *environment_of(const struct trace_results *results, const char *name)
{
    for (size_t i = 0; i < results->environment_count; i++) {
        if (strcmp(results->environment[i].name, name) == 0) {
            return results->environment[i].value;
        }
    }
    return NULL;
}

const char *worker_backend(const struct trace_results *results)
{
    const char *told = environment_of(results, BACKEND_KEY);
    return told == NULL || *told == '\0' ? NULL : told;
}
