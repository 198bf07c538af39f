/* content hash: four 64-bit lanes over blocks of 32 bytes
 *
 * Each word of a block goes into two lanes: into its own by a 64 x 64 -> 128 bit multiplication
 * whose halves are folded together, and plainly into the lane before. A change of one word
 * therefore has to cancel in two lanes at once to go unnoticed, also where it flips only a top
 * bit (a sign), which a plain multiplication would leave at the top. */
#include "feeler/base.h"

#include <string.h>

enum { BLOCK = 32 };

/* odd, about half of the bits set; hexadecimal digits of the roots of 2, 3, 5, 7 */
static const uint64_t keys[4] = {0x6A09E667F3BCC909u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu,
                                 0xA54FF53A5F1D36F1u};

__extension__ typedef unsigned __int128 wide;

static uint64_t fold_product(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* the same number on every machine */
static uint64_t load_little_endian(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static void mix_blocks(uint64_t lanes[4], const uint8_t *bytes, size_t block_count)
{
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    for (size_t i = 0; i < block_count; i++, bytes += BLOCK) {
        uint64_t w0 = load_little_endian(bytes), w1 = load_little_endian(bytes + 8);
        uint64_t w2 = load_little_endian(bytes + 16), w3 = load_little_endian(bytes + 24);
        a = fold_product(a ^ w0, keys[0]) + w1;
        b = fold_product(b ^ w1, keys[1]) + w2;
        c = fold_product(c ^ w2, keys[2]) + w3;
        d = fold_product(d ^ w3, keys[3]) + w0;
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

/* one to one, and every bit reaches every bit */
static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 32) * keys[1];
    x = (x ^ x >> 29) * keys[3];
    x = (x ^ x >> 32) * keys[0];
    return x ^ x >> 31;
}

flr_hasher flr_hasher_begin(void)
{
    flr_hasher hasher;
    memset(&hasher, 0, sizeof hasher);
    for (int i = 0; i < 4; i++) hasher.lanes[i] = ~keys[3 - i];
    return hasher;
}

void flr_hasher_add(flr_hasher *hasher, const void *bytes, size_t size)
{
    if (size == 0) return;
    const uint8_t *next = bytes;
    size_t held = (size_t)(hasher->total % BLOCK);
    hasher->total += size;

    // fill up a block begun before
    if (held > 0) {
        size_t take = size < BLOCK - held ? size : BLOCK - held;
        memcpy(hasher->tail + held, next, take);
        if (held + take < BLOCK) return;
        mix_blocks(hasher->lanes, hasher->tail, 1);
        next += take, size -= take;
    }
    mix_blocks(hasher->lanes, next, size / BLOCK);
    memcpy(hasher->tail, next + size / BLOCK * BLOCK, size % BLOCK);
}

flr_hash flr_hasher_end(const flr_hasher *hasher)
{
    // the last block is filled up with zeros; the total tells it from one that ends in zeros
    uint64_t lanes[4];
    memcpy(lanes, hasher->lanes, sizeof lanes);
    size_t held = (size_t)(hasher->total % BLOCK);
    if (held > 0) {
        uint8_t block[BLOCK] = {0};
        memcpy(block, hasher->tail, held);
        mix_blocks(lanes, block, 1);
    }

    // two passes over the lanes in opposite order give two independent halves
    flr_hash hash = {hasher->total, ~hasher->total};
    for (int i = 0; i < 4; i++) {
        hash.high = scramble(hash.high ^ lanes[i]);
        hash.low = scramble(hash.low + lanes[3 - i] * keys[2]);
    }
    return hash;
}

flr_hash flr_hash_bytes(const void *bytes, size_t size)
{
    flr_hasher hasher = flr_hasher_begin();
    flr_hasher_add(&hasher, bytes, size);
    return flr_hasher_end(&hasher);
}

bool flr_hash_equal(flr_hash a, flr_hash b) { return a.high == b.high && a.low == b.low; }

const char *flr_hash_print(flr_hash hash, char text[FLR_HASH_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        text[i] = digits[hash.high >> (60 - 4 * i) & 15];
        text[16 + i] = digits[hash.low >> (60 - 4 * i) & 15];
    }
    text[32] = 0;
    return text;
}
