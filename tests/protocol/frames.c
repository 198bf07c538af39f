/* protocol_frames [SEED]: frames, whole and damaged, and what the C codec makes of each; for agree.mjs
 *
 * A line: direction, the frame in hexadecimal, then `yes` and the message as JSON, or `no`, the result's number and the
 * sentence. */
#include "support/messages.h"

enum { FRAME = 1 << 16, DAMAGES = 60 };

static uint8_t frame[FRAME], room[FLR_PROTOCOL_CAPACITY(FRAME)];

static void print(size_t size, unsigned direction)
{
    flr_message message;
    flr_error error;
    printf("%u ", direction);
    for (size_t i = 0; i < size; i++) printf("%02x", frame[i]);
    if (flr_protocol_decode(frame, size, direction, room, sizeof room, &message, &error) ==
        FLR_OK) {
        printf(" yes ");
        flr_test_message_print(&message, stdout);
    } else {
        printf(" no %d %s\n", (int)error.code, error.message);
    }
}

/* changes something; the new size */
static size_t damage(size_t size, flr_test_random *random)
{
    size_t at = flr_test_random_below(random, (uint32_t)size);
    size_t body =
        FLR_PROTOCOL_HEAD + (size > FLR_PROTOCOL_HEAD ? at % (size - FLR_PROTOCOL_HEAD) : 0);
    switch (flr_test_random_below(random, 6)) {
    case 0:
        frame[at] ^= (uint8_t)(1u << flr_test_random_below(random, 8));
        break;
    case 1:
        frame[body] = (uint8_t)flr_test_random_u64(random);
        break;
    case 2:
        frame[body] = 0xFF;
        break;
    case 3:
        memset(frame + (body & ~(size_t)7), 0xFF, 8);
        break; // an odd float, or a large number
    case 4:
        size = at;
        break;
    default:
        frame[size++] = (uint8_t)flr_test_random_below(random, 2);
        break;
    }
    // mostly the head is right about the size, or all would end there
    if (flr_test_random_below(random, 8) && size >= 4) {
        for (int i = 0; i < 4; i++) frame[i] = (uint8_t)(size >> 8 * i);
    }
    return size;
}

int main(int count, char **arguments)
{
    flr_test_random random = {count > 1 ? strtoull(arguments[1], NULL, 10) : 1};
    uint32_t types;
    const flr_wire_message *type = flr_wire_messages(&types);
    for (uint32_t i = 0; i < types; i++, type++) {
        unsigned direction = type->direction & FLR_TO_CLIENT       ? FLR_TO_CLIENT
                             : type->direction & FLR_TO_CONTROLLER ? FLR_TO_CONTROLLER
                                                                   : FLR_TO_PEER;
        unsigned wrong = direction == FLR_TO_CLIENT ? FLR_TO_CONTROLLER : FLR_TO_CLIENT;
        for (int turn = 0; turn < DAMAGES; turn++) {
            flr_message message = flr_test_message(type, &random, 5);
            size_t size = 0;
            memset(frame, 0, 4096);
            if (flr_protocol_encode(&message, FLR_PROTOCOL_MINOR, frame, sizeof frame, &size,
                                    NULL) != FLR_OK)
                return 1;
            if (turn >= 4) size = damage(size, &random);
            if (turn % 8 == 7) size = damage(size ? size : 1, &random);
            print(size, turn == 5 ? wrong : direction);
            flr_test_message_free(&message);
        }
    }
    return 0;
}
