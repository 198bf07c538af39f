/* what a client may say to a controller: whatever comes, each command is answered at most once and nothing breaks
 *
 * The input is a stream of records: a u16 with the size of a frame without its first four bytes (those are set to what they
 * should be), then the frame. Sessions begin with a hello that is right, so that the rest is reached. No socket, no thread, a
 * simulated machine. */
#include <stdlib.h>
#include <string.h>

#include "feeler/sim.h"
#include "protocol/codec.h"
#include "server/hub.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static flr_sim *sim;
static flr_env *env;
static flr_engine *engine;
static flr_hub *hub;
static flr_access access_rules;
static uint8_t *out;
static size_t out_size;

static void add_box(const char *name, flr_part_kind kind, double height)
{
    flr_vec3 corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] =
            flr_vec3_make(i & 1 ? 0.01 : -0.01, i & 2 ? 0.01 : -0.01, i & 4 ? 0.01 : -0.01);
    static const flr_triangle triangles[12] = {
        {{0, 2, 1}}, {{1, 2, 3}}, {{4, 5, 6}}, {{5, 7, 6}}, {{0, 1, 4}}, {{1, 5, 4}},
        {{2, 6, 3}}, {{3, 6, 7}}, {{0, 4, 2}}, {{2, 4, 6}}, {{1, 3, 5}}, {{3, 7, 5}},
    };
    flr_mesh_def mesh = flr_default_mesh_def();
    mesh.vertices = corners, mesh.vertex_count = 8;
    mesh.triangles = triangles, mesh.triangle_count = 12;
    flr_engine_add_def def = flr_default_engine_add_def();
    def.name = name, def.kind = kind, def.voxel = 2e-3;
    def.T_world_part.p.z = height;
    uint32_t job;
    if (flr_mesh_create(&mesh, &def.mesh, NULL) != FLR_OK ||
        flr_engine_add(engine, &def, NULL, &job, NULL) != FLR_OK)
        abort();
}

static void begin(void)
{
    flr_sim_def machine = flr_default_sim_def();
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    sim = flr_sim_create(&machine);
    env = flr_sim_node(sim, address);
    flr_engine_def def = flr_threadless_engine_def(env);
    def.paced = false;
    def.recordings = "/recordings";
    if (flr_engine_create(&def, &engine, NULL) != FLR_OK) abort();
    add_box("block", FLR_PART_MOVABLE, 0.05);
    add_box("plate", FLR_PART_STATIC, 0);
    flr_hub_def all = {.env = env,
                       .engine = engine,
                       .access = &access_rules,
                       .uploads = "/uploads",
                       .name = "fuzz",
                       .loop_rate = 1000,
                       .limits = flr_default_hub_limits(),
                       .levels = flr_default_levels_def()};
    all.limits.upload = 1 << 16;
    all.levels.threaded = false;
    if (flr_hub_create(&all, &hub, NULL) != FLR_OK) abort();
    out_size = flr_wire_max_frame(FLR_TO_CLIENT);
    out = malloc(out_size);
    if (!out) abort();
    for (int i = 0; i < 20; i++) {
        flr_hub_pump(hub, flr_clock_ns(env));
        flr_engine_run(engine, 2);
    }
}

/* what goes out must be what the table allows, in the direction it goes */
static void drain(flr_client_session *session)
{
    size_t size;
    for (int i = 0;
         i < 64 && flr_client_session_next(session, flr_clock_ns(env), out, out_size, &size); i++) {
        flr_protocol_head head;
        if (flr_protocol_read_head(out, size, &head, NULL) != FLR_OK) abort();
        const flr_wire_message *type = flr_wire_message_find(head.id);
        if (!type || !(type->direction & FLR_TO_CLIENT)) abort();
    }
}

/* commands that load, make or keep too much for a fuzzer are left to the tests */
static bool is_costly(uint16_t id)
{
    return id == FLR_MSG_LOAD || id == FLR_MSG_VOXELIZE || id == FLR_MSG_UPLOAD_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!hub) begin();
    flr_client_session *session = flr_client_session_open(hub, "fuzz", true, flr_clock_ns(env));
    flr_message hello = {.id = FLR_MSG_HELLO};
    hello.as.hello.abilities = UINT32_MAX;
    uint8_t first[512];
    size_t count;
    if (!session || flr_protocol_encode(&hello, FLR_PROTOCOL_MINOR, first, sizeof first, &count,
                                        NULL) != FLR_OK)
        abort();
    flr_client_session_receive(session, first, count, flr_clock_ns(env));
    drain(session);
    while (size >= 2 && !flr_client_session_ending(session)) {
        size_t length = (size_t)bytes[0] | (size_t)bytes[1] << 8;
        bytes += 2, size -= 2;
        if (length > size) length = size;
        uint8_t *frame = malloc(length + 4);
        if (!frame) abort();
        uint32_t said = (uint32_t)(length + 4);
        memcpy(frame, &said, sizeof said);
        memcpy(frame + 4, bytes, length);
        bytes += length, size -= length;
        uint16_t id = length >= 2 ? (uint16_t)(frame[4] | frame[5] << 8) : 0;
        if (!is_costly(id) && said <= flr_client_session_allows(session, frame, said))
            flr_client_session_receive(session, frame, said, flr_clock_ns(env));
        free(frame);
        drain(session);
    }
    flr_engine_run(engine, 1);
    flr_hub_pump(hub, flr_clock_ns(env));
    drain(session);
    flr_client_session_close(session);
    return 0;
}
