#include "api/upload/multipart.h"
#include "api/upload/multipart_header.h"
#include "ingest/base/text/buf.h"
#include "tests/unit/unit.h"

#include <string.h>

struct source {
    const char *text;
    size_t len;
    size_t at;
    size_t chunk_len;
    size_t first_len; /* of the first read, to cut at any place */
    bool gone;
};

static int64_t read_source(void *state, void *bytes, size_t len)
{
    struct source *source = state;
    size_t left = source->len - source->at;
    if (left == 0) {
        return source->gone ? -1 : 0;
    }
    size_t most = source->at == 0 && source->first_len != 0 ? source->first_len : source->chunk_len;
    len = len < left ? len : left;
    len = most != 0 && len > most ? most : len;
    memcpy(bytes, source->text + source->at, len);
    source->at += len;
    return (int64_t)len;
}

static const char content_type[] = "multipart/form-data; charset=x; boundary=\"--AB\"";

/* What was read, as text: name|file|bytes; for each part. */
static bool read_all(struct source source, const char *type, struct buf *out, struct err *err)
{
    struct multipart *m = NULL;
    struct multipart_source from = {.read = read_source, .state = &source};
    struct multipart_part part;
    bool has_part = false;
    buf_clear(out);
    bool ok = multipart_create(&m, type, from, err);
    while (ok && (ok = multipart_next(m, &part, &has_part, err)) && has_part) {
        const char *bytes = NULL;
        size_t len = 0;
        buf_printf(out, "%s|%s|", part.name, part.file_name == NULL ? "-" : part.file_name);
        while ((ok = multipart_data(m, &bytes, &len, err)) && len > 0) {
            buf_append(out, bytes, len);
        }
        buf_puts(out, ";");
    }
    multipart_destroy(m);
    return ok;
}

static const char body[] = "preamble\r\n"
                           "----AB\r\n"
                           "Content-Disposition: form-data; name=\"file\"; filename=\"a.json\"\r\n"
                           "Content-Type: application/json\r\n"
                           "\r\n"
                           "one\r\n--two\r\n\r\n----A\r\r\n----Aend\r\n"
                           "----AB \t\r\n"
                           "content-disposition: form-data; name=note\r\n"
                           "\r\n"
                           "\r\n----AB\r\n"
                           "\r\n"
                           "no headers"
                           "\r\n----AB--\r\nepilogue";
static const char expected[] =
    "file|a.json|one\r\n--two\r\n\r\n----A\r\r\n----Aend;note|-|;|-|no headers;";

static void reads_whatever_the_chunks(void **state)
{
    struct buf out;
    buf_init(&out, 10000);
    for (size_t chunk = 1; chunk < sizeof body; chunk++) {
        struct source source = {.text = body, .len = sizeof body - 1, .chunk_len = chunk};
        struct err err = ERR_INIT;
        assert_true(read_all(source, content_type, &out, &err));
        assert_string_equal(out.ptr, expected);
    }
    buf_free(&out);
}

static void reads_whatever_the_cut(void **state)
{
    struct buf out;
    buf_init(&out, 10000);
    for (size_t cut = 1; cut < sizeof body - 1; cut++) {
        struct source source = {.text = body, .len = sizeof body - 1, .first_len = cut};
        struct err err = ERR_INIT;
        assert_true(read_all(source, content_type, &out, &err));
        assert_string_equal(out.ptr, expected);
    }
    buf_free(&out);
}

static void refuses_what_is_cut_off(void **state)
{
    struct buf out;
    buf_init(&out, 10000);
    size_t whole = strlen(body) - strlen("\r\nepilogue");
    for (size_t len = 0; len < whole; len++) {
        struct source source = {.text = body, .len = len};
        struct err err = ERR_INIT;
        assert_false(read_all(source, content_type, &out, &err));
        assert_int_equal(err.code, ERR_BAD_REQUEST);
        source.gone = true;
        assert_false(read_all(source, content_type, &out, &err));
        assert_int_equal(err.code, ERR_CLIENT_GONE);
    }
    buf_free(&out);
}

static void skips_parts_that_nobody_reads(void **state)
{
    struct source source = {.text = body, .len = sizeof body - 1, .chunk_len = 3};
    struct multipart_source from = {.read = read_source, .state = &source};
    struct multipart *m = NULL;
    struct multipart_part part;
    struct err err = ERR_INIT;
    bool has_part = true;
    size_t parts = 0;
    assert_true(multipart_create(&m, content_type, from, &err));
    while (has_part) {
        assert_true(multipart_next(m, &part, &has_part, &err));
        parts += has_part;
    }
    assert_int_equal(parts, 3);
    assert_true(multipart_next(m, &part, &has_part, &err));
    assert_false(has_part);
    multipart_destroy(m);
}

/* Larger than the window, full of beginnings of the delimiter. */
static void memory_is_bounded(void **state)
{
    const size_t size = 3 << 20;
    char *text = malloc(size + 200);
    struct buf out;
    struct err err = ERR_INIT;
    assert_non_null(text);
    buf_init(&out, size * 2);
    static const char start[] = "----AB\r\nContent-Disposition: form-data; filename=x\r\n\r\n";
    static const char filler[] = "\r\n----A";
    static const char end[] = "\r\n----AB--";
    size_t len = sizeof start - 1;
    memcpy(text, start, len);
    while (len < size) {
        memcpy(text + len, filler, sizeof filler - 1);
        len += sizeof filler - 1;
    }
    size_t data_len = len - (sizeof start - 1);
    memcpy(text + len, end, sizeof end - 1);
    struct source source = {.text = text, .len = len + sizeof end - 1, .chunk_len = 65537};
    assert_true(read_all(source, content_type, &out, &err));
    assert_int_equal(out.len, data_len + strlen("|x|;"));
    assert_memory_equal(out.ptr + strlen("|x|"), text + sizeof start - 1, data_len);
    free(text);
    buf_free(&out);
}

static void check_names(const char *line, const char *name, const char *file_name)
{
    struct multipart_names names;
    multipart_names_clear(&names);
    multipart_header_names(line, &names);
    assert_string_equal(names.name, name);
    assert_int_equal(names.has_file_name, file_name != NULL);
    if (file_name != NULL) {
        assert_string_equal(names.file_name, file_name);
    }
}

static void reads_names(void **state)
{
    check_names("Content-Disposition: form-data; name=\"f\"", "f", NULL);
    check_names("Content-Disposition: form-data; name=\"f\"; filename=\"\"", "f", "");
    check_names("Content-Type: text/plain; name=\"f\"", "", NULL);
    check_names("CONTENT-DISPOSITION:form-data;NAME=f;FileName=g.json", "f", "g.json");
    check_names("Content-Disposition: form-data; name=\"a;b=\\\"c\\\"\"; filename=\"d\"",
                "a;b=\"c\"", "d");
    check_names("Content-Disposition: form-data; filename=\"say %22hi%22%0D%0a\"", "",
                "say \"hi\"\r\n");
    check_names("Content-Disposition: form-data; filename=\"100%.json\"", "", "100%.json");
    check_names("Content-Disposition: form-data; filename=\"C:\\dir\\x\"", "", "C:\\dir\\x");
    check_names("Content-Disposition: form-data; filename=\"a/b/../c.json\"", "", "c.json");
    check_names(
        "Content-Disposition: form-data; filename*=UTF-8''%C3%A4%20b.json; filename=\"a b.json\"",
        "", "\xC3\xA4 b.json");
    check_names(
        "Content-Disposition: form-data; filename=\"a b.json\"; filename*=utf-8'en'%e2%82%ac", "",
        "\xE2\x82\xAC");
    check_names("Content-Disposition: form-data; filename=\"x\"; filename*=UTF-8''%0", "", "x");
    check_names("Content-Disposition: form-data; filename=\"x\"; filename*=EBCDIC''y", "", "x");
    check_names("Content-Disposition: form-data; filename=\"x\"; filename*=broken", "", "x");
    check_names("Content-Disposition: form-data; filename=\"open", "", "open");
}

static void needs_a_boundary(void **state)
{
    char too_long[200] = "multipart/form-data; boundary=";
    memset(too_long + strlen(too_long), 'x', MULTIPART_BOUNDARY_BYTES);
    const char *const bad[] = {
        "",
        "application/json",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/mixed; boundary=x",
        too_long,
    };
    struct buf out;
    buf_init(&out, 100);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct source source = {.text = "", .len = 0};
        struct err err = ERR_INIT;
        assert_false(read_all(source, bad[i], &out, &err));
        assert_int_equal(err.code, ERR_BAD_REQUEST);
    }
    char boundary[MULTIPART_BOUNDARY_BYTES];
    assert_true(multipart_header_boundary("Multipart/Form-Data;boundary=a'b", boundary));
    assert_string_equal(boundary, "a'b");
    buf_free(&out);
}

static void bounds_the_headers(void **state)
{
    struct buf text;
    struct buf out;
    struct err err = ERR_INIT;
    buf_init(&text, 1 << 20);
    buf_init(&out, 1 << 20);
    buf_puts(&text, "----AB\r\n");
    for (int i = 0; i < 1000; i++) {
        buf_puts(&text, "X-Header: 0123456789012345678901234567890123456789\r\n");
    }
    buf_puts(&text, "\r\n\r\n----AB--");
    struct source source = {.text = text.ptr, .len = text.len};
    assert_false(read_all(source, content_type, &out, &err));
    assert_int_equal(err.code, ERR_BAD_REQUEST);
    buf_free(&text);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_whatever_the_chunks),
        cmocka_unit_test(reads_whatever_the_cut),
        cmocka_unit_test(refuses_what_is_cut_off),
        cmocka_unit_test(skips_parts_that_nobody_reads),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(reads_names),
        cmocka_unit_test(needs_a_boundary),
        cmocka_unit_test(bounds_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
