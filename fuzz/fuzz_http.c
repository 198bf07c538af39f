/* what comes over a connection before a message is whole: the head of a request and, behind it, the frames of a WebSocket
 *
 * The first byte says how large the pieces are in which the rest comes. Read at once, it must give the same as read in pieces. */
#include <stdlib.h>
#include <string.h>

#include "server/http.h"
#include "server/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* what was read, as a number: statuses, kinds, sizes and bytes */
static void note(uint64_t *sum, uint64_t value) { *sum = (*sum ^ value) * UINT64_C(0x100000001B3); }

static void note_head(uint64_t *sum, const flr_http_head *head)
{
    char text[64];
    note(sum, strlen(head->path) + strlen(head->query));
    for (int i = 0; i < FLR_HTTP_HEADER_COUNT; i++)
        note(sum, head->header[i] ? strlen(head->header[i]) + 1 : 0);
    note(sum, flr_http_argument(head->query, "token", text, sizeof text));
    note(sum, flr_http_lists(head->header[FLR_HTTP_CONNECTION], "upgrade"));
}

static void note_frames(uint64_t *sum, uint8_t *bytes, size_t size, size_t step)
{
    flr_ws_reader reader = {0};
    for (size_t at = 0; at < size;) {
        size_t count = size - at < step ? size - at : step;
        for (size_t used = 0; used < count;) {
            flr_ws_event event;
            used += flr_ws_read(&reader, bytes + at + used, count - used, &event);
            if (used > count || (event.kind == FLR_WS_DATA && event.size > count)) abort();
            for (size_t i = 0; i < event.size; i++) note(sum, event.bytes[i]);
            /* a message may come in other pieces */
            if (event.kind != FLR_WS_DATA && event.kind != FLR_WS_MORE) note(sum, event.kind);
            if (event.last) note(sum, 77);
            if (event.kind == FLR_WS_BAD || event.kind == FLR_WS_CLOSE) return;
        }
        at += count;
    }
}

static uint64_t read_all(const uint8_t *given, size_t size, size_t step)
{
    uint64_t sum = 1;
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) abort();
    memcpy(bytes, given, size);
    flr_http_reader reader = {0};
    size_t at = 0;
    unsigned status = FLR_HTTP_DONE;
    while (at < size && status == FLR_HTTP_DONE) {
        flr_http_restart(&reader);
        for (status = FLR_HTTP_MORE; at < size && status == FLR_HTTP_MORE;) {
            size_t count = size - at < step ? size - at : step;
            size_t used = flr_http_read(&reader, (const char *)bytes + at, count, &status);
            if (used > count) abort();
            at += used;
        }
        note(&sum, status);
        if (status != FLR_HTTP_DONE) break;
        note_head(&sum, &reader.head);
        if (reader.head.header[FLR_HTTP_UPGRADE]) {
            note_frames(&sum, bytes + at, size - at, step);
            break;
        }
    }
    flr_http_free(&reader);
    free(bytes);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1) return 0;
    size_t step = 1 + bytes[0] % 32;
    if (read_all(bytes + 1, size - 1, step) != read_all(bytes + 1, size - 1, SIZE_MAX)) abort();
    return 0;
}
