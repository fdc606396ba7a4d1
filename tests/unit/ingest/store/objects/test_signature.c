/* The examples that AWS publishes ("Signature Calculations for the Authorization Header", Amazon S3
 * API Reference): their requests, and the signatures that it says they have. */
#ifdef KS_CLUSTER
#include "ingest/store/objects/s3/signature.h"
#include "tests/unit/unit.h"

#include <string.h>

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define WELCOME "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
#define HOST                                     \
    {                                            \
        "host", "examplebucket.s3.amazonaws.com" \
    }
#define AMZ_DATE                         \
    {                                    \
        "x-amz-date", "20130524T000000Z" \
    }
#define HEADERS_MAX 5

static const struct {
    const char *method, *path, *query, *payload, *signature;
    struct s3_header headers[HEADERS_MAX];
    size_t header_count;
} rows[] = {
    {.method = "GET",
     .path = "/test.txt",
     .query = "",
     .payload = EMPTY,
     .headers = {HOST, {"range", "bytes=0-9"}, {"x-amz-content-sha256", EMPTY}, AMZ_DATE},
     .header_count = 4,
     .signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
    {.method = "PUT",
     .path = "/test$file.text",
     .query = "",
     .payload = WELCOME,
     .headers = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                 HOST,
                 {"x-amz-content-sha256", WELCOME},
                 AMZ_DATE,
                 {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
     .header_count = 5,
     .signature = "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
    {.method = "GET",
     .path = "/",
     .query = "lifecycle=",
     .payload = EMPTY,
     .headers = {HOST, {"x-amz-content-sha256", EMPTY}, AMZ_DATE},
     .header_count = 3,
     .signature = "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
    {.method = "GET",
     .path = "/",
     .query = "max-keys=2&prefix=J",
     .payload = EMPTY,
     .headers = {HOST, {"x-amz-content-sha256", EMPTY}, AMZ_DATE},
     .header_count = 3,
     .signature = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
};

static void published_requests_have_the_published_signatures(void **state)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf path;
        struct buf out;
        buf_init(&path, 1024);
        buf_init(&out, 1024);
        s3_encode(&path, rows[i].path, true);
        const struct s3_signing signing = {
            .method = rows[i].method,
            .path = path.ptr,
            .query = rows[i].query,
            .headers = rows[i].headers,
            .header_count = rows[i].header_count,
            .payload_sha256 = rows[i].payload,
            .time = "20130524T000000Z",
            .region = "us-east-1",
            .access_key = "AKIAIOSFODNN7EXAMPLE",
            .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        };
        assert_true(s3_sign(&signing, &out));
        const char *signature = strstr(out.ptr, "Signature=");
        assert_non_null(signature);
        assert_string_equal(signature + strlen("Signature="), rows[i].signature);
        assert_non_null(
            strstr(out.ptr, "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"));
        buf_free(&out);
        buf_free(&path);
    }
}

static void all_but_unreserved_characters_are_encoded(void **state)
{
    struct buf out;
    buf_init(&out, 1024);
    s3_encode(&out, "a-Z_0.~/b c+d\xC3\xA9", true);
    buf_putc(&out, '|');
    s3_encode(&out, "2~x/y=", false);
    assert_string_equal(out.ptr, "a-Z_0.~/b%20c%2Bd%C3%A9|2~x%2Fy%3D");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_requests_have_the_published_signatures),
        cmocka_unit_test(all_but_unreserved_characters_are_encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
