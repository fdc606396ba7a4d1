#include "ingest/base/sha256.h"
#include "tests/unit/unit.h"

#include <string.h>

/* FIPS 180-2 examples. */
static const struct {
    const char *text;
    size_t repeat;
    const char *hex;
} rows[] = {
    {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

static void known_texts_have_known_hashes(void **state)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sha256 *hash = sha256_create();
        assert_non_null(hash);
        for (size_t j = 0; j < rows[i].repeat; j++) {
            sha256_update(hash, rows[i].text, strlen(rows[i].text));
        }
        char hex[SHA256_HEX_BYTES];
        sha256_final_hex(hash, hex);
        assert_string_equal(hex, rows[i].hex);
        sha256_destroy(hash);
    }
    sha256_destroy(NULL);
}

static void pieces_do_not_matter(void **state)
{
    const char *text = rows[2].text;
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        struct sha256 *hash = sha256_create();
        assert_non_null(hash);
        sha256_update(hash, text, cut);
        sha256_update(hash, text + cut, strlen(text) - cut);
        char hex[SHA256_HEX_BYTES];
        sha256_final_hex(hash, hex);
        assert_string_equal(hex, rows[2].hex);
        sha256_destroy(hash);
    }
}

/* RFC 4231, test cases 2 and 6. */
static void keyed_hashes_are_those_of_the_standard(void **state)
{
    unsigned char mac[SHA256_BYTES];
    char hex[SHA256_HEX_BYTES];
    assert_true(sha256_hmac("Jefe", 4, "what do ya want for nothing?", 28, mac));
    sha256_to_hex(mac, hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");

    unsigned char key[131];
    static const char text[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    memset(key, 0xaa, sizeof key);
    assert_true(sha256_hmac(key, sizeof key, text, sizeof text - 1, mac));
    sha256_to_hex(mac, hex);
    assert_string_equal(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void a_hash_is_written_in_base64(void **state)
{
    unsigned char digest[SHA256_BYTES];
    char text[SHA256_BASE64_BYTES];
    assert_true(sha256_of("", 0, digest));
    sha256_to_base64(digest, text);
    assert_string_equal(text, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_have_known_hashes),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(keyed_hashes_are_those_of_the_standard),
        cmocka_unit_test(a_hash_is_written_in_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
