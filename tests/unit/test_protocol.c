/* the protocol's codec: what goes in comes out, what is not in the table is refused with a sentence, the bytes stay as
 * they are */
#include "protocol/codec.h"

#include <math.h>

#include "support/messages.h"
#include "support/quiet.h"

enum { FRAME = 1 << 16 };

static _Alignas(8) uint8_t frame[FRAME], again[FRAME], room[FLR_PROTOCOL_CAPACITY(FRAME)];

static unsigned side_of(const flr_wire_message *type)
{
    return type->direction & FLR_TO_CONTROLLER ? FLR_TO_CONTROLLER
           : type->direction & FLR_TO_CLIENT   ? FLR_TO_CLIENT
                                               : FLR_TO_PEER;
}

static size_t encode(const flr_message *message)
{
    size_t size = 0;
    flr_error error;
    assert_ok(flr_protocol_encode(message, FLR_PROTOCOL_MINOR, frame, sizeof frame, &size, &error),
              error);
    return size;
}

/* encodes a decoded message and compares with the frame it came from */
static void assert_canonical(const flr_message *message, const uint8_t *bytes, size_t size)
{
    size_t size_again = 0;
    flr_error error;
    assert_ok(
        flr_protocol_encode(message, FLR_PROTOCOL_MINOR, again, sizeof again, &size_again, &error),
        error);
    assert_int_equal(size_again, size);
    assert_memory_equal(again, bytes, size);
}

static flr_test_random seeded(uint64_t seed)
{
    flr_test_random random = {seed * 0x9E3779B97F4A7C15u + 1};
    return random;
}

/* ---- the table ---- */

static void test_table(void **state)
{
    (void)state;
    uint32_t count, struct_count;
    const flr_wire_message *types = flr_wire_messages(&count);
    assert_gt(count, 40);
    for (uint32_t i = 0; i < count; i++) {
        // ids and names are used once
        for (uint32_t j = 0; j < i; j++) {
            assert_int_not_equal(types[i].id, types[j].id);
            assert_string_not_equal(types[i].name, types[j].name);
        }
        assert_ptr_equal(flr_wire_message_find(types[i].id), &types[i]);
        // the room that decoding takes was reckoned with so many texts and lists
        int variable = 0;
        for (const flr_wire_field *field = types[i].fields(); field->shape != FLR_SHAPE_END;
             field++) {
            variable += field->shape == FLR_SHAPE_TEXT || field->shape == FLR_SHAPE_LIST;
            if (field->shape == FLR_SHAPE_LIST) assert_int_equal(field->max % field->group, 0);
        }
        assert_le(variable, FLR_PROTOCOL_VARIABLE);
        assert_lt(flr_wire_max_size(&types[i]), 4u << 20);
    }
    assert_null(flr_wire_message_find(0));
    assert_int_equal(flr_wire_max_frame(FLR_TO_CONTROLLER),
                     flr_wire_max_size(flr_wire_message_find(FLR_MSG_UPLOAD_TRIANGLES)));
    assert_int_equal(flr_wire_max_frame(FLR_TO_CLIENT),
                     flr_wire_max_size(flr_wire_message_find(FLR_MSG_MESH_CHUNK)));
    // structures lie in memory as on the wire: each part at the next multiple of its width
    const flr_wire_struct *const *structs = flr_wire_structs(&struct_count);
    for (uint32_t i = 0; i < struct_count; i++) {
        uint32_t at = 0, widest = 1;
        for (const flr_wire_field *part = structs[i]->fields(); part->shape != FLR_SHAPE_END;
             part++) {
            uint32_t align = flr_wire_item_align(part);
            at = (at + align - 1) / align * align;
            assert_int_equal(part->shape, FLR_SHAPE_ONE);
            assert_null(part->structure);
            assert_int_equal(part->offset, at);
            at += flr_wire_item_size(part);
            if (align > widest) widest = align;
        }
        assert_int_equal(structs[i]->align, widest);
        assert_int_equal(structs[i]->size, (at + widest - 1) / widest * widest);
    }
}

/* ---- round trips ---- */

static void test_round_trip(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("round trip");
    uint32_t count;
    const flr_wire_message *types = flr_wire_messages(&count);
    for (uint32_t i = 0; i < count; i++) {
        for (int turn = 0; turn < 40; turn++) {
            flr_message message = flr_test_message(&types[i], &random, 30), decoded;
            size_t size = encode(&message);
            assert_le(size, flr_wire_max_size(&types[i]));
            flr_error error;
            // anywhere in memory, with no byte of room to spare
            uint8_t *copy = malloc(size + 1), *tight = malloc(FLR_PROTOCOL_CAPACITY(size) + 1);
            int shift = turn % 2;
            assert_true(copy);
            assert_true(tight);
            memcpy(copy + shift, frame, size);
            assert_ok(flr_protocol_decode(copy + shift, size, side_of(&types[i]), tight + shift,
                                          FLR_PROTOCOL_CAPACITY(size), &decoded, &error),
                      error);
            memset(copy, 0xEE, size + 1); // the frame is not needed any more
            assert_int_equal(decoded.id, message.id);
            assert_int_equal(decoded.request, message.request);
            assert_canonical(&decoded, frame, size);
            free(copy);
            free(tight);
            flr_test_message_free(&message);
        }
    }
}

/* by hand, since a mistake of the walk that both ways make would not show above */
static void test_values(void **state)
{
    (void)state;
    const float vertices[6] = {1, 2, 3, 4, 5, 6};
    const uint16_t indices[3] = {0, 1, 1};
    flr_message message = {.id = FLR_MSG_MESH_CHUNK, .request = 0x01020304};
    message.as.mesh_chunk = (flr_msg_mesh_chunk){.mesh = 9,
                                                 .chunk = 2,
                                                 .vertices = vertices,
                                                 .vertices_count = 6,
                                                 .indices = indices,
                                                 .indices_count = 3};
    size_t size = encode(&message);
    const uint8_t head[16] = {76, 0, 0, 0, 21, 0, 1, FLR_PROTOCOL_MINOR, 4, 3, 2, 1};
    // head 16, four numbers, count and six floats, count and three indices, padding, count
    assert_int_equal(size, 16 + 16 + 4 + 24 + 4 + 6 + 2 + 4);
    assert_memory_equal(frame, head, sizeof head);
    assert_int_equal(frame[16], 9);
    assert_int_equal(frame[32], 6);
    assert_memory_equal(frame + 36, vertices, sizeof vertices);
    assert_int_equal(frame[60], 3);
    assert_memory_equal(frame + 64, indices, sizeof indices);
}

/* the largest frame that the table allows is as large as the table says, and passes */
static void test_largest(void **state)
{
    (void)state;
    const flr_wire_message *type = flr_wire_message_find(FLR_MSG_UPLOAD_TRIANGLES);
    uint32_t most = flr_wire_max_size(type);
    float *vertices = calloc(196608, sizeof *vertices);
    uint32_t *indices = calloc(196608, sizeof *indices);
    uint8_t *large = malloc(most), *large_room = malloc(FLR_PROTOCOL_CAPACITY(most));
    assert_true(vertices);
    assert_true(indices);
    assert_true(large);
    assert_true(large_room);
    flr_message message = {.id = FLR_MSG_UPLOAD_TRIANGLES}, decoded;
    message.as.upload_triangles = (flr_msg_upload_triangles){.vertices = vertices,
                                                             .vertices_count = 196608,
                                                             .indices = indices,
                                                             .indices_count = 196608};
    size_t size = 0;
    flr_error error;
    assert_ok(flr_protocol_encode(&message, FLR_PROTOCOL_MINOR, large, most, &size, &error), error);
    assert_int_equal(size, most);
    assert_ok(flr_protocol_decode(large, size, FLR_TO_CONTROLLER, large_room,
                                  FLR_PROTOCOL_CAPACITY(most), &decoded, &error),
              error);
    assert_int_equal(decoded.as.upload_triangles.indices_count, 196608);
    free(vertices);
    free(indices);
    free(large);
    free(large_room);
}

/* ---- golden bytes ---- */

static void test_golden(void **state)
{
    (void)state;
    char path[512], line[8192], wanted[8192];
    snprintf(path, sizeof path, "%s/tests/golden/protocol.txt", FLR_SOURCE_DIR);
    uint32_t count, wrong = 0;
    const flr_wire_message *types = flr_wire_messages(&count);
    for (uint32_t i = 0; i < count; i++) {
        flr_test_random random = seeded(types[i].id);
        flr_message message = flr_test_message(&types[i], &random, 6);
        size_t size = encode(&message);
        int used = snprintf(wanted, sizeof wanted, "%s ", types[i].name);
        for (size_t b = 0; b < size; b++)
            used += snprintf(wanted + used, sizeof wanted - (size_t)used, "%02x", frame[b]);
        FILE *golden = fopen(path, "r");
        bool found = false;
        while (golden && !found && fgets(line, sizeof line, golden)) {
            line[strcspn(line, "\n")] = '\0';
            found = strcmp(line, wanted) == 0;
        }
        if (golden) fclose(golden);
        if (!found) printf("tests/golden/protocol.txt lacks the line:\n%s\n", wanted), wrong++;
        flr_test_message_free(&message);
    }
    if (wrong) fail_msg("the wire format has changed: a new major version, or a mistake");
}

/* ---- frames that are not what they should be ---- */

static void test_truncation(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("truncation");
    uint32_t count;
    const flr_wire_message *types = flr_wire_messages(&count);
    for (uint32_t i = 0; i < count; i++) {
        flr_message message = flr_test_message(&types[i], &random, 12), decoded;
        size_t size = encode(&message);
        for (size_t left = 0; left < size; left++) {
            // exactly so many bytes, so that a sanitizer sees what reads behind them; the head says so, too
            uint8_t *cut = malloc(left ? left : 1);
            assert_non_null(cut);
            memcpy(cut, frame, left);
            if (left >= 4) memcpy(cut, &(uint32_t){(uint32_t)left}, 4);
            flr_error error;
            flr_result result = flr_protocol_decode(cut, left, side_of(&types[i]), room,
                                                    sizeof room, &decoded, &error);
            assert_int_equal(result, FLR_BAD_INPUT);
            if (left >= FLR_PROTOCOL_HEAD) {
                assert_non_null(strstr(error.message, types[i].name));
                assert_non_null(strstr(error.message, "cut off"));
            }
            free(cut);
        }
        // and one byte too many
        memcpy(frame, &(uint32_t){(uint32_t)size + 1}, 4);
        frame[size] = 0;
        flr_error error;
        assert_int_equal(flr_protocol_decode(frame, size + 1, side_of(&types[i]), room, sizeof room,
                                             &decoded, &error),
                         FLR_BAD_INPUT);
        assert_non_null(strstr(error.message, "behind its last field"));
        flr_test_message_free(&message);
    }
}

static void test_bit_flips(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("bit flips");
    uint32_t count;
    uint64_t accepted = 0, refused = 0;
    const flr_wire_message *types = flr_wire_messages(&count);
    for (uint32_t i = 0; i < count; i++) {
        flr_message message = flr_test_message(&types[i], &random, 5);
        size_t size = encode(&message);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            flr_message decoded;
            memset(&decoded, 0x55, sizeof decoded);
            flr_message before = decoded;
            flr_error error = {0};
            frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
            flr_result result = flr_protocol_decode(frame, size, side_of(&types[i]), room,
                                                    FLR_PROTOCOL_CAPACITY(size), &decoded, &error);
            if (result == FLR_OK) {
                // what is accepted says exactly what it says, except where the version is another one
                if (bit / 8 != 6 && bit / 8 != 7) assert_canonical(&decoded, frame, size);
                accepted++;
            } else {
                assert_true(result == FLR_BAD_INPUT || result == FLR_TOO_LARGE ||
                            result == FLR_UNSUPPORTED || result == FLR_DENIED);
                assert_int_equal(error.code, result);
                assert_memory_equal(&decoded, &before, sizeof decoded);
                refused++;
            }
            frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        flr_test_message_free(&message);
    }
    assert_gt(accepted, 1000);
    assert_gt(refused, 1000);
}

static void refuses(const flr_message *message, flr_result wanted, const char *sentence)
{
    size_t size = 4711;
    flr_error error;
    assert_int_equal(
        flr_protocol_encode(message, FLR_PROTOCOL_MINOR, frame, sizeof frame, &size, &error),
        wanted);
    assert_string_equal(error.message, sentence);
    assert_int_equal(size, 4711);
    // without a sentence it is the same
    assert_int_equal(
        flr_protocol_encode(message, FLR_PROTOCOL_MINOR, frame, sizeof frame, &size, NULL), wanted);
}

static void test_limits_and_sentences(void **state)
{
    (void)state;
    static char long_text[257];
    memset(long_text, 'x', sizeof long_text);
    flr_message hello = {.id = FLR_MSG_HELLO, .as.hello = {.token = {long_text, 257}}};
    refuses(&hello, FLR_TOO_LARGE, "message 'hello', field 'token': has more bytes than 256");
    hello.as.hello.token.size = 256;
    encode(&hello);
    hello.as.hello.token = (flr_wire_text){"\xC0\x80", 2};
    refuses(&hello, FLR_BAD_ARGUMENT, "message 'hello', field 'token': is not UTF-8");
    hello.as.hello.token = (flr_wire_text){"a\0b", 3};
    refuses(&hello, FLR_BAD_ARGUMENT, "message 'hello', field 'token': has a zero byte");
    hello.as.hello.token = (flr_wire_text){NULL, 3};
    refuses(&hello, FLR_BAD_ARGUMENT, "message 'hello', field 'token': has a size and no bytes");
    hello.as.hello.token.size = 0;
    hello.as.hello.role = 3;
    refuses(&hello, FLR_BAD_ARGUMENT,
            "message 'hello', field 'role': is a number that the table does not have");

    flr_wire_part_state parts[2];
    memset(parts, 0, sizeof parts);
    parts[0].T_world_part.q.w = 1;
    flr_message full = {.id = FLR_MSG_STATE, .as.state = {.parts = parts, .parts_count = 2}};
    refuses(&full, FLR_BAD_ARGUMENT,
            "message 'state', field 'parts[1].T_world_part': has a quaternion that is not of unit "
            "length");
    full.as.state.parts_count = 8193;
    refuses(&full, FLR_TOO_LARGE, "message 'state', field 'parts': has more items than 8192");
    full.as.state.parts_count = 1;
    full.as.state.lower = -1;
    refuses(&full, FLR_BAD_ARGUMENT, "message 'state', field 'lower': is negative");
    full.as.state.lower = (double)NAN;
    refuses(&full, FLR_BAD_ARGUMENT, "message 'state', field 'lower': is not a number");
    full.as.state.lower = (double)INFINITY;
    encode(&full);
    full.as.state.frame = UINT64_C(1) << 53;
    refuses(&full, FLR_BAD_ARGUMENT, "message 'state', field 'frame': is above 2^53 - 1");
    full.as.state.frame = 0;
    full.as.state.compute.p99 = INFINITY;
    refuses(&full, FLR_BAD_ARGUMENT,
            "message 'state', field 'compute.p99': is not a finite number");

    static const float vertices[4] = {0, 1, 2, 3};
    flr_message chunk = {.id = FLR_MSG_MESH_CHUNK,
                         .as.mesh_chunk = {.vertices = vertices, .vertices_count = 4}};
    refuses(&chunk, FLR_BAD_ARGUMENT,
            "message 'mesh_chunk', field 'vertices': has a count that is no multiple of 3");
    static const float bad[3] = {0, NAN, 0};
    chunk.as.mesh_chunk.vertices = bad, chunk.as.mesh_chunk.vertices_count = 3;
    refuses(&chunk, FLR_BAD_ARGUMENT,
            "message 'mesh_chunk', field 'vertices[1]': is not a finite number");
    refuses(&(flr_message){.id = 9999}, FLR_UNSUPPORTED, "message 9999 is not known");
}

/* every capacity below what is needed is refused, and nothing behind it is written */
static void test_space(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("space");
    flr_message message = flr_test_message(flr_wire_message_find(FLR_MSG_STATE), &random, 3),
                decoded;
    size_t size = encode(&message);
    for (size_t capacity = 0; capacity < size; capacity++) {
        size_t written = 0;
        uint8_t *tight = malloc(capacity ? capacity : 1);
        assert_int_equal(
            flr_protocol_encode(&message, FLR_PROTOCOL_MINOR, tight, capacity, &written, NULL),
            FLR_NO_MEMORY);
        free(tight);
    }
    assert_int_equal(flr_protocol_decode(frame, size, FLR_TO_CLIENT, room, 8, &decoded, NULL),
                     FLR_NO_MEMORY);
    assert_int_equal(flr_protocol_decode(frame, size, FLR_TO_CLIENT, NULL, 0, &decoded, NULL),
                     FLR_NO_MEMORY);
    flr_test_message_free(&message);
}

/* ---- versions ---- */

static void test_versions(void **state)
{
    (void)state;
    flr_message ping = {.id = FLR_MSG_PING, .request = 3, .as.ping = {.stamp = 5}}, decoded;
    size_t size = encode(&ping);
    flr_error error;
    flr_protocol_head head;
    uint8_t minor = 99;
    assert_ok(flr_protocol_read_head(frame, size, &head, &error), error);
    assert_ok(flr_protocol_agree(&head, &minor, &error), error);
    assert_int_equal(minor, FLR_PROTOCOL_MINOR);

    // a newer minor version may say more
    memset(frame + size, 0xAB, 12);
    memcpy(frame, &(uint32_t){(uint32_t)size + 12}, 4);
    frame[7] = FLR_PROTOCOL_MINOR + 1;
    assert_ok(
        flr_protocol_decode(frame, size + 12, FLR_TO_CLIENT, room, sizeof room, &decoded, &error),
        error);
    assert_int_equal(decoded.as.ping.stamp, 5);
    assert_int_equal(decoded.minor, FLR_PROTOCOL_MINOR + 1);
    assert_ok(flr_protocol_read_head(frame, size + 12, &head, &error), error);
    assert_ok(flr_protocol_agree(&head, &minor, &error), error);
    assert_int_equal(minor, FLR_PROTOCOL_MINOR);

    // another major version: refused, except for the handshake
    frame[6] = FLR_PROTOCOL_MAJOR + 1;
    assert_int_equal(
        flr_protocol_decode(frame, size + 12, FLR_TO_CLIENT, room, sizeof room, &decoded, &error),
        FLR_UNSUPPORTED);
    assert_ok(flr_protocol_read_head(frame, size + 12, &head, &error), error);
    assert_int_equal(flr_protocol_agree(&head, &minor, &error), FLR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "speaks version 2.5"));
    flr_message no = {.id = FLR_MSG_ERROR, .as.error = {.code = FLR_WIRE_RESULT_DENIED}};
    no.as.error.sentence = flr_wire_text_of("no token");
    size = encode(&no);
    frame[6] = FLR_PROTOCOL_MAJOR + 1;
    assert_ok(flr_protocol_decode(frame, size, FLR_TO_CLIENT, room, sizeof room, &decoded, &error),
              error);
    assert_string_equal(decoded.as.error.sentence.bytes, "no token");

    // an unknown message differs from a broken one, and from a message from the wrong side
    size = encode(&ping);
    memcpy(frame + 4, &(uint16_t){9999}, 2);
    assert_int_equal(
        flr_protocol_decode(frame, size, FLR_TO_CLIENT, room, sizeof room, &decoded, &error),
        FLR_UNSUPPORTED);
    flr_message grab = {.id = FLR_MSG_GRAB, .as.grab.T_world_hand = flr_pose_identity()};
    size = encode(&grab);
    assert_int_equal(
        flr_protocol_decode(frame, size, FLR_TO_CLIENT, room, sizeof room, &decoded, &error),
        FLR_DENIED);
    assert_string_equal(error.message, "message 'grab' goes the other way");
}

/* a message as it may be in version 1.2: two fields since 1.1, one since 1.2 */
typedef struct future {
    uint32_t first;
    flr_wire_text second;
    uint16_t third;
    double fourth;
} future;

static const flr_wire_field *future_fields(void)
{
    static const flr_wire_field fields[] = {
        {.shape = FLR_SHAPE_ONE,
         .kind = FLR_KIND_u32,
         .name = "first",
         .offset = offsetof(future, first),
         .max = 1},
        {.shape = FLR_SHAPE_SINCE, .max = 1},
        {FLR_SHAPE_TEXT, FLR_KIND_u8, "second", "", offsetof(future, second), 0, 10, 1, NULL, NULL},
        {.shape = FLR_SHAPE_ONE,
         .kind = FLR_KIND_u16,
         .name = "third",
         .offset = offsetof(future, third),
         .max = 1},
        {.shape = FLR_SHAPE_SINCE, .max = 2},
        {.shape = FLR_SHAPE_ONE,
         .kind = FLR_KIND_f64,
         .name = "fourth",
         .offset = offsetof(future, fourth),
         .max = 1},
        {.shape = FLR_SHAPE_END}};
    return fields;
}

static void test_minor_versions(void **state)
{
    (void)state;
    flr_wire_message type = {500, FLR_KIND_EVENT, FLR_TO_CLIENT, "future",
                             "",  future_fields,  sizeof(future)};
    future sent = {7, {"two", 3}, 3, 4.5};
    const size_t sizes[3] = {20, 30, 40};
    for (uint8_t sender = 0; sender <= 2; sender++) {
        for (uint8_t reader = 0; reader <= 2; reader++) {
            // the sender writes what the reader said it knows; or all it has, as in a hello
            size_t size;
            future read;
            flr_protocol_head head;
            flr_error error;
            assert_ok(flr_wire_write(&type, &sent, 1, sender, frame, sizeof frame, &size, &error),
                      error);
            assert_int_equal(size, sizes[sender]);
            assert_ok(flr_protocol_read_head(frame, size, &head, &error), error);
            assert_ok(flr_wire_read(&type, &head, reader, frame, room, sizeof room, &read, &error),
                      error);
            assert_int_equal(read.first, 7);
            assert_string_equal(read.second.bytes, sender >= 1 ? "two" : "");
            assert_int_equal(read.third, sender >= 1 ? 3 : 0);
            assert_eq(read.fourth, (sender >= 2 ? 4.5 : 0));
        }
    }
}

/* ---- in the loop ---- */

static uint64_t write_state(void *context)
{
    size_t size = 0;
    for (int i = 0; i < 20; i++) {
        if (flr_protocol_encode(context, FLR_PROTOCOL_MINOR, frame, sizeof frame, &size, NULL) !=
            FLR_OK)
            return 0;
    }
    return size;
}

static uint64_t read_state(void *context)
{
    size_t *size = context;
    flr_message decoded;
    return flr_protocol_decode(frame, *size, FLR_TO_CLIENT, room, sizeof room, &decoded, NULL) ==
           FLR_OK;
}

static void test_quiet(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("quiet");
    flr_message message = flr_test_message(flr_wire_message_find(FLR_MSG_STATE), &random, 200);
    size_t size = encode(&message);
    flr_test_quiet(write_state, &message, NULL);
    flr_test_quiet(read_state, &size, NULL);
    flr_test_message_free(&message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),          cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_values),         cmocka_unit_test(test_largest),
        cmocka_unit_test(test_golden),         cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_bit_flips),      cmocka_unit_test(test_limits_and_sentences),
        cmocka_unit_test(test_space),          cmocka_unit_test(test_versions),
        cmocka_unit_test(test_minor_versions), cmocka_unit_test(test_quiet),
    };
    return cmocka_run_group_tests_name("protocol", tests, NULL, NULL);
}
