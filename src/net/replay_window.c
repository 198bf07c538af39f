/* the replay window: a ring of bits that moves with the highest number */
#include "net/replay_window.h"

#include <string.h>

flr_window_answer flr_window_look(const flr_window *window, uint64_t number)
{
    if (number > window->highest) return FLR_WINDOW_NEW;
    if (number == 0 || window->highest - number >= FLR_WINDOW_BITS) return FLR_WINDOW_OLD;
    uint64_t place = number % FLR_WINDOW_BITS;
    return window->bits[place / 64] >> (place % 64) & 1 ? FLR_WINDOW_SEEN : FLR_WINDOW_NEW;
}

void flr_window_add(flr_window *window, uint64_t number)
{
    if (number > window->highest) {
        // the places between the old and the new highest number belonged to numbers that are now too old
        uint64_t step = number - window->highest;
        if (step >= FLR_WINDOW_BITS) {
            memset(window->bits, 0, sizeof window->bits);
        } else {
            for (uint64_t n = window->highest + 1; n < number; n++) {
                uint64_t place = n % FLR_WINDOW_BITS;
                window->bits[place / 64] &= ~(1ull << (place % 64));
            }
        }
        window->highest = number;
    }
    uint64_t place = number % FLR_WINDOW_BITS;
    window->bits[place / 64] |= 1ull << (place % 64);
}
