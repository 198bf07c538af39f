/* what base does when memory runs out, at every allocation */
#include "support/fail_alloc.h"

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/sim.h"

static flr_env *env;
static char path[512];

static flr_result write_and_read(void *context, flr_error *error)
{
    (void)context;
    flr_output *output;
    flr_result result = flr_output_begin(env, path, &output, error);
    if (result) return result;
    result = flr_output_write(output, "abc", 3, error);
    if (!result) result = flr_output_print(output, error, "%0700d", 1);
    if (result) {
        flr_output_abandon(output);
        return result;
    }
    result = flr_output_commit(output, error);
    if (result) return result;
    flr_blob blob;
    result = flr_file_read_all(env, path, 1000, &blob, error);
    if (result) return result;
    assert_int_equal(blob.size, 703);
    flr_blob_free(&blob);
    return FLR_OK;
}

static bool ignore_name(void *context, const char *name)
{
    (void)context, (void)name;
    return true;
}

static flr_result folders(void *context, flr_error *error)
{
    char inner[600];
    snprintf(inner, sizeof inner, "%s/x/y", (const char *)context);
    flr_result result = flr_path_make_folder(env, inner, error);
    if (!result) result = flr_path_list(env, context, ignore_name, NULL, error);
    return result;
}

static flr_result loopback(void *context, flr_error *error)
{
    (void)context;
    flr_address address;
    flr_address_parse("127.0.0.1:0", 0, &address, NULL);
    flr_socket *listener = NULL, *udp = NULL;
    flr_result result = flr_tcp_listen(env, address, &listener, error);
    if (!result) result = flr_udp_open(env, address, &udp, error);
    if (!result) {
        flr_wait waits[40];
        for (int i = 0; i < 40; i++) waits[i] = (flr_wait){udp, FLR_WAIT_WRITE, 0};
        result = flr_env_wait(env, waits, 40, flr_clock_ns(env) + 1000000000, error);
    }
    flr_socket_close(udp);
    flr_socket_close(listener);
    return result;
}

static void real_env(void **state)
{
    (void)state;
    env = flr_env_real();
    char *folder = flr_test_folder();
    snprintf(path, sizeof path, "%s/a", folder);
    assert_ge(flr_fail_alloc_each(write_and_read, NULL), 8);
    assert_ge(flr_fail_alloc_each(folders, folder), 3);
    assert_ge(flr_fail_alloc_each(loopback, NULL), 3);
    flr_test_folder_remove(folder);
}

/* ---- the simulated env ---- */

static flr_result use_node(flr_env *node, flr_error *error)
{
    env = node;
    flr_result result = folders("/", error);
    if (!result) result = write_and_read(NULL, error);
    if (!result) result = loopback(NULL, error);
    flr_socket *socket;
    if (!result) result = flr_udp_open(node, (flr_address){4, {0}, 5}, &socket, error);
    if (result) return result;
    result = flr_udp_send(socket, (flr_address){4, {127, 0, 0, 1}, 5}, "x", 1, error);
    char byte;
    size_t got;
    if (!result) result = flr_udp_receive(socket, NULL, &byte, 1, &got, error);
    flr_socket_close(socket);
    if (!result) flr_sim_crash(node);
    return result;
}

static flr_result simulate(void *context, flr_error *error)
{
    (void)context;
    flr_sim_def def = flr_default_sim_def();
    flr_sim *sim = flr_sim_create(&def);
    if (!sim) return flr_fail(error, FLR_NO_MEMORY, "no simulation");
    flr_env *first = flr_sim_node(sim, (flr_address){4, {10, 0, 0, 1}, 0});
    flr_env *second = first ? flr_sim_node(sim, (flr_address){4, {10, 0, 0, 2}, 0}) : NULL;
    flr_result result =
        second ? use_node(second, error) : flr_fail(error, FLR_NO_MEMORY, "no node");
    flr_sim_destroy(sim);
    return result;
}

static void simulated_env(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/a");
    assert_ge(flr_fail_alloc_each(simulate, NULL), 40);
}

/* ---- the small ones ---- */

static flr_result small_ones(void *context, flr_error *error)
{
    (void)context;
    flr_log_def def = flr_default_log_def();
    flr_log *log = flr_log_create(&def);
    flr_ring *ring = flr_ring_create(8, 8);
    flr_latest *latest = flr_latest_create(8);
    bool all = log && ring && latest;
    flr_log_destroy(log);
    flr_ring_destroy(ring);
    flr_latest_destroy(latest);
    return all ? FLR_OK : flr_fail(error, FLR_NO_MEMORY, "not all");
}

static void objects(void **state)
{
    (void)state;
    assert_int_equal(flr_fail_alloc_each(small_ones, NULL), 5);
}

/* the helper itself: it must notice a leak-free failure, and count */
static flr_result two_blocks(void *context, flr_error *error)
{
    (void)context;
    void *volatile a = strdup("x"), *volatile b = realloc(NULL, 10); // or they are optimised away
    flr_result result = a && b ? FLR_OK : flr_fail(error, FLR_NO_MEMORY, "no memory");
    free(a);
    free(b);
    return result;
}

static void counts_and_fails_where_told(void **state)
{
    (void)state;
    assert_int_equal(flr_fail_alloc_each(two_blocks, NULL), 2);
    int64_t live = flr_fail_alloc_live();
    flr_fail_alloc_at(2);
    void *volatile first = malloc(1), *volatile second = calloc(1, 1), *volatile third = malloc(1);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_int_equal(flr_fail_alloc_asked(), 3);
    assert_int_equal(flr_fail_alloc_failed(), 1);
    assert_int_equal(flr_fail_alloc_live(), live + 2);
    free(first);
    free(third);
    flr_fail_alloc_from(1);
    void *volatile none = aligned_alloc(64, 64);
    assert_null(none);
    none = malloc(1);
    assert_null(none);
    flr_fail_alloc_from(0);
    assert_int_equal(flr_fail_alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_fails_where_told),
        cmocka_unit_test(real_env),
        cmocka_unit_test(simulated_env),
        cmocka_unit_test(objects),
    };
    return cmocka_run_group_tests_name("base_alloc", tests, NULL, NULL);
}
