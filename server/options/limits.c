#include "server/options/limits.h"

struct input_limits limits_of_input(const struct limits *limits)
{
    return (struct input_limits){.decompressed_bytes = limits->decompressed_bytes,
                                 .ratio = limits->ratio};
}
