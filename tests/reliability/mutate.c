/* damage to the bytes of a file */
#include "mutate.h"

#include <stdbool.h>
#include <string.h>

#include "support/reseal.h"

uint64_t flr_chance(uint64_t *seed, uint64_t below)
{
    /* splitmix64: every seed is as good as any other */
    uint64_t x = *seed += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return (x ^ x >> 31) % below;
}

/* a range within `size` bytes; short ones are as likely as long ones */
static size_t choose_range(uint64_t *seed, size_t size, size_t *at)
{
    size_t most = (size_t)1 << flr_chance(seed, 17);
    if (most > size) most = size;
    size_t length = 1 + flr_chance(seed, most);
    *at = flr_chance(seed, size - length + 1);
    return length;
}

static const char *flip_bits(flr_content *c, uint64_t *seed)
{
    for (uint64_t i = 1 + flr_chance(seed, 4); i > 0; i--)
        c->bytes[flr_chance(seed, c->size)] ^= (uint8_t)(1u << flr_chance(seed, 8));
    return "bits";
}

static const char *overwrite(flr_content *c, bool zeros, uint64_t *seed)
{
    size_t at, length = choose_range(seed, c->size, &at);
    for (size_t i = 0; i < length; i++)
        c->bytes[at + i] = zeros ? 0 : (uint8_t)flr_chance(seed, 256);
    return zeros ? "zeros" : "noise";
}

static const char *resize(flr_content *c, uint64_t *seed)
{
    if (flr_chance(seed, 2)) {
        c->size = flr_chance(seed, c->size);
        return "cut off";
    }
    size_t more = 1 + flr_chance(seed, 4096);
    for (size_t i = 0; i < more; i++)
        c->bytes[c->size + i] = (uint8_t)(flr_chance(seed, 2) * flr_chance(seed, 256));
    c->size += more;
    return "longer";
}

/* two pieces at multiples of their size */
static const char *swap_blocks(flr_content *c, uint64_t *seed)
{
    size_t block = (size_t)1 << (4 + flr_chance(seed, 13));
    while (2 * block > c->size) block /= 2;
    if (block == 0) return "nothing";
    uint8_t *a = c->bytes + block * flr_chance(seed, c->size / block),
            *b = c->bytes + block * flr_chance(seed, c->size / block);
    for (size_t i = 0; i < block; i++) {
        uint8_t byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
    return "swapped";
}

static const char *splice(flr_content *c, const flr_content *other, uint64_t *seed)
{
    size_t at, least = c->size < other->size ? c->size : other->size;
    size_t length = choose_range(seed, least, &at);
    size_t from = flr_chance(seed, 2) ? at : flr_chance(seed, other->size - length + 1);
    memcpy(c->bytes + at, other->bytes + from, length);
    return "spliced";
}

static const char *shift(flr_content *c, uint64_t *seed)
{
    size_t at, length = choose_range(seed, c->size, &at);
    if (flr_chance(seed, 2)) {
        memmove(c->bytes + at, c->bytes + at + length, c->size - at - length);
        c->size -= length;
        return "taken out";
    }
    memmove(c->bytes + at + length, c->bytes + at, c->size - at);
    c->size += length;
    return "doubled";
}

/* What the header says of the file, as somebody would who knows the format; the checksums are right again. */
static const char *forge_header(flr_content *c, uint64_t *seed)
{
    enum { FIELDS = 80 + 2 * sizeof(flr_voxfile_section) };
    size_t at = flr_chance(seed, FIELDS / 4) * 4;
    uint32_t value;
    memcpy(&value, c->bytes + at, sizeof value);
    const uint32_t choices[] = {
        value + 1, value - 1,       0,         value + 4096, value - 4096,      UINT32_MAX,
        value ^ 3, (uint32_t)*seed, value * 2, value / 2,    value + (1 << 16), 1};
    value = choices[flr_chance(seed, sizeof choices / sizeof *choices)];
    memcpy(c->bytes + at, &value, sizeof value);
    flr_test_reseal(c->bytes, c->size);
    return "forged header";
}

static const char *exchange(flr_content *c, const flr_content *other)
{
    size_t size = other->size < 2 * c->size ? other->size : 2 * c->size;
    memcpy(c->bytes, other->bytes, size);
    c->size = size;
    return "another file";
}

/* slips that leave it JSON more often than not */
static const char *change_digit(flr_content *c, uint64_t *seed)
{
    for (int tries = 0; tries < 1000; tries++) {
        uint8_t *byte = &c->bytes[flr_chance(seed, c->size)];
        if (*byte < '0' || *byte > '9') continue;
        *byte = (uint8_t)("0123456789.-e"[flr_chance(seed, 13)]);
        break;
    }
    return "digit";
}

static const char *mutate_once(flr_content_kind kind, flr_content *c, const flr_content *other,
                               uint64_t *seed)
{
    switch (flr_chance(seed, 12)) {
    case 0:
    case 1:
        return flip_bits(c, seed);
    case 2:
        return overwrite(c, true, seed);
    case 3:
        return overwrite(c, false, seed);
    case 4:
        return resize(c, seed);
    case 5:
        return swap_blocks(c, seed);
    case 6:
        return splice(c, other, seed);
    case 7:
        return shift(c, seed);
    default:
        if (kind == FLR_CONTENT_VOXELS)
            return flr_chance(seed, 20) ? forge_header(c, seed) : exchange(c, other);
        return kind == FLR_CONTENT_JSON ? change_digit(c, seed) : flip_bits(c, seed);
    }
}

const char *flr_mutate(flr_content_kind kind, flr_content *content, const flr_content *sound,
                       const flr_content *other, uint64_t *seed)
{
    for (;;) {
        memcpy(content->bytes, sound->bytes, sound->size);
        content->size = sound->size;
        const char *what = mutate_once(kind, content, other, seed);
        if (content->size != sound->size || memcmp(content->bytes, sound->bytes, sound->size) != 0)
            return what;
    }
}
