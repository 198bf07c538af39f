/* two parts, a world with the exact engine, and a hand that goes exactly where it is told */
#include "support/tight_rig.h"

#include <math.h>
#include <time.h>

flr_test_tight flr_test_tight_begin(void)
{
    flr_test_tight rig = {.params = flr_default_world_params(), .dt = 0.001};
    rig.params.engine = FLR_ENGINE_EXACT;
    rig.params.exact.budget = 0;
    return rig;
}

void flr_test_tight_end(flr_test_tight *rig)
{
    flr_world_destroy(rig->world);
    for (uint32_t i = 0; i < rig->count; i++) {
        flr_gauge_part_destroy(rig->gauges[i]);
        flr_fit_destroy(rig->fits[i]);
        flr_mesh_destroy(rig->meshes[i]);
    }
    *rig = (flr_test_tight){0};
}

void flr_test_tight_add_mesh(flr_test_tight *rig, flr_mesh *mesh, flr_part_kind kind, flr_pose T)
{
    flr_error error;
    uint32_t i = rig->count++;
    assert_true(i < FLR_TEST_TIGHT_PARTS);
    rig->meshes[i] = mesh;
    flr_fit_def how = flr_default_fit_def();
    how.spacing = rig->spacing;
    how.threads = 1;
    assert_ok(flr_fit_build(mesh, &how, &rig->fits[i], &error), error);
    assert_ok(flr_gauge_part_create(mesh, &rig->gauges[i], &error), error);
    rig->parts[i] = flr_default_world_part();
    rig->parts[i].fit = rig->fits[i];
    rig->parts[i].kind = kind;
    if (kind != FLR_PART_STATIC)
        assert_ok(flr_body_def_from_mesh(mesh, 1000, &rig->parts[i].body, &error), error);
    rig->parts[i].body.T_world_part = T;
}

void flr_test_tight_add(flr_test_tight *rig, flr_kit *kit, flr_part_kind kind, flr_pose T)
{
    flr_error error;
    flr_mesh *mesh;
    assert_ok(flr_kit_finish(kit, &mesh, &error), error);
    flr_test_tight_add_mesh(rig, mesh, kind, T);
}

void flr_test_tight_make(flr_test_tight *rig, uint32_t held)
{
    flr_error error;
    flr_world_def def = flr_default_world_def();
    for (uint32_t i = 0; i < rig->count; i++)
        if (rig->parts[i].kind == FLR_PART_MOVABLE)
            rig->parts[i].body.mass = rig->mass > 0 ? rig->mass : flr_world_felt_mass(&rig->params);
    def.parts = rig->parts;
    def.part_count = rig->count;
    def.dt = rig->dt;
    def.params = rig->params;
    assert_ok(flr_world_create(&def, &rig->world, &error), error);
    rig->input = (flr_world_input){.T_world_hand = flr_pose_identity(), .fresh = true};
    if (held == FLR_NO_PART) return;
    flr_test_tight_step(rig, rig->parts[held].body.T_world_part);
    assert_true(flr_world_grab(rig->world, 0, held));
}

void flr_test_tight_step(flr_test_tight *rig, flr_pose T_world_hand)
{
    rig->input.T_world_hand = T_world_hand;
    flr_world_step(rig->world, &rig->input, &rig->frame);
}

bool flr_test_tight_meet(const flr_test_tight *rig, uint32_t a, uint32_t b)
{
    return flr_gauge_within(
               rig->gauges[a], rig->gauges[b], flr_world_body(rig->world, a)->T_world_part,
               flr_world_body(rig->world, b)->T_world_part, 0, 0, NULL) == FLR_ANSWER_YES;
}

double flr_test_tight_distance(const flr_test_tight *rig, uint32_t a, uint32_t b)
{
    flr_gauge_result r;
    flr_gauge_distance(rig->gauges[a], rig->gauges[b], flr_world_body(rig->world, a)->T_world_part,
                       flr_world_body(rig->world, b)->T_world_part, NULL, NULL, &r);
    return r.upper;
}

double flr_test_thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
