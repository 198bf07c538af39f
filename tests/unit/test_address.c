#include "support/test.h"

#include <arpa/inet.h>

#include "feeler/env.h"

static flr_result parse(const char *text, flr_address *address)
{
    flr_error error = {FLR_OK, ""};
    flr_result result = flr_address_parse(text, 7000, address, &error);
    if (result) assert_non_null(strstr(error.message, "is not an address; write it like"));
    return result;
}

/* text in, text out */
static void there_and_back(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"127.0.0.1:1", "127.0.0.1:1"},
        {"10.0.0.255", "10.0.0.255:7000"},
        {"255.255.255.255:65535", "255.255.255.255:65535"},
        {"0.0.0.0:0", "0.0.0.0:0"},
        {"localhost", "127.0.0.1:7000"},
        {"localhost:80", "127.0.0.1:80"},
        {"[::1]:80", "[::1]:80"},
        {"[::1]", "[::1]:7000"},
        {"::1", "[::1]:7000"},
        {"::", "[::]:7000"},
        {"[::]:9", "[::]:9"},
        {"1::", "[1::]:7000"},
        {"2001:DB8:0:0:0:0:0:1", "[2001:db8::1]:7000"},
        {"[2001:db8:0:0:1:0:0:1]:443", "[2001:db8::1:0:0:1]:443"},
        {"1:0:3:4:5:6:7:8", "[1:0:3:4:5:6:7:8]:7000"},
        {"1:2:3:4:5:6:7::", "[1:2:3:4:5:6:7:0]:7000"},
        {"::ffff:1.2.3.4", "[::ffff:102:304]:7000"},
        {"1:2:3:4:5:6:1.2.3.4", "[1:2:3:4:5:6:102:304]:7000"},
        {"fe80:0001::00ab", "[fe80:1::ab]:7000"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
         "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:7000"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        flr_address address, again;
        char text[FLR_ADDRESS_TEXT_SIZE];
        if (parse(pairs[i][0], &address)) fail_msg("%s is refused", pairs[i][0]);
        assert_string_equal(flr_address_print(address, text), pairs[i][1]);
        assert_int_equal(parse(text, &again), FLR_OK);
        assert_true(flr_address_equal(address, again));
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "x",
        "localhos",
        "localhostx",
        "localhost:",
        "localhost:x",
        "localhost:65536",
        "1",
        "1.2.3",
        "1.2.3.4.5",
        "256.1.1.1",
        "1.2.3.256",
        "01.2.3.4",
        "1..2.3",
        "1.2.3.4:",
        "1.2.3.4:-1",
        "1.2.3.4:+1",
        "1.2.3.4:01",
        "1.2.3.4:99999999999",
        "1.2.3.4 ",
        " 1.2.3.4",
        "1.2.3.4:80x",
        "-1.2.3.4",
        "[",
        "[]",
        "[::1",
        "[::1]x",
        "[::1]:",
        "[1.2.3.4]:80",
        ":",
        ":::",
        ":1",
        "1:",
        "1::2::3",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "12345::",
        "g::",
        "::1.2.3",
        "::1.2.3.4:5",
        "1.2.3.4::",
        "::1%eth0",
        "1:2:3:4:5:6:7:1.2.3.4",
        "example.org:80",
        "[localhost]:1",
        "1:2:3:4:5:6:7:8:",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        flr_address address = {9, {9}, 9};
        if (parse(texts[i], &address) != FLR_BAD_ARGUMENT) fail_msg("\"%s\" passes", texts[i]);
        assert_int_equal(address.family, 9); // untouched
    }
}

/* random addresses print as the system prints them and come back */
static void agrees_with_the_system(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("agrees_with_the_system");
    for (int round = 0; round < 3000; round++) {
        flr_address address = {round % 2 ? 4 : 6, {0}, (uint16_t)flr_test_random_u64(&random)};
        for (int i = 0; i < (round % 2 ? 4 : 16); i++) // many zeros
            if (flr_test_random_below(&random, 3) == 0)
                address.ip[i] = (uint8_t)flr_test_random_u64(&random);
        // the system shows these two kinds with dots at the end
        static const uint8_t zeros[12];
        if (address.family == 6 && memcmp(address.ip, zeros, 10) == 0) address.ip[0] = 1;
        char inner[64], expected[100], text[FLR_ADDRESS_TEXT_SIZE];
        inet_ntop(address.family == 4 ? AF_INET : AF_INET6, address.ip, inner, sizeof inner);
        snprintf(expected, sizeof expected, address.family == 4 ? "%s:%u" : "[%s]:%u", inner,
                 address.port);
        assert_string_equal(flr_address_print(address, text), expected);
        flr_address again;
        assert_int_equal(parse(text, &again), FLR_OK);
        assert_true(flr_address_equal(address, again));
    }
}

/* random texts of the characters an address has: never a crash, and what is taken is stable */
static void random_texts(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random_texts");
    for (int round = 0; round < 200000; round++) {
        static const char letters[] = "0129af::::....[]";
        char text[24];
        size_t length = flr_test_random_below(&random, sizeof text);
        for (size_t i = 0; i < length; i++) text[i] = letters[flr_test_random_below(&random, 16)];
        text[length] = 0;
        flr_address address, again;
        if (flr_address_parse(text, 1, &address, NULL) != FLR_OK) continue;
        char printed[FLR_ADDRESS_TEXT_SIZE];
        flr_address_print(address, printed);
        assert_int_equal(parse(printed, &again), FLR_OK);
        assert_true(flr_address_equal(address, again));
    }
}

static void comparing(void **state)
{
    (void)state;
    flr_address a, b;
    parse("1.2.3.4:5", &a);
    b = a;
    b.ip[10] = 77; // not part of an IPv4 address
    assert_true(flr_address_equal(a, b));
    b.port = 6;
    assert_false(flr_address_equal(a, b));
    parse("[102:304::]:5", &b);
    assert_false(flr_address_equal(a, b));
    flr_address none = {0}, none_too = {0, {1}, 2};
    assert_true(flr_address_equal(none, none_too));
    char text[FLR_ADDRESS_TEXT_SIZE];
    assert_string_equal(flr_address_print(none, text), "no address");

    static const char *const loops[] = {"127.0.0.1", "127.9.9.9", "::1", "localhost"};
    static const char *const others[] = {"128.0.0.1", "0.0.0.0", "::", "::2", "1::1"};
    for (size_t i = 0; i < 4; i++) {
        parse(loops[i], &a);
        assert_true(flr_address_is_loopback(a));
    }
    for (size_t i = 0; i < 5; i++) {
        parse(others[i], &a);
        assert_false(flr_address_is_loopback(a));
    }
    assert_false(flr_address_is_loopback(none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(agrees_with_the_system),
        cmocka_unit_test(random_texts),
        cmocka_unit_test(comparing),
    };
    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
