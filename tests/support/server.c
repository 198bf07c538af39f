/* a controller in a thread */
#include "support/server.h"

#include "support/fixtures.h"

static bool stop_wanted(void *context)
{
    flr_test_server *server = context;
    return atomic_load(&server->stop);
}

static void *run(void *context)
{
    flr_test_server *server = context;
    flr_service_run(server->service, stop_wanted, server);
    return NULL;
}

static void add_part(flr_test_server *server, const char *name, flr_mesh *mesh, flr_part_kind kind,
                     double height)
{
    flr_engine_add_def def = flr_default_engine_add_def();
    flr_error error;
    uint32_t job;
    def.name = name, def.mesh = mesh, def.kind = kind, def.voxel = 1e-3, def.colour = 0x8090a0;
    def.T_world_part.p.z = height;
    assert_ok(flr_engine_add(flr_service_engine(server->service), &def, NULL, &job, &error), error);
}

static void begin(flr_test_server *server, void (*change)(flr_service_def *def),
                  const flr_share_def *share)
{
    *server = (flr_test_server){.folder = flr_test_folder()};
    snprintf(server->recordings, sizeof server->recordings, "%s/recordings", server->folder);
    snprintf(server->uploads, sizeof server->uploads, "%s/uploads", server->folder);
    flr_service_def def = flr_default_service_def();
    def.address.port = 0;
    def.engine.workers = 1;
    def.engine.threads = 1;
    def.engine.priority = 0;
    def.engine.lock_memory = false;
    def.engine.recordings = server->recordings;
    def.uploads = server->uploads;
    if (change) change(&def);
    flr_error error;
    assert_ok(flr_service_create(&def, &server->service, &error), error);
    server->port = flr_service_address(server->service).port;
    add_part(server, "plate", flr_test_engine_box((flr_vec3){0.1, 0.1, 0.02}), FLR_PART_STATIC, 0);
    add_part(server, "block", flr_test_engine_box((flr_vec3){0.02, 0.02, 0.02}), FLR_PART_MOVABLE,
             0.05);
    /* both are there before anybody comes */
    flr_engine *engine = flr_service_engine(server->service);
    int64_t end = flr_clock_ns(flr_env_real()) + INT64_C(600000000000);
    while (flr_engine_jobs(engine) > 0 && flr_clock_ns(flr_env_real()) < end) {
        flr_engine_service(engine);
        flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 1000000);
    }
    assert_int_equal(flr_engine_jobs(engine), 0);
    if (share) assert_ok(flr_service_set_share(server->service, share, &error), error);
    assert_ok(flr_engine_start(engine, &error), error);
    assert_int_equal(pthread_create(&server->thread, NULL, run, server), 0);
}

void flr_test_server_begin(flr_test_server *server, void (*change)(flr_service_def *def))
{
    begin(server, change, NULL);
}

void flr_test_server_begin_shared(flr_test_server *server, const flr_share_def *share)
{
    begin(server, NULL, share);
}

void flr_test_server_end(flr_test_server *server)
{
    atomic_store(&server->stop, true);
    flr_service_wake(server->service);
    pthread_join(server->thread, NULL);
    flr_service_destroy(server->service);
    flr_test_folder_remove(server->folder);
}

void flr_test_server_join(const flr_test_server *server, flr_test_ws *ws)
{
    assert_true(flr_test_ws_open(ws, server->port, NULL, NULL));
    flr_test_ws_hello(ws, FLR_WIRE_ROLE_VIEWER, UINT32_MAX & ~(uint32_t)FLR_WIRE_ABILITY_PACKED,
                      NULL);
}
