#include "ingest/jobs/pipeline/rank_name.h"

#include <string.h>

#define WORD "rank"
#define DECIMAL 10

static int64_t read_digits(const char *text)
{
    int64_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * DECIMAL + (*text - '0');
        if (value > RANK_MAX) {
            return RANK_NAME_NONE;
        }
    }
    return value;
}

int64_t rank_of_name(const char *name)
{
    for (const char *word = strstr(name, WORD); word != NULL; word = strstr(word + 1, WORD)) {
        const char *digits = word + sizeof WORD - 1;
        digits += strspn(digits, "-_");
        if (*digits >= '0' && *digits <= '9') {
            return read_digits(digits);
        }
    }
    return RANK_NAME_NONE;
}
