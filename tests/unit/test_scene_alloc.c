/* scenes and pose files when memory is short */
#include "support/fail_alloc.h"

#include "scene/pose_file.h"
#include "scene/scene.h"

static const char text[] =
    "{ \"feeler\": 1, \"name\": \"n\", \"unit\": \"mm\", \"parts\": [\n"
    "  { \"name\": \"a\", \"file\": \"a.stl\", \"moving\": true, \"voxel\": \"0.35mm\" },\n"
    "  { \"name\": \"b\", \"file\": \"b.stl\", \"pose\": { \"position\": [1, 2, 3] } } ],\n"
    "  \"paths\": [ { \"name\": \"p\", \"part\": \"a\", \"poses\": \"p.txt\" } ] }";

static flr_result parse(void *context, flr_error *error)
{
    (void)context;
    flr_scene *scene;
    flr_result result = flr_scene_parse("dir/s.json", text, sizeof text - 1, &scene, error);
    if (result != FLR_OK) return result;
    char *file = flr_scene_file(scene, "a.stl");
    result = file ? FLR_OK : flr_fail(error, FLR_NO_MEMORY, "no memory for a path");
    free(file);
    flr_scene_destroy(scene);
    return result;
}

static flr_result parse_poses(void *context, flr_error *error)
{
    flr_pose_list list;
    flr_result result = flr_pose_list_parse("p.txt", context, strlen(context), 1, &list, error);
    if (result == FLR_OK) flr_pose_list_free(&list);
    return result;
}

static void scenes_do_without_memory(void **state)
{
    (void)state;
    assert_gt(flr_fail_alloc_each(parse, NULL), 4);
}

static void poses_do_without_memory(void **state)
{
    (void)state;
    enum { POSES = 300 };
    static char poses[POSES * 16 + 1];
    for (int i = 0; i < POSES; i++) memcpy(poses + i * 16, "0 1 2 3 1 0 0 0\n", 16);
    assert_ge(flr_fail_alloc_each(parse_poses, poses), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_do_without_memory),
        cmocka_unit_test(poses_do_without_memory),
    };
    return cmocka_run_group_tests_name("scene_alloc", tests, NULL, NULL);
}
