/* the state of a run as a file: a head, the world, the loop, and a hash of all that */
#include "sim/run_state.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "flrstat\n"
enum { VERSION = 1, ORDER = 0x01020304, MAX_STATE_BYTES = 256 << 20 };

typedef struct head {
    char magic[8];
    uint32_t version, byte_order;
    flr_hash identity;
    uint64_t done, seen;
    int64_t first_ns;
    uint64_t world_size, loop_size, spare;
    double poses[2][7]; /* start, spare: p, q */
} head;

static void put_pose(double to[7], flr_pose T)
{
    const double values[7] = {T.p.x, T.p.y, T.p.z, T.q.w, T.q.x, T.q.y, T.q.z};
    memcpy(to, values, sizeof values);
}

static flr_pose get_pose(const double from[7])
{
    return flr_pose_make(flr_vec3_make(from[0], from[1], from[2]),
                         (flr_quat){.w = from[3], .x = from[4], .y = from[5], .z = from[6]});
}

void flr_run_state_free(flr_run_state *state)
{
    free(state->world);
    free(state->loop);
    state->world = state->loop = NULL;
}

flr_result flr_run_state_write(flr_env *env, const char *path, const flr_run_state *state,
                               flr_error *error)
{
    head h = {.magic = MAGIC,
              .version = VERSION,
              .byte_order = ORDER,
              .identity = state->identity,
              .done = state->done,
              .seen = state->seen,
              .first_ns = state->first_ns,
              .world_size = state->world_size,
              .loop_size = state->loop_size};
    put_pose(h.poses[0], state->T_start);
    put_pose(h.poses[1], flr_pose_identity());
    size_t size = sizeof h + state->world_size + state->loop_size;
    uint8_t *bytes = malloc(size + sizeof(flr_hash));
    if (!bytes) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the state of a run");
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, state->world, state->world_size);
    memcpy(bytes + sizeof h + state->world_size, state->loop, state->loop_size);
    flr_hash hash = flr_hash_bytes(bytes, size);
    memcpy(bytes + size, &hash, sizeof hash);
    flr_output *output;
    flr_result result = flr_output_begin_with(env, path, FLR_OPEN_PRIVATE, &output, error);
    if (result == FLR_OK)
        result = flr_output_end(output, flr_output_write(output, bytes, size + sizeof hash, error),
                                error);
    free(bytes);
    return result;
}

static flr_result wrong(const char *path, const char *what, flr_error *error)
{
    return flr_fail(error, FLR_BAD_INPUT, "%s: %s; begin the run anew, without --resume", path,
                    what);
}

/* Is it what was written? */
static flr_result check(const char *path, const flr_blob *blob, head *h, flr_error *error)
{
    flr_hash hash;
    if (blob->size < sizeof *h + sizeof hash || memcmp(blob->bytes, MAGIC, sizeof h->magic) != 0)
        return wrong(path, "not the state of a run", error);
    memcpy(h, blob->bytes, sizeof *h);
    if (h->version != VERSION || h->byte_order != ORDER)
        return wrong(path, "made by another version of feeler or on another kind of machine",
                     error);
    size_t size = blob->size - sizeof hash, room = size - sizeof *h;
    memcpy(&hash, blob->bytes + size, sizeof hash);
    if (h->world_size > room || h->loop_size != room - h->world_size ||
        !flr_hash_equal(hash, flr_hash_bytes(blob->bytes, size)))
        return wrong(path, "damaged", error);
    if (!flr_pose_is_valid(get_pose(h->poses[0])) || !flr_pose_is_valid(get_pose(h->poses[1])))
        return wrong(path, "damaged", error);
    return FLR_OK;
}

flr_result flr_run_state_read(flr_env *env, const char *path, flr_run_state *state,
                              flr_error *error)
{
    flr_blob blob;
    flr_result result = flr_file_read_all(env, path, MAX_STATE_BYTES, &blob, error);
    if (result != FLR_OK) return result;
    head h;
    result = check(path, &blob, &h, error);
    flr_run_state made = {.world = NULL};
    if (result == FLR_OK) {
        made = (flr_run_state){.identity = h.identity,
                               .done = h.done,
                               .seen = h.seen,
                               .first_ns = h.first_ns,
                               .T_start = get_pose(h.poses[0]),
                               .world = malloc((size_t)h.world_size + 1),
                               .loop = malloc((size_t)h.loop_size + 1),
                               .world_size = (size_t)h.world_size,
                               .loop_size = (size_t)h.loop_size};
        if (!made.world || !made.loop)
            result = flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to read it", path);
    }
    if (result == FLR_OK) {
        memcpy(made.world, blob.bytes + sizeof h, made.world_size);
        memcpy(made.loop, blob.bytes + sizeof h + made.world_size, made.loop_size);
        *state = made;
    } else {
        flr_run_state_free(&made);
    }
    flr_blob_free(&blob);
    return result;
}
