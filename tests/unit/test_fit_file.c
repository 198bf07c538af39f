/* fits as files: the same bytes come back, damage is found, the cache is used */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "feeler/sim.h"
#include "fit/fit_file.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"

static flr_sim *sim;
static flr_env *env;
static flr_test_shape shape;

static int set_up(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    sim = flr_sim_create(&def);
    env = flr_sim_node(sim, address);
    memset(&shape, 0, sizeof shape);
    flr_test_shape_torus(&shape, 0.02, 0.006, 16, 9);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_test_shape_free(&shape);
    flr_sim_destroy(sim);
    return 0;
}

static flr_fit *build(void) { return flr_test_fit(flr_test_shape_mesh(&shape)); }

static void files_come_back(void **state)
{
    (void)state;
    flr_fit *fit = build(), *other;
    flr_error error;
    assert_ok(flr_fit_write(env, "/fit", fit, &error), error);
    assert_ok(flr_fit_read(env, "/fit", &other, &error), error);
    const flr_fit_info a = flr_fit_get_info(fit), b = flr_fit_get_info(other);
    assert_true(a.samples == b.samples && a.patches == b.patches && a.bytes == b.bytes);
    assert_true(a.spacing == b.spacing && a.area == b.area && a.size == b.size);
    assert_true(a.solid == b.solid && flr_hash_equal(a.mesh, b.mesh));
    assert_int_equal(fit->size, other->size);
    assert_memory_equal(fit->memory, other->memory, fit->size);
    const flr_vec3 p = flr_vec3_make(0.021, 0.002, 0.001);
    assert_true(flr_fit_point(fit, p, 1).distance == flr_fit_point(other, p, 1).distance);
    flr_fit_destroy(fit);
    flr_fit_destroy(other);
    assert_int_equal(flr_fit_read(env, "/none", &other, &error), FLR_NOT_FOUND);
}

/* Every byte changed, every length: refused in a sentence, or a fit like the first. */
static void damage_is_found(void **state)
{
    (void)state;
    flr_fit *fit = build(), *other;
    flr_error error;
    flr_blob blob;
    assert_ok(flr_fit_write(env, "/fit", fit, &error), error);
    assert_ok(flr_file_read_all(env, "/fit", 1 << 24, &blob, &error), error);
    for (size_t i = 0; i < blob.size; i += i < sizeof(flr_fit_header) ? 1 : 61) {
        blob.bytes[i] ^= 0x10;
        assert_int_equal(flr_fit_parse(blob.bytes, blob.size, &other, &error), FLR_BAD_INPUT);
        assert_true(strlen(error.message) > 5);
        blob.bytes[i] ^= 0x10;
        assert_int_equal(flr_fit_parse(blob.bytes, i, &other, &error), FLR_BAD_INPUT);
    }
    assert_ok(flr_fit_parse(blob.bytes, blob.size, &other, &error), error);
    flr_fit_destroy(other);
    flr_blob_free(&blob);
    flr_fit_destroy(fit);
}

/* Makes the hashes right, as a forger would. */
static void reseal(flr_blob *blob)
{
    flr_fit_header h;
    memcpy(&h, blob->bytes, sizeof h);
    h.content = flr_hash_bytes(blob->bytes + sizeof h, blob->size - sizeof h);
    h.self = flr_hash_bytes(&h, offsetof(flr_fit_header, self));
    memcpy(blob->bytes, &h, sizeof h);
}

static void forgeries_do_no_harm(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("forgeries do no harm");
    flr_fit *fit = build(), *other;
    flr_error error;
    flr_blob blob;
    unsigned accepted = 0, refused = 0;
    assert_ok(flr_fit_write(env, "/fit", fit, &error), error);
    assert_ok(flr_file_read_all(env, "/fit", 1 << 24, &blob, &error), error);
    for (int i = 0; i < 3000; i++) {
        const size_t at = 4 * flr_test_random_below(&random, (uint32_t)(blob.size / 4));
        uint32_t old, new = (uint32_t)flr_test_random_u64(&random);
        memcpy(&old, blob.bytes + at, 4);
        if (i % 2) new = old + (i % 4 == 1 ? 1 : ~0u);
        memcpy(blob.bytes + at, &new, 4);
        reseal(&blob);
        if (flr_fit_parse(blob.bytes, blob.size, &other, &error) == FLR_OK) {
            flr_fit_pair *pair;
            flr_fit_result r;
            flr_fit_contact contacts[8];
            flr_fit_params params = {.reach = 0.001, .max_distance = 1, .budget = 20000};
            flr_pose T = flr_pose_identity();
            T.p.x = 0.01;
            assert_ok(flr_fit_pair_create(fit, other, &pair, &error), error);
            flr_fit_pair_query(pair, T, &params, contacts, 8, &r);
            flr_fit_pair_destroy(pair);
            flr_fit_inside(other, T.p);
            flr_fit_destroy(other);
            accepted++;
        } else {
            refused++;
        }
        memcpy(blob.bytes + at, &old, 4);
    }
    assert_true(accepted > 100 && refused > 100);
    flr_blob_free(&blob);
    flr_fit_destroy(fit);
}

/* Bounds so wide that lengths overflow: rays then have infinite slack, and still meet no box that is not used. */
static void bounds_may_be_absurd(void **state)
{
    (void)state;
    flr_fit *fit = build(), *other;
    flr_error error;
    flr_blob blob;
    flr_fit_header h;
    assert_ok(flr_fit_write(env, "/fit", fit, &error), error);
    assert_ok(flr_file_read_all(env, "/fit", 1 << 24, &blob, &error), error);
    memcpy(&h, blob.bytes, sizeof h);
    h.bounds.low.x = -1e300, h.bounds.high.z = 1e300;
    memcpy(blob.bytes, &h, sizeof h);
    reseal(&blob);
    if (flr_fit_parse(blob.bytes, blob.size, &other, &error) == FLR_OK) {
        for (int i = 0; i < 3; i++)
            flr_fit_inside(other, flr_vec3_make(i == 1 ? -1e200 : 0, 0, i == 2 ? 1e200 : 0));
        flr_fit_destroy(other);
    }
    flr_blob_free(&blob);
    flr_fit_destroy(fit);
}

static void the_cache_is_used(void **state)
{
    (void)state;
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_cache cache = {.folder = "/cache"};
    flr_fit_report report;
    flr_fit *fit, *again;
    flr_error error;
    assert_ok(flr_fit_open(env, &cache, mesh, NULL, &fit, &report, &error), error);
    assert_true(!report.found && report.stored && !report.broken[0] && !report.not_stored[0]);
    assert_ok(flr_fit_open(env, &cache, mesh, NULL, &again, &report, &error), error);
    assert_true(report.found && !report.stored);
    assert_memory_equal(fit->memory, again->memory, fit->size);
    flr_fit_destroy(again);
    /* another spacing is another file */
    flr_fit_def def = flr_default_fit_def();
    def.spacing = 0.001;
    assert_ok(flr_fit_open(env, &cache, mesh, &def, &again, &report, &error), error);
    assert_true(!report.found && flr_fit_get_info(again).spacing == 0.001);
    flr_fit_destroy(again);
    /* a damaged one is built again */
    flr_cache_entry *entries;
    size_t count;
    assert_ok(flr_cache_list(env, cache.folder, &entries, &count, &error), error);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        char path[200];
        flr_output *output;
        snprintf(path, sizeof path, "/cache/%s", entries[i].name);
        assert_ok(flr_output_begin(env, path, &output, &error), error);
        assert_ok(flr_output_write(output, "rubbish", 7, &error), error);
        assert_ok(flr_output_commit(output, &error), error);
    }
    flr_cache_list_free(entries);
    assert_ok(flr_fit_open(env, &cache, mesh, NULL, &again, &report, &error), error);
    assert_true(!report.found && report.stored && strstr(report.broken, "not a fit"));
    flr_fit_destroy(again);
    cache.folder = NULL;
    assert_ok(flr_fit_open(env, &cache, mesh, NULL, &again, &report, &error), error);
    assert_true(!report.found && !report.stored);
    flr_fit_destroy(again);
    flr_fit_destroy(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forgeries_do_no_harm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounds_may_be_absurd, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cache_is_used, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("fit file", tests, NULL, NULL);
}
