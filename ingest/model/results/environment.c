#include "ingest/model/results/environment.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    const char *label;
    bool is_decisive;
} facts[ENVIRONMENT_FACT_COUNT] = {
    [ENVIRONMENT_DEVICE] = {"device", "Device", true},
    [ENVIRONMENT_DEVICES] = {"devices", "Devices at work", true},
    [ENVIRONMENT_MEMORY] = {"memory", "Device memory", false},
    [ENVIRONMENT_CAPABILITY] = {"compute_capability", "Compute capability", true},
    [ENVIRONMENT_WORLD_SIZE] = {"world_size", "World size", true},
    [ENVIRONMENT_BACKEND] = {"backend", "Backend", true},
    [ENVIRONMENT_COMMUNICATION] = {"communication_library", "Communication library", false},
    [ENVIRONMENT_DRIVER] = {"driver", "Driver", false},
    [ENVIRONMENT_RUNTIME] = {"runtime", "Runtime", false},
    [ENVIRONMENT_FRAMEWORK] = {"framework", "Framework", false},
    [ENVIRONMENT_PROFILER] = {"profiler", "Profiler", false},
    [ENVIRONMENT_OPTIONS] = {"profiler_options", "Profiler options", false},
    [ENVIRONMENT_STEPS] = {"steps", "Steps", false},
};

const char *environment_fact_name(enum environment_fact fact)
{
    return facts[fact].name;
}

const char *environment_fact_label(enum environment_fact fact)
{
    return facts[fact].label;
}

const char *environment_match_name(enum environment_match match)
{
    static const char *const names[] = {[ENVIRONMENT_SAME] = "same",
                                        [ENVIRONMENT_DIFFERENT] = "different",
                                        [ENVIRONMENT_UNKNOWN] = "unknown"};
    return names[match];
}

enum environment_match environment_match(const struct environment sides[2],
                                         enum environment_fact fact)
{
    const char *base = sides[0].facts[fact];
    const char *candidate = sides[1].facts[fact];
    if (base == NULL || candidate == NULL) {
        return ENVIRONMENT_UNKNOWN;
    }
    return strcmp(base, candidate) == 0 ? ENVIRONMENT_SAME : ENVIRONMENT_DIFFERENT;
}

bool environment_is_decisive(enum environment_fact fact)
{
    return facts[fact].is_decisive;
}

bool environment_is_comparable(const struct environment sides[2])
{
    for (int i = 0; i < ENVIRONMENT_FACT_COUNT; i++) {
        enum environment_fact fact = (enum environment_fact)i;
        if (facts[fact].is_decisive && environment_match(sides, fact) == ENVIRONMENT_DIFFERENT) {
            return false;
        }
    }
    return true;
}

bool environment_is_known(const struct environment sides[2])
{
    for (int i = 0; i < ENVIRONMENT_FACT_COUNT; i++) {
        if (sides[0].facts[i] != NULL || sides[1].facts[i] != NULL) {
            return true;
        }
    }
    return false;
}
