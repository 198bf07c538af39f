/* an ordered stream over packets that get lost, and sides that lie */
#include "net/reliable.h"

#include "support/fail_alloc.h"
#include "support/test.h"

enum { CAPACITY = 2 * FLR_RELIABLE_MESSAGE, MESSAGES = 200 };
static const int64_t ms = 1000000;

static size_t make_message(uint64_t seed, uint32_t index, uint8_t *bytes)
{
    flr_test_random random = {seed * 1000003 + index};
    static const size_t sizes[] = {0, 1, 30, 1000, 1116, 1117, 5000, FLR_RELIABLE_MESSAGE};
    size_t size = sizes[flr_test_random_below(&random, 8)];
    uint64_t word = flr_test_random_u64(&random);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)((word >> i % 57) + i);
    return size;
}

/* parts and acknowledgements by chance late, doubled, lost: all messages, in order, once */
static void test_chance(void **state)
{
    (void)state;
    enum { FLYING = 4096 };
    typedef struct {
        int64_t arrival, sent;
        bool is_ack;
        uint64_t place;
        size_t size;
        uint8_t bytes[FLR_RELIABLE_PART];
        flr_reliable_ack ack;
    } flight;
    flight *flying = malloc(FLYING * sizeof *flying);
    uint8_t *bytes = malloc(FLR_RELIABLE_MESSAGE), *scratch = malloc(FLR_RELIABLE_MESSAGE),
            *waiting = malloc(FLR_RELIABLE_MESSAGE);
    flr_test_random random = flr_test_random_begin("test_reliable");
    for (int run = 0; run < 6; run++) {
        double loss = flr_test_random_range(&random, 0, 0.4);
        uint32_t spread = 1 + flr_test_random_below(&random, 60);
        uint64_t seed = flr_test_random_u64(&random);
        flr_reliable *a = flr_reliable_create(CAPACITY), *b = flr_reliable_create(CAPACITY);
        uint32_t put = 0, got = 0, count = 0;
        int64_t now = 1;
        bool made = false;
        size_t waiting_size = 0;
        for (; got < MESSAGES && now < 600000 * ms; now += ms) {
            for (; put < MESSAGES; put++) {
                if (!made) waiting_size = make_message(seed, put, waiting);
                made = true;
                bool fits = flr_reliable_room(a) >= waiting_size;
                flr_result result = flr_reliable_put(a, waiting, waiting_size);
                assert_true(result == FLR_OK || !fits || waiting_size == 0);
                if (result != FLR_OK) break;
                made = false;
            }
            flight f = {.sent = now};
            while (count + 2 < FLYING &&
                   (f.size = flr_reliable_take(a, now, 0.3, f.bytes, &f.place))) {
                for (int copy = flr_test_random_below(&random, 10) ? 1 : 2; copy > 0; copy--) {
                    f.arrival = now + (5 + flr_test_random_below(&random, spread)) * ms;
                    if (flr_test_random_range(&random, 0, 1) >= loss) flying[count++] = f;
                }
            }
            bool part_came = false;
            for (uint32_t i = 0; i < count; i++) {
                if (flying[i].arrival > now) continue;
                flr_reliable_path path = {.rtt = 0.02, .usual = 0.02, .loss = loss};
                if (flying[i].is_ack)
                    assert_true(flr_reliable_acked(a, &flying[i].ack, path, now));
                else
                    assert_true(
                        flr_reliable_came(b, flying[i].place, flying[i].bytes, flying[i].size));
                part_came = part_came || !flying[i].is_ack;
                flying[i--] = flying[--count];
            }
            const uint8_t *whole;
            size_t size;
            while (flr_reliable_next(b, scratch, &whole, &size) == FLR_RELIABLE_WHOLE) {
                assert_int_equal(size, make_message(seed, got, bytes));
                assert_memory_equal(whole, bytes, size);
                got++;
            }
            if ((part_came || now / ms % 100 == 0) && count < FLYING &&
                flr_test_random_range(&random, 0, 1) >= loss) {
                flight answer = {.is_ack = true,
                                 .arrival =
                                     now + (5 + flr_test_random_below(&random, spread)) * ms};
                flr_reliable_tell(b, &answer.ack);
                flying[count++] = answer;
            }
        }
        assert_int_equal(got, MESSAGES);
        print_message("loss %.0f %%, spread %u ms: %.1f s, %llu sent again\n", loss * 100, spread,
                      (double)now * 1e-9, (unsigned long long)a->out.resent);
        flr_reliable_destroy(a);
        flr_reliable_destroy(b);
    }
    free(flying);
    free(waiting);
    free(bytes);
    free(scratch);
}

/* what the other cannot have is refused, and changes nothing */
static void test_false_acks(void **state)
{
    (void)state;
    flr_reliable *a = flr_reliable_create(CAPACITY);
    uint8_t bytes[5000] = {0}, part[FLR_RELIABLE_PART];
    uint64_t place;
    assert_int_equal(flr_reliable_put(a, bytes, sizeof bytes), FLR_OK);
    while (flr_reliable_take(a, 1, 0.3, part, &place)) {}
    uint64_t sent = a->out.sent;
    assert_int_equal(sent, 5004);
    flr_reliable_path path = {0};
    flr_reliable_ack ack = {.came = sent + 1, .limit = sent + 1};
    assert_false(flr_reliable_acked(a, &ack, path, 2));
    ack = (flr_reliable_ack){.came = 100, .limit = 99};
    assert_false(flr_reliable_acked(a, &ack, path, 2));
    ack = (flr_reliable_ack){.limit = 9999, .count = 1, .ranges = {{0, 100}}};
    assert_false(flr_reliable_acked(a, &ack, path, 2)); // begins where the first gap is not
    ack = (flr_reliable_ack){.limit = 9999, .count = 1, .ranges = {{200, 200}}};
    assert_false(flr_reliable_acked(a, &ack, path, 2));
    ack = (flr_reliable_ack){.limit = 9999, .count = 1, .ranges = {{200, sent + 1}}};
    assert_false(flr_reliable_acked(a, &ack, path, 2));
    ack = (flr_reliable_ack){.limit = 9999, .count = 2, .ranges = {{200, 400}, {300, 500}}};
    assert_false(flr_reliable_acked(a, &ack, path, 2));
    assert_int_equal(a->out.flying, sent);
    // an old one again, and half a part, are no news
    ack = (flr_reliable_ack){.came = 100, .limit = 9999};
    assert_true(flr_reliable_acked(a, &ack, path, 2));
    assert_int_equal(a->out.flying, sent);
    ack.came = sent;
    assert_true(flr_reliable_acked(a, &ack, path, 2));
    assert_int_equal(a->out.flying, 0);
    ack.came = 0;
    assert_true(flr_reliable_acked(a, &ack, path, 2));
    assert_int_equal(flr_reliable_due(a), INT64_MAX);
    flr_reliable_destroy(a);
}

static void test_false_parts(void **state)
{
    (void)state;
    flr_reliable *b = flr_reliable_create(CAPACITY);
    uint8_t bytes[FLR_RELIABLE_PART] = {0}, *scratch = malloc(FLR_RELIABLE_MESSAGE);
    const uint8_t *whole;
    size_t size;
    assert_false(flr_reliable_came(b, CAPACITY - 10, bytes, 11));
    assert_false(flr_reliable_came(b, UINT64_MAX - 5, bytes, 11));
    assert_false(flr_reliable_came(b, 0, bytes, 0));
    // every second byte: the list fills up, what does not fit is as if lost
    for (uint32_t i = 0; i < 2 * FLR_RELIABLE_RANGES; i++)
        assert_true(flr_reliable_came(b, 2 * i + 1, bytes, 1));
    assert_int_equal(b->in.count, FLR_RELIABLE_RANGES);
    flr_reliable_ack ack;
    flr_reliable_tell(b, &ack);
    assert_int_equal(ack.count, FLR_RELIABLE_TOLD);
    assert_int_equal(ack.came, 0);
    assert_true(flr_reliable_came(b, 0, bytes, FLR_RELIABLE_PART));
    assert_int_equal(b->in.count, 0);
    assert_int_equal(b->in.came, FLR_RELIABLE_PART);
    // messages of zero bytes, then one that is too large
    for (int i = 0; i < FLR_RELIABLE_PART / 4; i++)
        assert_int_equal(flr_reliable_next(b, scratch, &whole, &size), FLR_RELIABLE_WHOLE);
    assert_int_equal(flr_reliable_next(b, scratch, &whole, &size), FLR_RELIABLE_NONE);
    memset(bytes, 0xff, 4);
    assert_true(flr_reliable_came(b, b->in.came, bytes, 4));
    assert_int_equal(flr_reliable_next(b, scratch, &whole, &size), FLR_RELIABLE_WRONG);
    flr_reliable_destroy(b);
    free(scratch);
}

/* any parts from anywhere against a plain map of bytes */
static void test_any_parts(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("test_reliable parts");
    static uint8_t came[CAPACITY];
    for (int run = 0; run < 20; run++) {
        flr_reliable *b = flr_reliable_create(CAPACITY);
        memset(came, 0, sizeof came);
        uint8_t bytes[FLR_RELIABLE_PART];
        memset(bytes, 0xee, sizeof bytes);
        for (int i = 0; i < 300; i++) {
            size_t size = 1 + flr_test_random_below(&random, FLR_RELIABLE_PART);
            uint64_t place = flr_test_random_below(&random, 60000);
            assert_true(flr_reliable_came(b, place, bytes, size));
            memset(came + place, 1, size);
        }
        uint64_t first = 0;
        while (came[first]) first++;
        assert_int_equal(b->in.came, first);
        uint64_t at = first;
        for (uint32_t i = 0; i < b->in.count; i++) {
            for (; at < b->in.ranges[i].begin; at++) assert_int_equal(came[at], 0);
            for (; at < b->in.ranges[i].end; at++) assert_int_equal(came[at], 1);
        }
        for (; at < CAPACITY; at++) assert_int_equal(came[at], 0);
        flr_reliable_destroy(b);
    }
}

static flr_result make(void *context, flr_error *error)
{
    (void)context;
    flr_reliable *reliable = flr_reliable_create(CAPACITY);
    if (!reliable) return flr_fail(error, FLR_NO_MEMORY, "no memory");
    flr_reliable_destroy(reliable);
    return FLR_OK;
}

static void test_alloc(void **state)
{
    (void)state;
    assert_int_equal(flr_fail_alloc_each(make, NULL), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chance),      cmocka_unit_test(test_false_acks),
        cmocka_unit_test(test_false_parts), cmocka_unit_test(test_any_parts),
        cmocka_unit_test(test_alloc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
