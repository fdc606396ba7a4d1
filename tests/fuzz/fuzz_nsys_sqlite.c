/* Databases that Nsight Systems may have exported. */
#include "ingest/input/input.h"
#include "tests/fuzz/fuzz_reading.h"

#include <string.h>

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    static const char magic[16] = "SQLite format 3";
    struct err err = ERR_INIT;
    struct input *in = NULL;
    struct format_bundle bundle;
    /* Everything else is for other targets. */
    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) {
        return 0;
    }
    fuzz_require(input_open_file(&in, fuzz_file(bytes, len), &err), "the file can be opened");
    bool good = format_read(in, NULL, &bundle, &err);
    input_close(in);
    fuzz_require(good || err.msg[0] != '\0', "who refuses says why");
    fuzz_analyse(&bundle);
    format_bundle_free(&bundle);
    return 0;
}
