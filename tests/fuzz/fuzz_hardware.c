/* Hardware files: CSV with JSON in its cells. */
#include "ingest/formats/perf_data/hardware_file.h"
#include "tests/fuzz/fuzz.h"

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct hardware hardware;
    bool good = hardware_file_read(fuzz_file(bytes, len), &hardware, &err);
    fuzz_require(good || err.msg[0] != '\0', "who refuses says why");
    arena_free(&hardware.arena);
    return 0;
}
