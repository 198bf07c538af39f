/* tests of server/access: tokens, names, origins */
#include "feeler/sim.h"
#include "server/access.h"
#include "support/test.h"

static void test_host(void **state)
{
    (void)state;
    flr_access access = {.names = {"workshop", "workshop.example"}, .name_count = 2};
    static const char *const ours[] = {
        "localhost",  "localhost:7878", "LOCALHOST:1",       "127.0.0.1",     "127.0.0.1:80",
        "[::1]:7878", "[::1]",          "192.168.1.20:7878", "workshop:7878", "Workshop.Example"};
    static const char *const foreign[] = {"",
                                          "evil.example",
                                          "evil.example:7878",
                                          "localhost.evil.example",
                                          "localhost:80; script-src *",
                                          "127.0.0.1.evil.example",
                                          "127.0.0.1@evil.example",
                                          "evil.example/localhost",
                                          "[evil]",
                                          "[::1",
                                          "workshop.evil",
                                          "localhostt",
                                          ":7878"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (!flr_access_host(&access, ours[i])) fail_msg("%s is refused", ours[i]);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (flr_access_host(&access, foreign[i])) fail_msg("%s is taken", foreign[i]);
    assert_false(flr_access_host(&access, NULL));
}

static void test_origin(void **state)
{
    (void)state;
    flr_access access = {.origins = {"http://localhost:5173"}, .origin_count = 1};
    assert_true(flr_access_origin(&access, NULL, "localhost:7878"));
    assert_true(flr_access_origin(&access, "http://localhost:7878", "localhost:7878"));
    assert_true(flr_access_origin(&access, "https://192.168.1.2:7878", "192.168.1.2:7878"));
    assert_true(flr_access_origin(&access, "http://localhost:5173", "localhost:7878"));
    assert_false(flr_access_origin(&access, "http://localhost:9999", "localhost:7878"));
    assert_false(flr_access_origin(&access, "http://127.0.0.1:7878", "localhost:7878"));
    assert_false(flr_access_origin(&access, "https://evil.example", "localhost:7878"));
    assert_false(flr_access_origin(&access, "null", "localhost:7878"));
    assert_false(flr_access_origin(&access, "file://", "localhost:7878"));
    /* a name that was made to point here */
    assert_false(flr_access_origin(&access, "http://evil.example:7878", "evil.example:7878"));
}

static void test_spelling(void **state)
{
    (void)state;
    static const char *const names[] = {"bench3", "bench3.example.org", "a_b-c", "10.0.0.3"};
    static const char *const no_names[] = {"",  "a b", "x:90", "http://x", "a..b",
                                           "-", "a/b", ".a",   "a\n"};
    static const char *const origins[] = {"http://localhost:5173", "https://a.example",
                                          "HTTP://[::1]:80", "http://10.0.0.3"};
    static const char *const no_origins[] = {
        "blah",      "",           "http://",        "http://a/",  "http://a/b",
        "http://a:", "http://a:x", "http://a:99999", "ftp://a",    "http://a b",
        "*",         "null",       "http://u@host",  "http://[::1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!flr_access_is_host_name(names[i])) fail_msg("%s is no name", names[i]);
    for (size_t i = 0; i < sizeof no_names / sizeof no_names[0]; i++)
        if (flr_access_is_host_name(no_names[i])) fail_msg("%s is a name", no_names[i]);
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++)
        if (!flr_access_is_origin(origins[i])) fail_msg("%s is no origin", origins[i]);
    for (size_t i = 0; i < sizeof no_origins / sizeof no_origins[0]; i++)
        if (flr_access_is_origin(no_origins[i])) fail_msg("%s is an origin", no_origins[i]);
}

static void test_token(void **state)
{
    (void)state;
    flr_access access = {.token = ""};
    assert_true(flr_access_token(&access, "", 0));
    assert_true(flr_access_token(&access, "whatever", 8));
    flr_access_make_token(flr_env_real(), access.token);
    assert_int_equal(strlen(access.token), 32);
    assert_int_equal(strspn(access.token, "0123456789abcdef"), 32);
    char other[FLR_TOKEN_SIZE];
    flr_access_make_token(flr_env_real(), other);
    assert_string_not_equal(access.token, other);
    assert_true(flr_access_token(&access, access.token, 32));
    assert_false(flr_access_token(&access, access.token, 31));
    assert_false(flr_access_token(&access, other, 32));
    assert_false(flr_access_token(&access, "", 0));
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_token_file(void **state)
{
    (void)state;
    char *folder = flr_test_folder();
    char path[512], token[FLR_TOKEN_SIZE] = "";
    snprintf(path, sizeof path, "%s/token", folder);
    flr_error error;
    assert_int_equal(flr_access_read_token(flr_env_real(), path, token, &error), FLR_NOT_FOUND);
    write_text(path, "0123456789abcdef-secret\nmore\n");
    assert_ok(flr_access_read_token(flr_env_real(), path, token, &error), error);
    assert_string_equal(token, "0123456789abcdef-secret");
    static const char *const bad[] = {"", "short-secret", "has blanks in it, sadly",
                                      "0123456789abcdef\x7f"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_text(path, bad[i]);
        assert_int_equal(flr_access_read_token(flr_env_real(), path, token, &error), FLR_BAD_INPUT);
        /* never in a sentence */
        assert_null(strstr(error.message, "secret"));
    }
    flr_test_folder_remove(folder);
}

static bool counted_together(const char *one, const char *other)
{
    uint8_t networks[2][16];
    const char *text[] = {one, other};
    for (int i = 0; i < 2; i++) {
        flr_address address;
        assert_int_equal(flr_address_parse(text[i], 1, &address, NULL), FLR_OK);
        flr_access_network(address.family, address.ip, networks[i]);
    }
    return memcmp(networks[0], networks[1], 16) == 0;
}

static void connections_are_counted_by_network(void **state)
{
    (void)state;
    assert_true(counted_together("192.0.2.1", "192.0.2.1"));
    assert_false(counted_together("192.0.2.1", "192.0.2.2"));
    assert_true(counted_together("[2001:db8:1:2::1]", "[2001:db8:1:2:ffff:ffff:ffff:ffff]"));
    assert_false(counted_together("[2001:db8:1:2::1]", "[2001:db8:1:3::1]"));
    assert_true(counted_together("[::ffff:192.0.2.1]", "192.0.2.1"));
    assert_false(counted_together("[::ffff:192.0.2.1]", "[::ffff:192.0.2.2]"));
    assert_false(counted_together("[::1]", "[::ffff:127.0.0.1]"));
    uint8_t none[16], nowhere[16] = {0};
    flr_access_network(0, NULL, none);
    assert_memory_equal(none, nowhere, 16);
    assert_false(counted_together("[::1]", "0.0.0.0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),       cmocka_unit_test(test_origin),
        cmocka_unit_test(test_spelling),   cmocka_unit_test(test_token),
        cmocka_unit_test(test_token_file), cmocka_unit_test(connections_are_counted_by_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
