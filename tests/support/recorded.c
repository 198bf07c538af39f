#include "support/recorded.h"

#include <math.h>

#include "support/fixtures.h"

static flr_error error;

static void make_scene(flr_test_recorded *r)
{
    static char *const names[] = {"wall", "peg"};
    flr_scene_part parts[2] = {flr_default_scene_part(), flr_default_scene_part()};
    char path[1200];
    for (int i = 0; i < 2; i++) {
        flr_test_shape shape = {0};
        flr_test_shape_box(&shape, flr_vec3_make(0.01, 0.01, 0.01), 1 + (uint32_t)i);
        snprintf(path, sizeof path, "%s/%s.obj", r->folder, names[i]);
        assert_ok(flr_mesh_write(flr_env_real(), path, flr_test_shape_mesh(&shape), 1, &error),
                  error);
        flr_test_shape_free(&shape);
        parts[i].name = names[i];
        parts[i].file = i ? "peg.obj" : "wall.obj";
        parts[i].unit = 1;
        parts[i].moving = i;
    }
    flr_scene scene = flr_default_scene();
    scene.name = "two <cubes>";
    scene.voxel = 0.001;
    scene.parts = parts;
    scene.part_count = 2;
    snprintf(r->scene_path, sizeof r->scene_path, "%s/scene.json", r->folder);
    assert_ok(flr_scene_write(flr_env_real(), r->scene_path, &scene, &error), error);
    assert_ok(flr_scene_read(flr_env_real(), r->scene_path, &r->scene, &error), error);
    flr_parts_def def = {.env = flr_env_real(), .scene = r->scene};
    assert_ok(flr_part_list_read(&def, &r->stage.parts, &error), error);
    r->stage.voxel = 0.001;
}

void flr_test_recorded_make(flr_test_recorded *r, const flr_setup *setup, const flr_pose *poses,
                            const uint64_t *numbers, size_t count, double lower, uint32_t hands)
{
    *r = (flr_test_recorded){.folder = flr_test_folder()};
    make_scene(r);
    snprintf(r->path, sizeof r->path, "%s/rec.mcap", r->folder);
    flr_setup with = *setup;
    with.scene = r->scene_path;
    with.part = "peg";
    flr_texts texts = {0};
    assert_ok(flr_setup_write(&with, r->scene, &r->stage, &texts, &error), error);
    flr_recorder_def def = flr_default_recorder_def();
    def.path = r->path;
    def.hands = hands;
    def.parts = 1;
    def.ring = (uint32_t)count + 1;
    def.texts = (const char *const *)texts.list;
    flr_recorder *recorder;
    assert_ok(flr_recorder_create(flr_env_real(), &def, &recorder, &error), error);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = numbers ? numbers[i] : i;
        flr_record_frame frame = {.frame = number,
                                  .time_ns = (int64_t)number * 1000000,
                                  .compute_us = 10 + (double)i,
                                  .lower = lower,
                                  .upper = INFINITY,
                                  .hash = 1000 + number};
        flr_record_hand hand[2] = {{.T_world_hand = poses[i], .fresh = i % 2 == 0, .part = 1},
                                   {.T_world_hand = poses[i], .part = UINT32_MAX}};
        flr_record_part part = {.T_world_part = poses[i]};
        assert_true(flr_recorder_push(recorder, &frame, hand, &part, NULL));
    }
    assert_ok(flr_recorder_finish(recorder, &error), error);
    flr_texts_free(&texts);
}

void flr_test_recorded_free(flr_test_recorded *r)
{
    flr_part_list_free(&r->stage.parts);
    flr_scene_destroy(r->scene);
    flr_test_folder_remove(r->folder);
}
