/* keys and seals: what was closed opens once with the right key, and nothing else does */
#include "net/seal.h"

#include "feeler/sim.h"
#include "support/test.h"

static flr_sim *sim;
static flr_env *env;

static int begin(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    sim = flr_sim_create(&def);
    env = flr_sim_node(sim, (flr_address){.family = 4, .ip = {10, 0, 0, 1}});
    return flr_seal_begin(NULL) == FLR_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    flr_sim_destroy(sim);
    return 0;
}

static void test_token(void **state)
{
    (void)state;
    flr_seal_token a, b, c;
    flr_seal_make_token("0123456789abcdef", &a);
    flr_seal_make_token("0123456789abcdef", &b);
    flr_seal_make_token("0123456789abcdeg", &c);
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_not_equal(a.hello, c.hello, FLR_SEAL_KEY);
    assert_memory_not_equal(a.hello, a.answer, FLR_SEAL_KEY);
    assert_memory_not_equal(a.session, a.answer, FLR_SEAL_KEY);
}

static void test_close_open(void **state)
{
    (void)state;
    flr_seal_token token;
    flr_seal_make_token("0123456789abcdef", &token);
    uint8_t plain[100], sealed[100 + FLR_SEAL_NONCE + FLR_SEAL_TAG], again[sizeof sealed],
        opened[100];
    for (size_t i = 0; i < sizeof plain; i++) plain[i] = (uint8_t)i;
    flr_seal_close(env, token.hello, "head", 4, plain, sizeof plain, sealed);
    flr_seal_close(env, token.hello, "head", 4, plain, sizeof plain, again);
    assert_memory_not_equal(sealed, again, sizeof sealed); // another nonce
    assert_true(flr_seal_open(token.hello, "head", 4, sealed, sizeof sealed, opened));
    assert_memory_equal(plain, opened, sizeof plain);
    assert_false(flr_seal_open(token.answer, "head", 4, sealed, sizeof sealed, opened));
    assert_false(flr_seal_open(token.hello, "heat", 4, sealed, sizeof sealed, opened));
    for (size_t size = 0; size < sizeof sealed; size++)
        assert_false(flr_seal_open(token.hello, "head", 4, sealed, size, opened));
    for (size_t bit = 0; bit < 8 * sizeof sealed; bit++) {
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(flr_seal_open(token.hello, "head", 4, sealed, sizeof sealed, opened));
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void agree(flr_seal_session *initiator, flr_seal_session *responder, const char *token,
                  const char *said)
{
    flr_seal_token mine, theirs;
    flr_seal_make_token("0123456789abcdef", &mine);
    flr_seal_make_token(token, &theirs);
    flr_seal_pair a, b;
    flr_seal_make_pair(env, &a);
    flr_seal_make_pair(env, &b);
    assert_true(flr_seal_agree(&mine, &a, b.open, "said", 4, initiator));
    assert_true(flr_seal_agree(&theirs, &b, a.open, said, strlen(said), responder));
}

static void test_agree(void **state)
{
    (void)state;
    flr_seal_session a, b, c;
    agree(&a, &b, "0123456789abcdef", "said");
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_not_equal(a.there.key, a.back.key, FLR_SEAL_KEY);
    agree(&a, &c, "0123456789abcdef", "other");
    assert_memory_not_equal(a.there.key, c.there.key, FLR_SEAL_KEY);
    agree(&a, &c, "0123456789abcdeg", "said");
    assert_memory_not_equal(a.there.key, c.there.key, FLR_SEAL_KEY);
    // a key of the other that would make the shared secret known to everybody
    flr_seal_token token;
    flr_seal_make_token("0123456789abcdef", &token);
    flr_seal_pair pair;
    flr_seal_make_pair(env, &pair);
    const uint8_t zero[FLR_SEAL_KEY] = {0}, one[FLR_SEAL_KEY] = {1};
    assert_false(flr_seal_agree(&token, &pair, zero, "", 0, &a));
    assert_false(flr_seal_agree(&token, &pair, one, "", 0, &a));
}

static void test_packets(void **state)
{
    (void)state;
    flr_seal_session a, b;
    agree(&a, &b, "0123456789abcdef", "said");
    uint8_t plain[200] = "hello", sealed[200 + FLR_SEAL_TAG], opened[200];
    flr_seal_close_packet(&a.there, 7, "head", 4, plain, sizeof plain, sealed);
    assert_false(flr_seal_open_packet(&b.there, 8, "head", 4, sealed, sizeof sealed, opened));
    assert_false(flr_seal_open_packet(&b.there, 7, "heat", 4, sealed, sizeof sealed, opened));
    assert_false(flr_seal_open_packet(&b.back, 7, "head", 4, sealed, sizeof sealed, opened));
    assert_false(flr_seal_open_packet(&b.there, 7, "head", 4, sealed, FLR_SEAL_TAG - 1, opened));
    assert_true(flr_seal_open_packet(&b.there, 7, "head", 4, sealed, sizeof sealed, opened));
    assert_memory_equal(plain, opened, sizeof plain);
}

/* new keys come by themselves; packets of the last epoch open a while longer; forged numbers move nothing */
static void test_epochs(void **state)
{
    (void)state;
    flr_seal_session a, b;
    agree(&a, &b, "0123456789abcdef", "said");
    uint8_t plain[32] = "epoch", last[32 + FLR_SEAL_TAG], first[32 + FLR_SEAL_TAG], opened[32],
            before[32 + FLR_SEAL_TAG], key[FLR_SEAL_KEY];
    memcpy(key, a.there.key, sizeof key);
    flr_seal_close_packet(&a.there, FLR_SEAL_EPOCH - 2, NULL, 0, plain, sizeof plain, before);
    flr_seal_close_packet(&a.there, FLR_SEAL_EPOCH - 1, NULL, 0, plain, sizeof plain, last);
    flr_seal_close_packet(&a.there, FLR_SEAL_EPOCH, NULL, 0, plain, sizeof plain, first);
    assert_memory_not_equal(key, a.there.key, sizeof key);
    assert_memory_not_equal(key, a.there.last, sizeof key); // forgotten
    flr_seal_direction then = b.there;
    assert_false(
        flr_seal_open_packet(&b.there, FLR_SEAL_EPOCH, NULL, 0, last, sizeof last, opened));
    assert_false(
        flr_seal_open_packet(&b.there, 9 * FLR_SEAL_EPOCH, NULL, 0, last, sizeof last, opened));
    assert_false(flr_seal_open_packet(&b.there, UINT64_MAX, NULL, 0, last, sizeof last, opened));
    assert_memory_equal(&then, &b.there, sizeof then);
    assert_true(
        flr_seal_open_packet(&b.there, FLR_SEAL_EPOCH, NULL, 0, first, sizeof first, opened));
    assert_int_equal(b.there.epoch, 1);
    assert_true(
        flr_seal_open_packet(&b.there, FLR_SEAL_EPOCH - 1, NULL, 0, last, sizeof last, opened));
    flr_seal_close_packet(&a.there, 2 * FLR_SEAL_EPOCH, NULL, 0, plain, sizeof plain, first);
    assert_true(
        flr_seal_open_packet(&b.there, 2 * FLR_SEAL_EPOCH, NULL, 0, first, sizeof first, opened));
    assert_false(
        flr_seal_open_packet(&b.there, FLR_SEAL_EPOCH - 2, NULL, 0, before, sizeof before, opened));
}

static void test_cookie(void **state)
{
    (void)state;
    uint8_t secret[FLR_SEAL_KEY] = "secret", about[FLR_SEAL_KEY] = "key",
            other[FLR_SEAL_KEY] = "no";
    uint8_t cookie[FLR_SEAL_COOKIE];
    flr_address address = {.family = 4, .ip = {1, 2, 3, 4}, .port = 99}, moved = address, six;
    flr_seal_make_cookie(secret, address, about, 1000, cookie);
    assert_int_equal(flr_seal_check_cookie(secret, address, about, 1500, 500, cookie),
                     FLR_SEAL_GOOD);
    assert_int_equal(flr_seal_check_cookie(secret, address, about, 1501, 500, cookie),
                     FLR_SEAL_OLD);
    moved.port++;
    assert_int_equal(flr_seal_check_cookie(secret, moved, about, 1500, 500, cookie),
                     FLR_SEAL_FORGED);
    moved = address, moved.ip[0]++;
    assert_int_equal(flr_seal_check_cookie(secret, moved, about, 1500, 500, cookie),
                     FLR_SEAL_FORGED);
    six = address, six.family = 6;
    assert_int_equal(flr_seal_check_cookie(secret, six, about, 1500, 500, cookie), FLR_SEAL_FORGED);
    assert_int_equal(flr_seal_check_cookie(secret, address, other, 1500, 500, cookie),
                     FLR_SEAL_FORGED);
    assert_int_equal(flr_seal_check_cookie(other, address, about, 1500, 500, cookie),
                     FLR_SEAL_FORGED);
    for (size_t i = 0; i < sizeof cookie; i++) {
        cookie[i] ^= 1;
        assert_int_equal(flr_seal_check_cookie(secret, address, about, 1500, 500, cookie),
                         FLR_SEAL_FORGED);
        cookie[i] ^= 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token),  cmocka_unit_test(test_close_open),
        cmocka_unit_test(test_agree),  cmocka_unit_test(test_packets),
        cmocka_unit_test(test_epochs), cmocka_unit_test(test_cookie),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
