/* a table over a voxel file's own directory: the same answers as the flat one, and no harm by files that are forged */
#include "contact/paging.h"

#include <math.h>
#include <string.h>

#include "feeler/pager.h"
#include "feeler/pairs.h"
#include "feeler/sim.h"
#include "feeler/voxel_file.h"
#include "support/fixtures.h"
#include "support/reseal.h"

static flr_error error;
static flr_test_part ring, tool; /* the ring: hyperchunks that are free, inside, and neither */
static flr_contact_table *whole;
static flr_sim *sim;
static flr_env *env;

static int set_up(void **state)
{
    (void)state;
    flr_test_part_make(&ring, FLR_TEST_TORUS, 20, 0.001, true);
    flr_test_part_make(&tool, FLR_TEST_BOX, 1.5, 0.001, true);
    assert_ok(flr_contact_table_create(ring.voxmap, &whole, &error), error);
    flr_sim_def def = flr_default_sim_def();
    flr_address address;
    sim = flr_sim_create(&def);
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    env = flr_sim_node(sim, address);
    assert_ok(flr_voxfile_write(env, "/ring.flrvox", ring.voxmap, NULL, &error), error);
    assert_ok(flr_voxfile_write(env, "/forged.flrvox", ring.voxmap, NULL, &error), error);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_contact_table_destroy(whole);
    flr_test_part_free(&ring);
    flr_test_part_free(&tool);
    flr_sim_destroy(sim);
    return 0;
}

static flr_result open_file(const char *path, bool features, flr_pager **pager)
{
    flr_pager_def def = flr_default_pager_def();
    def.env = env, def.path = path, def.budget = 64 << 20, def.features = features;
    return flr_pager_open(&def, pager, &error);
}

/* Reads as if there were a part whose steps look at everything. */
static void read_all(flr_pager *pager)
{
    flr_paging *paging = flr_pager_table(pager)->paging;
    flr_paging_view *view = flr_latest_begin(paging->view);
    flr_paging_user user;
    flr_paging_join(paging, &user);
    view->world = user.number;
    view->count = 1;
    view->parts[0] =
        (flr_paging_part){.shell = tool.shell, .T_voxmap_shell = flr_pose_identity(), .reach = 2};
    flr_latest_publish(paging->view);
    flr_pager_service(pager, 0);
    flr_paging_leave(paging, &user);
}

/* ---- the same answers ---- */

static void lookups_are_those_of_the_flat_table(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("paging_lookups");
    flr_pager *pager;
    assert_ok(open_file("/ring.flrvox", true, &pager), error);
    const flr_contact_table *paged = flr_pager_table(pager);
    read_all(pager);
    unsigned uniform[2] = {0, 0}, stored = 0;
    const size_t cells = (size_t)flr_grid_hyper_count(&paged->voxmap->header->grid);
    for (size_t i = 0; i < cells; i++) {
        assert_int_equal(paged->paging->lacks[i], 0);
        uint32_t hyper = paged->fields[0].hypers[i];
        stored += !(hyper & FLR_UNIFORM);
        if (hyper & FLR_UNIFORM) uniform[(hyper & 255) == FLR_MARK_INTERIOR]++;
    }
    assert_true(stored);
    assert_true(uniform[0]);
    assert_true(uniform[1]);
    for (int i = 0; i < 60000; i++) {
        const flr_flat_field *a = &whole->fields[i % 3], *b = &paged->fields[i % 3];
        int32_t at[3];
        for (int axis = 0; axis < 3; axis++) {
            at[axis] = (int32_t)flr_test_random_below(&random, (uint32_t)a->size[axis] + 8) - 4;
            /* half of them where chunks and hyperchunks meet */
            if (i % 2)
                at[axis] = ((at[axis] + 4) & ~63) - (int32_t)flr_test_random_below(&random, 3);
        }
        flr_vec3 v = flr_vec3_make(at[0] + 0.5, at[1] + 0.5, at[2] + 0.5);
        assert_int_equal(flr_table_mark(a, v), flr_table_mark(b, v));
        assert_eq(flr_table_stencil(a, at[0], at[1], at[2]),
                  flr_table_stencil(b, at[0], at[1], at[2]));
    }
    flr_pager_close(pager);
}

/* what the directory tells of places is so, whatever has been read */
static void places_are_known(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("paging_places");
    flr_pager *pager;
    assert_ok(open_file("/ring.flrvox", false, &pager), error);
    const flr_box3 box = flr_test_shape_mesh(&ring.shape)->bounds;
    unsigned seen[3] = {0, 0, 0};
    for (int i = 0; i < 20000; i++) {
        if (i == 10000) read_all(pager);
        flr_vec3 size = flr_box3_size(box), at = box.low;
        at.x += size.x * flr_test_random_range(&random, -0.2, 1.2);
        at.y += size.y * flr_test_random_range(&random, -0.2, 1.2);
        at.z += size.z * flr_test_random_range(&random, -0.2, 1.2);
        flr_pager_place place = flr_pager_look(pager, at);
        unsigned mark = flr_voxmap_mark(ring.voxmap, FLR_FIELD_SURFACE, at);
        seen[place]++;
        if (place == FLR_PAGER_INSIDE) assert_int_equal(mark, FLR_MARK_INTERIOR);
        if (place == FLR_PAGER_FREE)
            assert_true(mark != FLR_MARK_INTERIOR && mark != FLR_MARK_SURFACE);
    }
    assert_gt(seen[0], 100);
    assert_gt(seen[1], 100);
    assert_gt(seen[2], 100);
    assert_int_equal(flr_pager_look(pager, flr_vec3_make(NAN, 0, 0)), FLR_PAGER_FREE);
    assert_int_equal(flr_pager_look(pager, flr_vec3_make(1e30, 0, -1e30)), FLR_PAGER_FREE);
    flr_pager_close(pager);
}

/* near the surface of the ring, so that most of them touch; also of tools that reach beyond the grid */
static void queries_are_those_of_the_flat_table(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("paging_queries");
    flr_pager *pager;
    assert_ok(open_file("/ring.flrvox", false, &pager), error);
    read_all(pager);
    flr_contact_pair *pair;
    flr_contact_pair_def def = flr_default_contact_pair_def();
    assert_ok(flr_contact_pair_create(&def, &pair, &error), error);
    const flr_contact_params params = flr_default_contact_params();
    unsigned touching = 0;
    for (int i = 0; i < 1500; i++) {
        flr_pose pose = flr_test_random_pose(&random, 1);
        double turn = 6.2831853 * flr_test_random_range(&random, 0, 1),
               about = 6.2831853 * flr_test_random_range(&random, 0, 1),
               out = 0.24 + 0.095 * cos(about);
        pose.p = flr_vec3_make(out * cos(turn), out * sin(turn), 0.095 * sin(about));
        flr_contact_result flat, paged;
        flr_contact_pair_aim(pair, tool.shell, whole);
        flr_contact_query(pair, pose, flr_pose_identity(), &params, &flat);
        flr_contact_pair_aim(pair, tool.shell, flr_pager_table(pager));
        flr_contact_query(pair, pose, flr_pose_identity(), &params, &paged);
        assert_int_equal(flat.contacts, paged.contacts);
        assert_int_equal(flat.penetrations, paged.penetrations);
        assert_int_equal(flat.near, paged.near);
        assert_int_equal(flat.points_tested, paged.points_tested);
        assert_memory_equal(&flat.wrench, &paged.wrench, sizeof flat.wrench);
        touching += flat.contacts > 0;
    }
    assert_gt(touching, 300);
    flr_contact_pair_destroy(pair);
    flr_pager_close(pager);
}

static void the_box_is_that_of_the_flat_table(void **state)
{
    (void)state;
    flr_pager *pager;
    assert_ok(open_file("/ring.flrvox", false, &pager), error);
    flr_pairs_shape flat = flr_pairs_shape_make(NULL, whole),
                    paged = flr_pairs_shape_make(NULL, flr_pager_table(pager));
    assert_memory_equal(&flat.box, &paged.box, sizeof flat.box);
    /* the table has nothing of its own, and of the file only what the surface needs is read */
    assert_lt(flr_contact_table_bytes(flr_pager_table(pager)), 4096);
    flr_pager *features;
    assert_ok(open_file("/ring.flrvox", true, &features), error);
    flr_pager_stats a = flr_pager_get_stats(pager), b = flr_pager_get_stats(features);
    const uint64_t slot = FLR_PAGER_BLOCK + 100;
    assert_lt(a.bytes - a.slots * slot, b.bytes - b.slots * slot);
    flr_pager_close(features);
    flr_pager_close(pager);
}

/* ---- forged files ---- */

typedef struct forged {
    flr_blob blob;
    flr_voxmap_header *h;
} forged;

static forged load_ring(void)
{
    forged f;
    assert_ok(flr_file_read_all(env, "/ring.flrvox", 1 << 30, &f.blob, &error), error);
    uint8_t *bytes = (uint8_t *)(uintptr_t)f.blob.bytes;
    f.h = (flr_voxmap_header *)(bytes + ((flr_voxfile_header *)bytes)->sections[0].offset);
    return f;
}

static uint32_t *entries_at(const forged *f, uint64_t offset)
{
    return (uint32_t *)((uint8_t *)f->h + offset);
}

/* Puts the checksums right and opens it. */
static flr_result open_forged(forged *f, flr_pager **pager)
{
    flr_file *file;
    flr_test_reseal((uint8_t *)(uintptr_t)f->blob.bytes, f->blob.size);
    assert_ok(flr_file_open(env, "/forged.flrvox", FLR_FILE_UPDATE, &file, &error), error);
    assert_ok(flr_file_write(file, 0, f->blob.bytes, f->blob.size, &error), error);
    flr_file_close(file);
    flr_result result = open_file("/forged.flrvox", false, pager);
    flr_blob_free(&f->blob);
    return result;
}

/* entries are changed in place: what two have in common would be changed twice */
static void entries_that_are_shared_are_refused(void **state)
{
    (void)state;
    flr_pager *pager;
    /* as it is */
    forged f = load_ring();
    assert_ok(open_forged(&f, &pager), error);
    flr_pager_close(pager);
    /* one hyperchunk at two places */
    f = load_ring();
    uint32_t *nodes = entries_at(&f, f.h->fields[0].nodes), *first = NULL;
    for (size_t i = 0; i < f.h->fields[0].node_count * 512; i++) {
        if (nodes[i] & FLR_UNIFORM) continue;
        if (first && nodes[i] != *first) {
            nodes[i] = *first;
            break;
        }
        first = &nodes[i];
    }
    assert_int_equal(open_forged(&f, &pager), FLR_BAD_INPUT);
    /* one at none */
    f = load_ring();
    nodes = entries_at(&f, f.h->fields[0].nodes);
    while (*nodes & FLR_UNIFORM) nodes++;
    *nodes = FLR_UNIFORM | FLR_MARK_FREE;
    assert_int_equal(open_forged(&f, &pager), FLR_BAD_INPUT);
    /* hyperchunks over the directory of the chunk distances: what lies there is right for both */
    f = load_ring();
    uint32_t *hypers = entries_at(&f, f.h->fields[0].hypers);
    assert_ge(f.h->chunks.node_count, 1);
    f.h->chunks.nodes = f.h->fields[0].hypers;
    for (size_t i = 0; i < f.h->chunks.node_count * 512; i++)
        if (!(hypers[i] & FLR_UNIFORM) || (hypers[i] & 255) > 15) hypers[i] = FLR_UNIFORM;
    assert_int_equal(open_forged(&f, &pager), FLR_BAD_INPUT);
}

/* any numbers in header and directory: refused, or what is looked at is in the block */
static void forged_directories_lead_nowhere(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("paging_forged");
    unsigned accepted = 0;
    for (int i = 0; i < 60; i++) {
        static const uint32_t numbers[] = {0, 1, 4096, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
        forged f = load_ring();
        const uint64_t ranges[][2] = {{0, sizeof *f.h},
                                      {f.h->fields[0].nodes, f.h->fields[0].node_count * 2048},
                                      {f.h->fields[0].hypers, f.h->fields[0].hyper_count * 2048},
                                      {f.h->chunks.nodes, f.h->chunks.node_count * 2048}};
        const uint64_t *range = ranges[i % 4];
        uint32_t number = i % 3 ? numbers[flr_test_random_below(&random, 6)]
                                : FLR_UNIFORM | flr_test_random_below(&random, 16);
        entries_at(&f, range[0])[flr_test_random_below(&random, (uint32_t)(range[1] / 4))] = number;
        flr_pager *pager;
        if (open_forged(&f, &pager) != FLR_OK) continue;
        accepted++;
        read_all(pager);
        const flr_flat_field *field = &flr_pager_table(pager)->fields[0];
        for (int k = 0; k < 2000; k++) {
            double at[3];
            for (int axis = 0; axis < 3; axis++)
                at[axis] = flr_test_random_range(&random, 0, 1) * field->size[axis];
            flr_vec3 v = flr_vec3_make(at[0], at[1], at[2]);
            assert_lt(flr_table_mark(field, v), 256);
            assert_lt(flr_table_by_chunks(flr_pager_voxmap(pager), v, 0), 1e9);
        }
        flr_pager_close(pager);
    }
    assert_gt(accepted, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups_are_those_of_the_flat_table),
        cmocka_unit_test(places_are_known),
        cmocka_unit_test(queries_are_those_of_the_flat_table),
        cmocka_unit_test(the_box_is_that_of_the_flat_table),
        cmocka_unit_test(entries_that_are_shared_are_refused),
        cmocka_unit_test(forged_directories_lead_nowhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
