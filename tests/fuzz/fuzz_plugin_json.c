/* Answers of the plugin, one JSON document a line. */
#include "tests/fuzz/fuzz_reading.h"

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    struct format_bundle bundle;
    (void)fuzz_read_and_analyse(bytes, len, &bundle);
    format_bundle_free(&bundle);
    return 0;
}
