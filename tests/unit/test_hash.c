#include "support/test.h"

#include "feeler/base.h"

static void golden_values(void **state)
{
    (void)state;
    uint8_t bytes[256];
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    static const struct {
        size_t size;
        const char *text;
    } golden[] = {
        {0, "dbc3fa940369a1139bb7ae5a578d1c6b"},  {1, "6860fe4b00db3d2c5ec4dec7ac75bf56"},
        {31, "3b1b77d067835f0fcb4e2479b39d37e3"}, {32, "61007357de7ed3ae7cfe292492634818"},
        {33, "088feea1de1a12a5373f628c10b8e105"}, {256, "66d90baba94319df06601cecba72c864"},
    };
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        char text[FLR_HASH_TEXT_SIZE];
        flr_hash_print(flr_hash_bytes(bytes, golden[i].size), text);
        assert_string_equal(text, golden[i].text);
    }
    char text[FLR_HASH_TEXT_SIZE];
    assert_string_equal(flr_hash_print(flr_hash_bytes(NULL, 0), text), golden[0].text);
}

static void print_pads_with_zeros(void **state)
{
    (void)state;
    char text[FLR_HASH_TEXT_SIZE];
    flr_hash hash = {0xAB, 0x1000000000000000u};
    assert_string_equal(flr_hash_print(hash, text), "00000000000000ab1000000000000000");
}

static void split_does_not_matter(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("split_does_not_matter");
    uint8_t bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)flr_test_random_u64(&random);
    for (int round = 0; round < 500; round++) {
        size_t size = flr_test_random_below(&random, sizeof bytes + 1), done = 0;
        flr_hasher hasher = flr_hasher_begin();
        while (done < size) {
            size_t piece = flr_test_random_below(&random, round % 2 ? 7 : 100);
            if (piece > size - done) piece = size - done;
            flr_hasher_add(&hasher, bytes + done, piece);
            done += piece;
        }
        assert_true(flr_hash_equal(flr_hasher_end(&hasher), flr_hash_bytes(bytes, size)));
        // ending does not disturb: it can be asked again, and more can be added
        assert_true(flr_hash_equal(flr_hasher_end(&hasher), flr_hash_bytes(bytes, size)));
    }
}

static int count_bits(flr_hash a, flr_hash b)
{
    return __builtin_popcountll(a.high ^ b.high) + __builtin_popcountll(a.low ^ b.low);
}

/* every input bit flips about half of the output bits, and none flips few */
static void avalanche(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("avalanche");
    static const size_t sizes[] = {1, 8, 12, 31, 32, 33, 64, 100, 500};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint8_t bytes[500];
        double sum = 0;
        int least = 128, count = 0;
        for (int round = 0; round < 10; round++) {
            for (size_t i = 0; i < sizes[s]; i++)
                bytes[i] = round ? (uint8_t)flr_test_random_u64(&random) : 0;
            flr_hash before = flr_hash_bytes(bytes, sizes[s]);
            for (size_t bit = 0; bit < 8 * sizes[s]; bit++) {
                bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
                int flipped = count_bits(before, flr_hash_bytes(bytes, sizes[s]));
                bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
                sum += flipped, count++;
                if (flipped < least) least = flipped;
            }
        }
        assert_gt(sum / count, 62.0);
        assert_lt(sum / count, 66.0);
        assert_gt(least, 28); // six standard deviations below the mean of 64
    }
}

static int compare_hashes(const void *a, const void *b)
{
    const flr_hash *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return x->high < y->high ? -1 : x->high > y->high;
}

/* inputs that differ little, in content or in length only; all halves are different too */
static void similar_inputs_do_not_collide(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    flr_hash *hashes = malloc(COUNT * sizeof *hashes);
    assert_non_null(hashes);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i < 1000) {
            static const uint8_t zeros[1000];
            hashes[i] = flr_hash_bytes(zeros, i);
        } else {
            // two numbers of a mesh change, in blocks that follow each other
            float corner[18] = {0};
            corner[i % 8] = (float)i, corner[8 + i % 8] = -(float)(i / 3);
            hashes[i] = flr_hash_bytes(corner, sizeof corner);
        }
    }
    qsort(hashes, COUNT, sizeof *hashes, compare_hashes);
    for (size_t i = 1; i < COUNT; i++) assert_ne(hashes[i].low, hashes[i - 1].low);
    free(hashes);
}

/* a flipped sign in one block must not be undone by any single bit of the next */
static void flipped_signs_do_not_cancel(void **state)
{
    (void)state;
    uint8_t bytes[64] = {1, 2, 3};
    flr_hash before = flr_hash_bytes(bytes, sizeof bytes);
    for (int sign = 31; sign < 256; sign += 32)
        for (int bit = 256; bit < 512; bit++) {
            bytes[sign / 8] ^= (uint8_t)(1 << sign % 8), bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_gt(count_bits(before, flr_hash_bytes(bytes, sizeof bytes)), 28);
            bytes[sign / 8] ^= (uint8_t)(1 << sign % 8), bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values),
        cmocka_unit_test(print_pads_with_zeros),
        cmocka_unit_test(split_does_not_matter),
        cmocka_unit_test(avalanche),
        cmocka_unit_test(similar_inputs_do_not_collide),
        cmocka_unit_test(flipped_signs_do_not_cancel),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
