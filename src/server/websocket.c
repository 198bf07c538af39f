/* frames of RFC 6455 */
#include "server/websocket.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <string.h>

enum { PROTOCOL_ERROR = 1002 };

static bool is_control(uint8_t opcode) { return opcode & 8; }

/* bytes of the head that begins with these two */
static size_t head_size(const uint8_t *head)
{
    uint8_t length = head[1] & 0x7F;
    return 2 + (length == 126 ? 2u : length == 127 ? 8u : 0u) + (head[1] & 0x80 ? 4u : 0u);
}

/* What is wrong with a frame that begins so? False: nothing. */
static bool is_bad_start(const flr_ws_reader *reader)
{
    uint8_t opcode = reader->head[0] & 0x0F, length = reader->head[1] & 0x7F;
    bool final = reader->head[0] & 0x80, masked = reader->head[1] & 0x80;
    /* reserved bits are extensions', and none was agreed on; a client must mask */
    if ((reader->head[0] & 0x70) || !masked) return true;
    if (is_control(opcode)) return opcode > FLR_WS_PONGING || !final || length > FLR_WS_MAX_CONTROL;
    if (opcode > FLR_WS_BINARY) return true;
    /* a continuation needs a message, a new message the end of the one before */
    return (opcode == FLR_WS_CONTINUATION) != reader->open;
}

/* The head is whole. False: its length is not written as it must be. */
static bool begin_frame(flr_ws_reader *reader)
{
    const uint8_t *head = reader->head;
    unsigned more = (head[1] & 0x7F) == 126 ? 2 : (head[1] & 0x7F) == 127 ? 8 : 0;
    uint64_t size = more ? 0 : head[1] & 0x7F;
    for (unsigned i = 0; i < more; i++) size = size << 8 | head[2 + i];
    if ((more == 2 && size < 126) || (more == 8 && (size < 65536 || size >> 63))) return false;
    memcpy(reader->mask, head + 2 + more, 4);
    reader->opcode = head[0] & 0x0F;
    reader->final = head[0] & 0x80;
    reader->left = size;
    reader->at = 0;
    reader->inside = true;
    if (!is_control(reader->opcode) && reader->opcode != FLR_WS_CONTINUATION) {
        reader->open = true;
        reader->begun = false;
        reader->binary = reader->opcode == FLR_WS_BINARY;
    }
    return true;
}

static void unmask(flr_ws_reader *reader, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) bytes[i] ^= reader->mask[(reader->at + i) & 3];
    reader->at += size;
    reader->left -= size;
}

/* RFC 6455, 7.4: codes that may stand in a close frame */
static bool is_close_code(unsigned code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
           (code >= 3000 && code <= 4999);
}

/* a control frame is whole */
static void end_control(flr_ws_reader *reader, flr_ws_event *event)
{
    size_t size = (size_t)reader->at;
    *event = (flr_ws_event){.bytes = size ? reader->control : NULL, .size = size};
    event->kind = reader->opcode == FLR_WS_PINGING   ? FLR_WS_PING
                  : reader->opcode == FLR_WS_PONGING ? FLR_WS_PONG
                                                     : FLR_WS_CLOSE;
    if (event->kind != FLR_WS_CLOSE) return;
    event->code = 1005;
    if (size == 0) return;
    unsigned code = size >= 2 ? (unsigned)reader->control[0] << 8 | reader->control[1] : 0;
    event->code = (uint16_t)code;
    if (is_close_code(code)) return;
    event->kind = FLR_WS_BAD;
    event->code = PROTOCOL_ERROR;
}

/* the payload of a frame: as much of it as is there */
static size_t read_payload(flr_ws_reader *reader, uint8_t *bytes, size_t size, flr_ws_event *event)
{
    size_t count = reader->left < size ? (size_t)reader->left : size;
    uint64_t at = reader->at;
    if (count) unmask(reader, bytes, count);
    bool ended = reader->left == 0;
    reader->inside = !ended;
    if (is_control(reader->opcode)) {
        if (count) memcpy(reader->control + at, bytes, count);
        if (ended) end_control(reader, event);
        return count;
    }
    if (count == 0 && !ended) return 0;
    *event = (flr_ws_event){.kind = FLR_WS_DATA,
                            .bytes = count ? bytes : NULL,
                            .size = count,
                            .binary = reader->binary,
                            .first = !reader->begun,
                            .last = ended && reader->final};
    reader->begun = true;
    if (event->last) reader->open = false;
    return count;
}

size_t flr_ws_read(flr_ws_reader *reader, uint8_t *bytes, size_t size, flr_ws_event *event)
{
    *event = (flr_ws_event){.kind = FLR_WS_MORE};
    size_t used = 0;
    while (!reader->inside) {
        if (used == size) return used;
        reader->head[reader->head_size++] = bytes[used++];
        if (reader->head_size < 2) continue;
        bool bad = reader->head_size == 2 && is_bad_start(reader);
        if (!bad && reader->head_size == head_size(reader->head)) {
            bad = !begin_frame(reader);
            reader->head_size = 0;
        }
        if (bad) {
            *event = (flr_ws_event){.kind = FLR_WS_BAD, .code = PROTOCOL_ERROR};
            return used;
        }
    }
    return used + read_payload(reader, bytes + used, size - used, event);
}

size_t flr_ws_head(uint8_t opcode, uint64_t size, uint8_t head[FLR_WS_MAX_HEAD])
{
    head[0] = (uint8_t)(0x80 | opcode);
    unsigned more = size < 126 ? 0 : size < 65536 ? 2 : 8;
    head[1] = (uint8_t)(more == 0 ? size : more == 2 ? 126 : 127);
    for (unsigned i = 0; i < more; i++) head[2 + i] = (uint8_t)(size >> 8 * (more - 1 - i));
    return 2 + more;
}

bool flr_ws_accept(const char *key, char accept[FLR_WS_ACCEPT_SIZE])
{
    /* 16 bytes are 22 characters and two signs that fill up */
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (strlen(key) != FLR_WS_KEY_SIZE || strspn(key, letters) != 22 || strcmp(key + 22, "==") != 0)
        return false;
    char text[FLR_WS_KEY_SIZE + 37];
    unsigned char hash[20];
    int size = snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    lws_SHA1((const unsigned char *)text, (size_t)size, hash);
    /* it wants a byte more than it writes */
    char answer[FLR_WS_ACCEPT_SIZE + 1];
    if (lws_b64_encode_string((const char *)hash, sizeof hash, answer, sizeof answer) < 0)
        return false;
    memcpy(accept, answer, FLR_WS_ACCEPT_SIZE);
    return true;
}
