/* frames: what a client may send, at any cut, and what it may not */
#include "server/websocket.h"

#include "support/test.h"

/* A frame with a mask of its own. Returns its size. */
static size_t put(uint8_t *out, uint8_t first, const char *text, size_t size)
{
    static const uint8_t mask[4] = {0x11, 0xA2, 0x33, 0xF4};
    size_t at = 0;
    out[at++] = first;
    out[at++] = (uint8_t)(0x80 | (size < 126 ? size : 126));
    if (size >= 126) out[at++] = (uint8_t)(size >> 8), out[at++] = (uint8_t)size;
    for (int i = 0; i < 4; i++) out[at++] = mask[i];
    for (size_t i = 0; i < size; i++) out[at++] = (uint8_t)((uint8_t)text[i] ^ mask[i & 3]);
    return at;
}

/* A message in three frames with a ping between them, cut everywhere. */
static void test_fragments(void **state)
{
    (void)state;
    uint8_t stream[512];
    char long_text[200];
    memset(long_text, 'z', sizeof long_text);
    size_t size = put(stream, 0x02, "abc", 3);
    size += put(stream + size, 0x89, "here?", 5);
    size += put(stream + size, 0x00, "", 0);
    size += put(stream + size, 0x80, long_text, sizeof long_text);
    size += put(stream + size, 0x88, "\x03\xE8 done", 7);
    for (size_t step = 1; step <= size; step++) {
        uint8_t copy[512], message[256];
        size_t at = 0, got = 0;
        int first = 0, last = 0, pings = 0;
        flr_ws_reader reader = {0};
        flr_ws_event event = {0};
        memcpy(copy, stream, size);
        while (at < size) {
            size_t count = size - at < step ? size - at : step;
            for (size_t used = 0; used < count;) {
                used += flr_ws_read(&reader, copy + at + used, count - used, &event);
                assert_int_not_equal(event.kind, FLR_WS_BAD);
                pings += event.kind == FLR_WS_PING && !memcmp(event.bytes, "here?", 5);
                if (event.kind != FLR_WS_DATA) continue;
                assert_true(event.binary);
                first += event.first, last += event.last;
                if (event.size) memcpy(message + got, event.bytes, event.size);
                got += event.size;
            }
            at += count;
        }
        assert_int_equal(got, 3 + sizeof long_text);
        assert_memory_equal(message, "abc", 3);
        assert_memory_equal(message + 3, long_text, sizeof long_text);
        assert_int_equal(first, 1);
        assert_int_equal(last, 1);
        assert_int_equal(pings, 1);
        assert_int_equal(event.kind, FLR_WS_CLOSE);
        assert_int_equal(event.code, 1000);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint8_t bytes[20];
    } cases[] = {
        {"no mask", {0x82, 3, 'a', 'b', 'c'}},
        {"no mask on a close", {0x88, 0}},
        {"reserved bit", {0xC2, 0x80}},
        {"reserved opcode", {0x83, 0x80}},
        {"reserved control opcode", {0x8B, 0x80}},
        {"fragmented ping", {0x09, 0x80}},
        {"long ping", {0x89, 0xFE, 0, 126}},
        {"continuation of nothing", {0x80, 0x80}},
        {"length of 5 in 16 bits", {0x82, 0xFE, 0, 5}},
        {"length of 5 in 64 bits", {0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0, 5}},
        {"negative length", {0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0}},
        {"close of one byte", {0x88, 0x81, 0, 0, 0, 0, 3}},
        {"close code 999", {0x88, 0x82, 0, 0, 0, 0, 3, 0xE7}},
        {"close code 1005", {0x88, 0x82, 0, 0, 0, 0, 3, 0xED}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t copy[20];
        memcpy(copy, cases[i].bytes, sizeof copy);
        flr_ws_reader reader = {0};
        flr_ws_event event;
        flr_ws_read(&reader, copy, sizeof copy, &event);
        if (event.kind != FLR_WS_BAD || event.code != 1002)
            fail_msg("%s: %d, code %u", cases[i].what, event.kind, event.code);
    }
    /* a new message while one is under way */
    uint8_t stream[32];
    size_t size = put(stream, 0x02, "a", 1), used;
    size += put(stream + size, 0x82, "b", 1);
    flr_ws_reader reader = {0};
    flr_ws_event event;
    used = flr_ws_read(&reader, stream, size, &event);
    assert_int_equal(event.kind, FLR_WS_DATA);
    flr_ws_read(&reader, stream + used, size - used, &event);
    assert_int_equal(event.kind, FLR_WS_BAD);
}

/* RFC 6455, 1.3 */
static void test_accept(void **state)
{
    (void)state;
    char accept[FLR_WS_ACCEPT_SIZE];
    assert_true(flr_ws_accept("dGhlIHNhbXBsZSBub25jZQ==", accept));
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_false(flr_ws_accept("dGhlIHNhbXBsZSBub25jZQ=", accept));
    assert_false(flr_ws_accept("dGhlIHNhbXBsZSBub25jZQ=a", accept));
    assert_false(flr_ws_accept("dGhlIHNhbX sZSBub25jZQ==", accept));
}

static void test_head(void **state)
{
    (void)state;
    uint8_t head[FLR_WS_MAX_HEAD];
    assert_int_equal(flr_ws_head(FLR_WS_BINARY, 125, head), 2);
    assert_int_equal(head[1], 125);
    assert_int_equal(flr_ws_head(FLR_WS_BINARY, 126, head), 4);
    assert_memory_equal(head, "\x82\x7E\x00\x7E", 4);
    assert_int_equal(flr_ws_head(FLR_WS_BINARY, 65536, head), 10);
    assert_memory_equal(head, "\x82\x7F\0\0\0\0\0\1\0\0", 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fragments),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
