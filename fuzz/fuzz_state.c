/* the state of a world and what was done to it, as files of others say it: a recording's "start" and its journal entries, and the states of
 * feeler run --resume. What is taken can be stepped, and no part ends up nowhere.
 *
 * The input is a list of orders, a byte each, with values behind them:
 *
 *     0  change the state of a good world: place (2), in words of 4 bytes; new value (4)
 *     1  load it, and step
 *     2  a note: size of its text (1), of its data (1), both
 *     3  a hand comes: which (1), place (3), in centimetres */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/sim.h"
#include "feeler/voxels.h"
#include "feeler/world.h"
#include "fuzz/support/memory.h"
#include "sim/journal.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { FUZZ_STATE_PARTS = 3, HANDS = 2, FUZZ_STATE_STEPS = 3 };

static flr_world *world;
static flr_world_params usual;
static uint8_t *good, *state;
static size_t state_size;

static void make_parts(flr_env *env, flr_world_part parts[FUZZ_STATE_PARTS])
{
    static flr_vec3 corners[8];
    static const flr_triangle triangles[12] = {
        {{0, 2, 1}}, {{1, 2, 3}}, {{4, 5, 6}}, {{5, 7, 6}}, {{0, 1, 4}}, {{1, 5, 4}},
        {{2, 6, 3}}, {{3, 6, 7}}, {{0, 4, 2}}, {{2, 4, 6}}, {{1, 3, 5}}, {{3, 7, 5}},
    };
    for (int i = 0; i < 8; i++)
        corners[i] =
            flr_vec3_make(i & 1 ? 0.01 : -0.01, i & 2 ? 0.01 : -0.01, i & 4 ? 0.01 : -0.01);
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners, def.vertex_count = 8;
    def.triangles = triangles, def.triangle_count = 12;
    flr_voxelize_def how = flr_default_voxelize_def();
    how.voxel = 5e-3;
    how.threads = 1;
    flr_mesh *mesh;
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_contact_table *table;
    if (flr_mesh_create(&def, &mesh, NULL) != FLR_OK ||
        flr_voxelize(env, mesh, &how, &voxmap, &shell, NULL, NULL) != FLR_OK ||
        flr_contact_table_create(voxmap, &table, NULL) != FLR_OK)
        abort();
    for (int i = 0; i < FUZZ_STATE_PARTS; i++) {
        parts[i] = flr_default_world_part();
        parts[i].shape = flr_pairs_shape_make(shell, table);
        parts[i].kind = i == 0 ? FLR_PART_STATIC : i == 1 ? FLR_PART_MOVABLE : FLR_PART_FREE;
        if (flr_body_def_from_mesh(mesh, 8000, &parts[i].body, NULL) != FLR_OK) abort();
        parts[i].body.T_world_part.p.z = 0.03 * i;
    }
    flr_mesh_destroy(mesh);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    flr_sim_def machine = flr_default_sim_def();
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    flr_world_part parts[FUZZ_STATE_PARTS];
    flr_world_def def = flr_default_world_def();
    flr_sim *sim = flr_sim_create(&machine);
    make_parts(flr_sim_node(sim, address), parts);
    flr_sim_destroy(sim);
    def.parts = parts, def.part_count = FUZZ_STATE_PARTS, def.hand_count = HANDS;
    if (flr_world_create(&def, &world, NULL) != FLR_OK) abort();
    usual = *flr_world_get_params(world);
    flr_world_grab(world, 0, 1);
    state_size = flr_world_state_size(world);
    good = malloc(state_size);
    state = malloc(state_size);
    if (!good || !state) abort();
    flr_world_save(world, good);
    return 0;
}

static flr_world_input inputs[HANDS];

static void step(int times)
{
    flr_world_frame frame;
    for (int i = 0; i < times; i++) flr_world_step(world, inputs, &frame);
    for (uint32_t i = 0; i < FUZZ_STATE_PARTS; i++)
        if (!flr_body_is_valid(flr_world_body(world, i))) abort();
    for (uint32_t h = 0; h < HANDS; h++) {
        flr_wrench felt = flr_world_wrench(world, h);
        if (!flr_vec3_is_finite(felt.force) || !flr_vec3_is_finite(felt.torque)) abort();
    }
}

/* As feeler replay does it; a merged static scene is left out, which is a build of its own. */
static void apply(const char *text, const uint8_t *data, size_t size)
{
    flr_record_note note = {0, text, data, size};
    flr_journal_entry entry;
    flr_error error;
    flr_fuzz_memory_begin(strlen(text) + size, FLR_FUZZ_FIXED);
    flr_result result = flr_journal_read(&note, "fuzz", &entry, &error);
    flr_fuzz_memory_end();
    if (result != FLR_OK) {
        if (strncmp(error.message, "fuzz", 4) != 0) abort();
        return;
    }
    if (entry.kind == FLR_JOURNAL_STATIC_SCENE)
        for (size_t i = 0; i < entry.as.static_scene.parts.count; i++)
            flr_journal_part(&entry.as.static_scene.parts, i);
    flr_journal_do(&entry, world);
}

static size_t read_note(const uint8_t *bytes, size_t size)
{
    if (size < 2) return size;
    size_t length = bytes[0], more = bytes[1];
    if (length + more > size - 2) return size;
    char text[256];
    memcpy(text, bytes + 2, length);
    text[length] = 0;
    /* a copy of its own, so that the sanitizer sees a look beyond its end */
    uint8_t *data = malloc(more ? more : 1);
    if (!data) abort();
    memcpy(data, bytes + 2 + length, more);
    apply(text, data, more);
    free(data);
    return 2 + length + more;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int steps = 0;
    memcpy(state, good, state_size);
    if (!flr_world_load(world, good, state_size)) abort();
    flr_world_set_params(world, &usual);
    for (int h = 0; h < HANDS; h++)
        inputs[h] = (flr_world_input){.T_world_hand = flr_pose_identity(), .fresh = true};
    for (size_t at = 0; at < size && steps < FUZZ_STATE_STEPS;) {
        const uint8_t *from = bytes + at + 1;
        size_t left = size - at - 1, taken = 0;
        switch (bytes[at] % 4) {
        case 0:
            taken = 6;
            if (left < taken) break;
            memcpy(state + (size_t)(from[0] | from[1] << 8) * 4 % (state_size / 4 * 4), from + 2,
                   4);
            break;
        case 1:
            if (!flr_world_load(world, state, state_size)) memcpy(state, good, state_size);
            step(2), steps += 2;
            break;
        case 2:
            taken = read_note(from, left);
            step(1), steps++;
            break;
        case 3:
            taken = 4;
            if (left < taken) break;
            inputs[from[0] % HANDS].T_world_hand.p = flr_vec3_make(
                0.01 * (int8_t)from[1], 0.01 * (int8_t)from[2], 0.01 * (int8_t)from[3]);
            step(1), steps += 1;
            break;
        }
        at += 1 + (taken < left ? taken : left);
    }
    return 0;
}
