/* MCAP files: the checksum; writing and reading them is tested with recordings */
#include "record/mcap.h"

#include "feeler/sim.h"
#include "support/fail_alloc.h"
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

/* a bit of byte `at` of the file is turned over */
static void turn(flr_env *env, uint64_t at)
{
    flr_error error;
    flr_file *file;
    uint8_t byte;
    size_t got;
    assert_ok(flr_file_open(env, "/x.mcap", FLR_FILE_UPDATE, &file, &error), error);
    assert_ok(flr_file_read(file, at, &byte, 1, &got, &error), error);
    byte ^= 1;
    assert_ok(flr_file_write(file, at, &byte, 1, &error), error);
    flr_file_close(file);
}

/* Reads all; is it as it was written, as far as the reader says? */
static bool reads_as_sound(flr_env *env)
{
    flr_error error;
    flr_mcap_reader *reader;
    flr_mcap_message message;
    flr_result result = flr_mcap_open(env, "/x.mcap", &reader, &error);
    if (result != FLR_OK) return false;
    uint64_t messages, first, last;
    bool summary = flr_mcap_summary(reader, "schema", &messages, &first, &last);
    /* 0: what the messages are called is damaged */
    if (summary) assert_true((messages == 3 || messages == 0) && first == 0 && last == 2);
    while ((result = flr_mcap_next(reader, &message, &error)) == FLR_OK) continue;
    bool sound = result == FLR_CLOSED && flr_mcap_complete(reader) &&
                 flr_mcap_get_damage(reader).places == 0;
    const char *value = flr_mcap_metadata(reader, "setup", "part");
    if (sound) assert_string_equal(value, "ring");
    flr_mcap_close(reader);
    return sound;
}

/* Wherever it is: before the chunks, in them, or behind them, where only the summary stands. */
static void every_bit_of_the_data_counts(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    flr_sim *sim = flr_sim_create(&def);
    flr_env *env = flr_sim_node(sim, address);
    flr_error error;
    flr_mcap_writer *writer;
    uint16_t schema, channel;
    const char *const pairs[] = {"part", "ring", NULL};
    assert_ok(flr_mcap_create(env, "/x.mcap", "", "test", &writer, &error), error);
    assert_ok(flr_mcap_add_schema(writer, "schema", "protobuf", "abc", 3, &schema, &error), error);
    assert_ok(flr_mcap_add_channel(writer, schema, "/frame", "protobuf", &channel, &error), error);
    assert_ok(flr_mcap_add_metadata(writer, "setup", pairs, &error), error);
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(flr_mcap_add(writer, channel, i, i, "message", 7, &error), error);
        assert_ok(flr_mcap_flush(writer, &error), error);
    }
    assert_ok(flr_mcap_finish(writer, &error), error);
    flr_blob blob;
    assert_ok(flr_file_read_all(env, "/x.mcap", 1 << 20, &blob, &error), error);
    /* the record that ends the data: opcode, length 4, checksum */
    static const uint8_t end[] = {0x0F, 4, 0, 0, 0, 0, 0, 0, 0};
    size_t data = 0;
    for (size_t i = 0; i + sizeof end < blob.size && !data; i++)
        if (!memcmp(blob.bytes + i, end, sizeof end)) data = i;
    assert_gt(data, 0);
    assert_true(reads_as_sound(env));
    for (uint64_t at = 0; at < blob.size; at++) {
        turn(env, at);
        bool sound = reads_as_sound(env);
        if (at <= data && sound) fail_msg("byte %llu does not count", (unsigned long long)at);
        turn(env, at);
    }
    assert_true(reads_as_sound(env));
    flr_blob_free(&blob);
    flr_sim_destroy(sim);
}

/* A record of metadata has one name and many pairs: however long the name is, it is kept once. */
static void a_long_name_is_kept_once(void **state)
{
    (void)state;
    enum { LENGTH = 100000, PAIRS = 1000 };
    flr_sim_def def = flr_default_sim_def();
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    flr_sim *sim = flr_sim_create(&def);
    flr_env *env = flr_sim_node(sim, address);
    flr_error error;
    flr_mcap_writer *writer;
    flr_mcap_reader *reader;
    uint16_t schema, channel;
    char *name = malloc(LENGTH + 1);
    assert_non_null(name);
    memset(name, 'n', LENGTH);
    name[LENGTH] = 0;
    static char keys[PAIRS][16];
    static const char *pairs[2 * PAIRS + 1];
    for (int i = 0; i < PAIRS; i++) {
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        pairs[2 * i] = keys[i], pairs[2 * i + 1] = keys[i] + 1;
    }
    assert_ok(flr_mcap_create(env, "/x.mcap", "", "test", &writer, &error), error);
    assert_ok(flr_mcap_add_schema(writer, "schema", "protobuf", "abc", 3, &schema, &error), error);
    assert_ok(flr_mcap_add_channel(writer, schema, "/frame", "protobuf", &channel, &error), error);
    assert_ok(flr_mcap_add_metadata(writer, name, pairs, &error), error);
    assert_ok(flr_mcap_add(writer, channel, 0, 0, "message", 7, &error), error);
    assert_ok(flr_mcap_finish(writer, &error), error);

    flr_fail_alloc_peak_begin();
    assert_ok(flr_mcap_open(env, "/x.mcap", &reader, &error), error);
    assert_lt(flr_fail_alloc_peak(), 8 * LENGTH);
    assert_string_equal(flr_mcap_metadata(reader, name, "k0"), "0");
    assert_string_equal(flr_mcap_metadata(reader, name, "k999"), "999");
    flr_mcap_close(reader);
    free(name);
    flr_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum),
        cmocka_unit_test(every_bit_of_the_data_counts),
        cmocka_unit_test(a_long_name_is_kept_once),
    };
    return cmocka_run_group_tests_name("mcap", tests, NULL, NULL);
}
