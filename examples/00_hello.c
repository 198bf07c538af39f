/* 00 hello: lowers one part onto another and prints the force; docs/hello.md explains it. */
#include <feeler/feeler.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *files[] = {argc > 1 ? argv[1] : "socket.stl", argc > 2 ? argv[2] : "ball.stl"};
    flr_part *parts[2] = {NULL, NULL};
    flr_world *world = NULL;
    flr_error error;
    flr_pose hand = flr_pose_make(flr_vec3_make(0, 0, 0.02), flr_quat_identity()); /* metres */
    if (flr_part_open(flr_env_real(), files[0], NULL, &parts[0], &error) == FLR_OK &&
        flr_part_open(flr_env_real(), files[1], NULL, &parts[1], &error) == FLR_OK) {
        flr_world_part placed[2] = {
            flr_part_in_world(parts[0], FLR_PART_STATIC, flr_pose_identity()),
            flr_part_in_world(parts[1], FLR_PART_MOVABLE, hand)};
        flr_world_def def = flr_default_world_def();
        def.parts = placed, def.part_count = 2;
        if (flr_world_create(&def, &world, &error) == FLR_OK) flr_world_grab(world, 0, 1);
    }
    const int failed = !world && fprintf(stderr, "%s\n", error.message);
    for (int ms = 0; world && ms <= 2000; ms++, hand.p.z -= 1e-5) { /* down at 10 mm/s */
        flr_world_step(world, &(flr_world_input){.T_world_hand = hand, .fresh = true}, NULL);
        double force = flr_vec3_length(flr_world_wrench(world, 0).force);
        if (ms % 250 == 0) printf("%4d ms: the hand feels %.2f N\n", ms, force);
    }
    flr_world_destroy(world);
    for (int i = 0; i < 2; i++) flr_part_destroy(parts[i]);
    return failed;
}
