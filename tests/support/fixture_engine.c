/* an engine with a few parts */
#include "support/fixtures.h"

#include "sim/engine_internal.h"

flr_mesh *flr_test_engine_box(flr_vec3 size)
{
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, size, 2);
    const flr_mesh *from = flr_test_shape_mesh(&shape);
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = from->vertices;
    def.vertex_count = from->vertex_count;
    def.triangles = from->triangles;
    def.triangle_count = from->triangle_count;
    flr_mesh *mesh;
    flr_error error;
    if (flr_mesh_create(&def, &mesh, &error) != FLR_OK) fail_msg("%s", error.message);
    flr_test_shape_free(&shape);
    return mesh;
}

flr_part_id flr_test_engine_add(flr_engine *engine, const char *name, flr_vec3 size, flr_vec3 at,
                                flr_part_kind kind, double voxel)
{
    flr_engine_add_def def = flr_default_engine_add_def();
    flr_part_id part;
    uint32_t job;
    flr_error error;
    def.name = name;
    def.mesh = flr_test_engine_box(size);
    def.kind = kind;
    def.voxel = voxel;
    def.T_world_part = flr_pose_make(at, flr_quat_identity());
    if (flr_engine_add(engine, &def, &part, &job, &error) != FLR_OK) fail_msg("%s", error.message);
    return part;
}

void flr_test_engine_make(flr_test_engine *s, bool simulated, const char *recordings)
{
    flr_error error;
    memset(s, 0, sizeof *s);
    s->env = flr_env_real();
    if (simulated) {
        flr_sim_def sim = flr_default_sim_def();
        flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
        s->sim = flr_sim_create(&sim);
        s->env = flr_sim_node(s->sim, address);
    }
    flr_engine_def def = flr_threadless_engine_def(s->env);
    if (!simulated) def.workers = 2;
    def.recordings = recordings;
    if (flr_engine_create(&def, &s->engine, &error) != FLR_OK) fail_msg("%s", error.message);
    if (!simulated && flr_engine_start(s->engine, &error) != FLR_OK) fail_msg("%s", error.message);
    const flr_vec3 small = flr_vec3_make(0.02, 0.02, 0.02);
    s->plate = flr_test_engine_add(s->engine, "plate", flr_vec3_make(0.16, 0.08, 0.02),
                                   flr_vec3_make(0, 0, -0.01), FLR_PART_STATIC, 0.002);
    s->block = flr_test_engine_add(s->engine, "block", small, flr_vec3_make(0, 0, 0.03),
                                   FLR_PART_MOVABLE, 0.002);
    s->ball = flr_test_engine_add(s->engine, "ball", small, flr_vec3_make(0.05, 0, 0.03),
                                  FLR_PART_MOVABLE, 0.002);
    flr_test_engine_settle(s);
}

void flr_test_engine_free(flr_test_engine *s)
{
    flr_engine_destroy(s->engine);
    flr_sim_destroy(s->sim);
}

void flr_test_engine_pass(flr_test_engine *s, uint64_t frames)
{
    for (uint64_t i = 0; i < frames; i += 10) {
        uint64_t now = frames - i < 10 ? frames - i : 10;
        if (s->sim)
            flr_engine_run(s->engine, now);
        else
            flr_sleep_until(s->env, flr_clock_ns(s->env) + (int64_t)now * 1000000);
        flr_engine_service(s->engine);
    }
}

void flr_test_engine_settle(flr_test_engine *s)
{
    for (int i = 0, quiet = 0; i < 2000 && quiet < 3; i++) {
        flr_test_engine_pass(s, 10);
        quiet = flr_engine_jobs(s->engine) == 0 ? quiet + 1 : 0;
    }
    flr_test_engine_pass(s, 20);
}

void flr_test_engine_move(flr_test_engine *s, uint32_t hand, flr_vec3 to, uint32_t buttons,
                          uint64_t frames)
{
    flr_vec3 from = flr_engine_view(s->engine)->hands[hand].T_world_hand.p;
    for (uint64_t i = 10; i <= frames; i += 10) {
        flr_pose pose =
            flr_pose_make(flr_vec3_lerp(from, to, (double)i / (double)frames), flr_quat_identity());
        assert_int_equal(flr_engine_hand_input(s->engine, flr_hand(hand), pose, buttons, NULL),
                         FLR_OK);
        flr_test_engine_pass(s, 10);
    }
}

flr_engine_part_state flr_test_engine_part(flr_test_engine *s, flr_part_id part)
{
    const flr_engine_state *state = flr_engine_view(s->engine);
    for (uint32_t i = 0; i < state->part_count; i++)
        if (flr_same_part(state->parts[i].part, part)) return state->parts[i];
    fail_msg("part %u is not in the state", part.index);
    return state->parts[0];
}

/* ---- commands ---- */

flr_result flr_engine_grab_at(flr_engine *e, flr_hand_id hand, flr_part_id part,
                              flr_pose T_world_hand, flr_error *error)
{
    flr_message message = {.id = FLR_MSG_GRAB,
                           .as.grab = {.hand = hand.index,
                                       .part = part.index,
                                       .has_pose = true,
                                       .T_world_hand = T_world_hand}};
    flr_result result = flr_engine_check_id(e, part, error);
    return result == FLR_OK ? flr_engine_command(e, &message, error) : result;
}

flr_result flr_engine_reset(flr_engine *e, flr_error *error)
{
    return flr_engine_command(e, &(flr_message){.id = FLR_MSG_RESET}, error);
}

flr_result flr_engine_undo(flr_engine *e, uint32_t steps, flr_error *error)
{
    flr_message message = {.id = FLR_MSG_UNDO, .as.undo = {.steps = steps}};
    return flr_engine_command(e, &message, error);
}

flr_result flr_engine_pause(flr_engine *e, bool paused, flr_error *error)
{
    flr_message message = {.id = FLR_MSG_PAUSE, .as.pause = {.paused = paused}};
    return flr_engine_command(e, &message, error);
}

flr_result flr_engine_set_tool(flr_engine *e, flr_hand_id hand, flr_tool tool, flr_error *error)
{
    flr_message message = {.id = FLR_MSG_TOOL,
                           .as.tool = {.hand = hand.index, .tool = (uint8_t)tool}};
    return flr_engine_command(e, &message, error);
}
