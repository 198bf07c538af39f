/* MCAP files: the checksum; writing and reading them is tested with recordings */
#include "world/mcap.h"

#include "support/test.h"

static void checksum(void **state)
{
    (void)state;
    /* any length and any place, against bit by bit */
    flr_test_random random = flr_test_random_begin("checksum");
    uint8_t bytes[80];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)flr_test_random_u64(&random);
    for (size_t from = 0; from < 9; from++)
        for (size_t to = from; to < sizeof bytes; to++) {
            uint32_t crc = UINT32_MAX;
            for (size_t i = from; i < to; i++) {
                crc ^= bytes[i];
                for (int bit = 0; bit < 8; bit++) crc = (crc & 1 ? 0xEDB88320 : 0) ^ crc >> 1;
            }
            assert_int_equal(flr_crc32(0, bytes + from, to - from), ~crc);
        }
    assert_int_equal(flr_crc32(0, "123456789", 9), 0xCBF43926);
    assert_int_equal(flr_crc32(flr_crc32(0, "12345", 5), "6789", 4), 0xCBF43926);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum),
    };
    return cmocka_run_group_tests_name("mcap", tests, NULL, NULL);
}
