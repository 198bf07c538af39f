/* recorded.h: a scene of two cubes of 10 mm, a wall that stands and a peg that moves, and a
 * recording that claims the peg went where you say. */
#ifndef FLR_TEST_RECORDED_H
#define FLR_TEST_RECORDED_H

#include "sim/setup.h"
#include "support/test.h"

typedef struct flr_test_recorded {
    char *folder;
    char scene_path[1100], path[1100]; /* scene.json, rec.mcap */
    flr_scene *scene;
    flr_stage stage; /* wall, peg: parts only */
} flr_test_recorded;

/* One frame for each pose (metres); bounds are `lower` and infinite; frame numbers as given, NULL:
 * 0, 1, 2 …; `hands` in each frame. End with flr_test_recorded_free(). */
void flr_test_recorded_make(flr_test_recorded *recorded, const flr_setup *setup,
                            const flr_pose *poses, const uint64_t *numbers, size_t count,
                            double lower, uint32_t hands);
void flr_test_recorded_free(flr_test_recorded *recorded);

#endif
