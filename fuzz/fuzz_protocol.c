/* frames: whatever comes, decoding ends within its room; what is accepted is encoded to the same bytes again
 *
 * The input is a frame without its first four bytes, the size, which is set to what it is: otherwise nearly every input
 * would end there. */
#include <stdlib.h>
#include <string.h>

#include "protocol/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    // each exactly as large as it may have to be, so that the sanitizer sees what goes beyond
    size_t total = size + 4, again = 0;
    uint8_t *frame = malloc(total), *room = malloc(FLR_PROTOCOL_CAPACITY(total)),
            *copy = malloc(total);
    if (!frame || !room || !copy) abort();
    uint32_t said = (uint32_t)total;
    memcpy(frame, &said, sizeof said);
    if (size) memcpy(frame + 4, bytes, size);
    for (unsigned direction = FLR_TO_CONTROLLER; direction <= FLR_TO_PEER; direction *= 2) {
        flr_message message;
        flr_error error = {0};
        flr_result result = flr_protocol_decode(frame, total, direction, room,
                                                FLR_PROTOCOL_CAPACITY(total), &message, &error);
        if (result == FLR_NO_MEMORY || (result != FLR_OK && !error.message[0])) abort();
        if (result != FLR_OK) continue;
        // as the sender speaks: a newer version has more fields and so more bytes
        bool mine = frame[6] == FLR_PROTOCOL_MAJOR && frame[7] <= FLR_PROTOCOL_MINOR;
        unsigned minor = frame[7] < FLR_PROTOCOL_MINOR ? frame[7] : FLR_PROTOCOL_MINOR;
        if (flr_protocol_encode(&message, minor, copy, total, &again, &error) != FLR_OK) abort();
        if (mine && (again != total || memcmp(frame, copy, total) != 0)) abort();
    }
    free(frame);
    free(room);
    free(copy);
    return 0;
}
