#include "ingest/formats/sniff.h"

#include "ingest/base/text/affix.h"
#include "ingest/formats/json/scan.h"

#include <string.h>

#define FIRST_KEYS_BYTES ((size_t)128)

struct magic {
    const char *bytes;
    size_t len;
    size_t at;
    const char *what;
};

#define MAGIC(text, offset, what)            \
    {                                        \
        text, sizeof(text) - 1, offset, what \
    }

static const struct magic magics[] = {
    MAGIC("PK\x03\x04", 0, "a ZIP archive within another file: upload it on its own"),
    MAGIC("ustar", 257, "a tar archive: unpack it and upload the traces inside"),
    MAGIC("\x89PNG", 0, "a PNG picture"),
    MAGIC("\xFF\xD8\xFF", 0, "a JPEG picture"),
    MAGIC("%PDF", 0, "a PDF document"),
    MAGIC("\x7F"
          "ELF",
          0,
          "a program or library (ELF)"),
    MAGIC("NVR",
          0,
          "an Nsight Compute report: print it as a table (ncu --import FILE --page raw --csv)"),
    MAGIC("\xFD"
          "7zXZ",
          0,
          "an xz archive: unpack it first (gzip and zstd are read directly)"),
    MAGIC("BZh", 0, "a bzip2 archive: unpack it first (gzip and zstd are read directly)"),
    MAGIC("7z\xBC\xAF", 0, "a 7-Zip archive: unpack it first"),
    MAGIC("Rar!", 0, "a RAR archive: unpack it first"),
    MAGIC("\x80\x02", 0, "a Python pickle (perhaps a memory snapshot)"),
    MAGIC("\x80\x03", 0, "a Python pickle (perhaps a memory snapshot)"),
    MAGIC("\x80\x04", 0, "a Python pickle (perhaps a memory snapshot)"),
    MAGIC("\x80\x05", 0, "a Python pickle (perhaps a memory snapshot)"),
    MAGIC("\x1F\x8B", 0, "data that was compressed with gzip twice"),
    MAGIC("\x28\xB5\x2F\xFD", 0, "data that was compressed with zstd twice"),
    MAGIC("\xFF\xFE", 0, "text in UTF-16: save it as UTF-8"),
    MAGIC("\xFE\xFF", 0, "text in UTF-16: save it as UTF-8"),
    MAGIC("==PROF==", 0, "output of Nsight Compute without a table: print one with ncu --csv"),
};

static bool contains(const char *bytes, size_t len, const char *word)
{
    size_t word_len = strlen(word);
    for (size_t i = 0; i + word_len <= len; i++) {
        if (memcmp(bytes + i, word, word_len) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins_ignoring_case(const char *at, const char *end, const char *lower)
{
    for (; *lower != '\0'; at++, lower++) {
        if (at == end || text_lower(*at) != *lower) {
            return false;
        }
    }
    return true;
}

static const char *describe_markup(const char *at, const char *end)
{
    bool is_html = begins_ignoring_case(at, end, "<!doctype html") ||
                   begins_ignoring_case(at, end, "<html") || begins_ignoring_case(at, end, "<head");
    if (is_html) {
        return "an HTML page (perhaps an error or login page saved in place of the file)";
    }
    return "an XML document";
}

/* Columns that no other table has. */
static const char *const npu_tables[] = {"Accelerator Core", "Core Type", "Component,Timestamp(us)",
                                         "Allocation Time(us)", "Communication(Not Overlapped)"};

/* Neither JSON nor a known container. */
static const char *describe_rest(const char *bytes, size_t len)
{
    size_t binary = 0;
    size_t commas = 0;
    const char *line_end = memchr(bytes, '\n', len);
    size_t line_len = line_end == NULL ? len : (size_t)(line_end - bytes);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        binary += c < 0x20 && !json_is_space(bytes[i]);
        commas += i < line_len && (c == ',' || c == '\t' || c == ';');
    }
    if (binary * 50 > len) {
        bool is_perfetto = bytes[0] == '\n' || contains(bytes, len, "perfetto");
        return is_perfetto ? "a binary trace (Perfetto or another protocol buffer): export it as "
                             "Chrome trace JSON"
                           : "binary data";
    }
    if (contains(bytes, len, "==PROF==") || contains(bytes, len, "\"Kernel Name\"")) {
        return "output of Nsight Compute without a table: print one with ncu --csv";
    }
    for (size_t i = 0; i < sizeof npu_tables / sizeof *npu_tables; i++) {
        if (contains(bytes, line_len, npu_tables[i])) {
            return "a table of the Ascend profiler: upload the folder that it is from, with its "
                   "trace_view.json, as a tar or zip";
        }
    }
    return commas >= 2 ? "a table (CSV) with columns that no reader knows" : "plain text";
}

const char *sniff_describe(const char *bytes, size_t len)
{
    const char *end = bytes + len;
    if (len == 0) {
        return "empty";
    }
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        const struct magic *magic = &magics[i];
        if (len >= magic->at + magic->len &&
            memcmp(bytes + magic->at, magic->bytes, magic->len) == 0) {
            return magic->what;
        }
    }
    /* A protocol buffer of packets begins with a tag that is a newline in ASCII and a length. */
    bool is_packet = len > 2 && bytes[0] == '\n' && !json_is_space(bytes[1]) && bytes[1] != '{' &&
                     bytes[1] != '[' && bytes[1] != '<';
    const char *at = json_behind_space(bytes, end);
    if (at == end) {
        return "empty but for blanks";
    }
    if (*at == '<' && !is_packet) {
        return describe_markup(at, end);
    }
    if (!is_packet && (*at == '{' || *at == '[')) {
        return NULL;
    }
    return describe_rest(bytes, len);
}

bool sniff_names_trace(const char *bytes, size_t len)
{
    static const char *const keys[] = {"\"traceEvents\"", "\"schemaVersion\"",
                                       "\"displayTimeUnit\"", "\"ph\""};
    /* In an archive or another document they would stand further behind. */
    const char *end = bytes + (len < FIRST_KEYS_BYTES ? len : FIRST_KEYS_BYTES);
    for (const char *at = bytes; (at = memchr(at, '"', (size_t)(end - at))) != NULL; at++) {
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            size_t key_len = strlen(keys[i]);
            if ((size_t)(end - at) >= key_len && memcmp(at, keys[i], key_len) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The key at the next quote; `at` goes behind its colon. */
static bool read_key(struct json_scan *scan, struct json_value *key)
{
    if (!json_skip_space(scan) || *scan->at != '"' || json_scan_string(scan, key) != JSON_OK ||
        !json_skip_space(scan) || *scan->at != ':') {
        return false;
    }
    scan->at++;
    return json_skip_space(scan);
}

static bool is_one_of(const struct json_value *key, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == key->len && memcmp(*words, key->ptr, key->len) == 0) {
            return true;
        }
    }
    return false;
}

bool sniff_is_uploaded_answer(const char *text, size_t len)
{
    static const char *const outer[] = {"steps",
                                        "device_total_time",
                                        "device_self_time",
                                        "host_total_time",
                                        "host_self_time",
                                        "total",
                                        "metadata",
                                        NULL};
    static const char *const inner[] = {"columns", "title", "sort", "rows", NULL};
    struct json_scan scan = {.at = text, .end = text + len};
    struct json_value key;
    if (!json_skip_space(&scan) || *scan.at != '{') {
        return false;
    }
    scan.at++;
    if (!read_key(&scan, &key) || !is_one_of(&key, outer) || *scan.at != '{') {
        return false;
    }
    scan.at++;
    return read_key(&scan, &key) && is_one_of(&key, inner);
}
