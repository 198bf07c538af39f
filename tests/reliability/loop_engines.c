/* loop_engines FRAMES PACED_FRAMES [ENGINE...]: the real-time loop of a whole controller makes no allocation, takes no lock and
 * makes no system call but its sleep.
 *
 * For each engine that a user can choose: a controller with its sockets, two viewers that read everything, a recording, and a
 * peer in a shared session that holds the same part. A device moves a hand that presses that part onto a plate. FRAMES run as
 * fast as they go, in the loop's own thread, then PACED_FRAMES by the clock. Exit 77: this machine cannot count.
 *
 * "paged" has a larger plate, and memory for a part of its voxels: they come from the disk and go again as the hand moves. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interposer.h"
#include "server/service.h"
#include "support/fixtures.h"
#include "support/server.h"

enum { VIEWERS = 2, RECORDED = 400000 };

typedef struct engine {
    const char *name;
    const char *parameter; /* NULL: none is changed */
    double value;
    bool point;
    uint64_t memory; /* for the marks of voxels; 0: all are in memory */
} engine;

static const engine engines[] = {
    {.name = "shell"},
    {.name = "smooth", .parameter = "model", .value = 1},
    {.name = "awareness", .parameter = "awareness", .value = 1},
    {.name = "spheres", .parameter = "engine", .value = 1},
    {.name = "point", .point = true},
    {.name = "exact", .parameter = "engine", .value = 2},
    {.name = "coherent", .parameter = "engine", .value = 3},
    {.name = "paged", .memory = 2 << 20},
};

static const char token[] = "a-token-of-24-characters";

/* ---- the device: it runs in the loop's thread, so it watches that ---- */

typedef struct hand {
    atomic_bool go, watch; /* it moves; what the thread does is counted */
    _Atomic uint64_t frames, wanted;
    atomic_bool done, cannot, blind;
    interposed counts;
    double lowest;        /* metres: where it goes down to */
    double reach;         /* metres: how far it goes along the plate */
    uint64_t step, cycle; /* frames: since it moves; of one way down and up */
    double most;          /* N: the largest force it was given */
} hand;

static void watch_thread(hand *h)
{
    if (atomic_load(&h->done) || !atomic_load(&h->watch)) return;
    uint64_t frames = atomic_fetch_add(&h->frames, 1);
    if (frames == 0) {
        if (!interposer_arm()) atomic_store(&h->cannot, true);
        if (!atomic_load(&h->cannot) && !interposer_works()) atomic_store(&h->blind, true);
        interposer_begin();
    }
    if (frames == atomic_load(&h->wanted) || atomic_load(&h->cannot)) {
        h->counts = interposer_end();
        atomic_store(&h->done, true);
    }
}

static flr_result hand_open(const void *parameters, void **state, flr_device_info *info,
                            flr_error *error)
{
    (void)error;
    info->force = 10;
    info->torque = 0.5;
    info->buttons = 1;
    info->dead_man = -1;
    info->workspace = flr_box3_empty();
    snprintf(info->name, sizeof info->name, "watched hand");
    *state = (void *)(uintptr_t)parameters;
    return FLR_OK;
}

static void hand_close(void *state) { (void)state; }

/* down onto the plate and along it, and up again */
static bool hand_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    hand *h = state;
    watch_thread(h);
    double phase = atomic_load(&h->go)
                       ? 6.283185307179586 * (double)(h->step++ % h->cycle) / (double)h->cycle
                       : 0;
    sample->T_base_grip = flr_pose_identity();
    sample->T_base_grip.p.z = 0.05 - (0.05 - h->lowest) * 0.5 * (1 - cos(phase));
    sample->T_base_grip.p.x = h->reach * sin(phase);
    sample->buttons = 0;
    sample->time_ns = now_ns;
    return true;
}

static bool hand_write(void *state, int64_t now_ns, const flr_wrench *wrench)
{
    (void)now_ns;
    hand *h = state;
    double force = flr_vec3_length(wrench->force);
    if (force > h->most) h->most = force;
    return true;
}

static void hand_stop(void *state) { (void)state; }

static const flr_device_driver driver = {.name = "watched",
                                         .summary = "a hand that watches the thread it runs in",
                                         .open = hand_open,
                                         .close = hand_close,
                                         .read = hand_read,
                                         .write = hand_write,
                                         .stop = hand_stop};

/* ---- a controller ---- */

typedef struct site {
    flr_service *service;
    pthread_t thread;
    atomic_bool stop;
    uint16_t port;
    char recordings[600], cache_folder[600];
    flr_cache cache;
    flr_device *device; /* NULL: none */
} site;

static bool stop_wanted(void *context) { return atomic_load(&((site *)context)->stop); }

static void *serve(void *context)
{
    flr_service_run(((site *)context)->service, stop_wanted, context);
    return NULL;
}

static void settle(flr_engine *e)
{
    for (int quiet = 0, i = 0; quiet < 20 && i < 60000; i++) {
        flr_engine_event event;
        flr_engine_service(e);
        while (flr_engine_next(e, &event))
            if (event.kind == FLR_ENGINE_EVENT_JOB && event.job.state == FLR_WIRE_JOB_ENDED)
                if (event.job.result != FLR_OK) fail_msg("%s", event.job.sentence);
        quiet = flr_engine_jobs(e) == 0 ? quiet + 1 : 0;
        flr_engine_run(e, 1);
        flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 1000000);
    }
    assert_int_equal(flr_engine_jobs(e), 0);
}

static void begin_site(site *s, const char *folder, const char *name, const engine *kind,
                       bool paced, hand *h, const flr_share_def *share)
{
    flr_error error;
    uint32_t job, device;
    memset(s, 0, sizeof *s);
    snprintf(s->recordings, sizeof s->recordings, "%s/%s", folder, name);
    snprintf(s->cache_folder, sizeof s->cache_folder, "%s/cache", folder);
    s->cache = (flr_cache){.folder = s->cache_folder};
    flr_service_def def = flr_default_service_def();
    def.address.port = 0;
    def.engine.workers = 1;
    def.engine.threads = 1;
    def.engine.priority = 0;
    def.engine.lock_memory = false;
    def.engine.paced = paced;
    def.engine.recordings = s->recordings;
    def.engine.cache = &s->cache;
    def.engine.memory = kind->memory;
    assert_ok(flr_service_create(&def, &s->service, &error), error);
    s->port = flr_service_address(s->service).port;
    flr_engine *e = flr_service_engine(s->service);
    if (h) {
        assert_ok(flr_device_open(&driver, h, &s->device, &error), error);
        assert_ok(flr_engine_add_device(e, s->device, FLR_WIRE_DEVICE_FORCE, "watched", "",
                                        flr_pose_identity(), 1, &device, &error),
                  error);
        assert_ok(flr_engine_select(e, flr_hand(0), device, &error), error);
    }
    char path[600];
    snprintf(path, sizeof path, "%s/%s.json", folder, kind->memory ? "large" : "small");
    assert_ok(flr_engine_load(e, path, &job, &error), error);
    settle(e);
    if (kind->parameter) assert_ok(flr_engine_set(e, kind->parameter, kind->value, &error), error);
    if (kind->point && h)
        assert_ok(flr_engine_set_tool(e, flr_hand(0), FLR_TOOL_POINT, &error), error);
    settle(e);
    assert_ok(flr_service_set_share(s->service, share, &error), error);
    assert_ok(flr_engine_start(e, &error), error);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void end_site(site *s)
{
    atomic_store(&s->stop, true);
    flr_service_wake(s->service);
    pthread_join(s->thread, NULL);
    flr_service_destroy(s->service);
    flr_device_close(s->device);
}

/* ---- viewers ---- */

typedef struct viewer {
    flr_test_ws ws;
    pthread_t thread;
    atomic_bool end;
    _Atomic uint64_t states, bytes;
    _Atomic uint32_t contacts, proxies, guests, held;
    _Atomic uint64_t read; /* bytes of voxels that came from the disk */
    atomic_bool recording, paused;
} viewer;

static void take_state(viewer *v, const flr_msg_state *m)
{
    atomic_fetch_add(&v->states, 1);
    if (m->contact_count > v->contacts) v->contacts = m->contact_count;
    for (uint32_t i = 0; i < m->proxies_count; i++)
        v->proxies += m->proxies[i].part != FLR_ENGINE_NONE;
    v->held = m->hands_count ? m->hands[0].held : FLR_ENGINE_NONE;
    v->recording = m->recording;
    v->read = m->paged_read;
    v->paused = m->paused;
}

static void *look(void *context)
{
    viewer *v = context;
    flr_message m;
    while (!atomic_load(&v->end)) {
        if (!flr_test_ws_receive(&v->ws, 1, &m)) continue;
        atomic_fetch_add(&v->bytes, v->ws.size);
        if (m.id == FLR_MSG_STATE) take_state(v, &m.as.state);
        if (m.id == FLR_MSG_GUESTS)
            for (uint32_t i = 0; i < m.as.guests.parts_count; i++) v->guests++;
    }
    return NULL;
}

static void begin_viewer(viewer *v, uint16_t port)
{
    memset(v, 0, sizeof *v);
    v->held = FLR_ENGINE_NONE;
    assert_true(flr_test_ws_open(&v->ws, port, NULL, NULL));
    flr_test_ws_hello(&v->ws, FLR_WIRE_ROLE_VIEWER, UINT32_MAX, NULL);
    flr_message watch = {.id = FLR_MSG_WATCH, .request = 1};
    watch.as.watch.wants = FLR_WIRE_WANT_STATE | FLR_WIRE_WANT_CONTACTS | FLR_WIRE_WANT_EVENTS |
                           FLR_WIRE_WANT_JOBS | FLR_WIRE_WANT_PROXIMITY | FLR_WIRE_WANT_VOXELS;
    watch.as.watch.state_rate = 200;
    assert_true(flr_test_ws_send_message(&v->ws, &watch));
    assert_int_equal(pthread_create(&v->thread, NULL, look, v), 0);
}

static void end_viewer(viewer *v)
{
    atomic_store(&v->end, true);
    pthread_join(v->thread, NULL);
    flr_test_ws_close(&v->ws);
}

static void rest(void) { flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 5000000); }

/* Sends a message until a condition holds. */
#define until(condition, what, ...)                                                                \
    do {                                                                                           \
        int tries = 0;                                                                             \
        while (!(condition)) {                                                                     \
            if (tries % 40 == 0) {                                                                 \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
            if (tries++ > 12000) fail_msg("%s: waited in vain for %s", name_now, what);            \
            rest();                                                                                \
        }                                                                                          \
    } while (0)

static const char *name_now;

static void send_hand(viewer *v, double z)
{
    flr_message m = {.id = FLR_MSG_HAND_INPUT};
    m.as.hand_input.T_world_hand = flr_pose_identity();
    m.as.hand_input.T_world_hand.p.z = z;
    flr_test_ws_send_message(&v->ws, &m);
}

static void grab(viewer *v, uint32_t part)
{
    static uint32_t request = 100;
    flr_message m = {.id = FLR_MSG_GRAB, .request = ++request};
    m.as.grab.hand = 0;
    m.as.grab.part = part;
    m.as.grab.T_world_hand = flr_pose_identity();
    flr_test_ws_send_message(&v->ws, &m);
}

static void record(viewer *v, bool on)
{
    static uint32_t request = 10000, number;
    char name[40];
    snprintf(name, sizeof name, "watched %u", ++number);
    flr_message m = {.id = on ? FLR_MSG_RECORD_START : FLR_MSG_RECORD_STOP, .request = ++request};
    if (on) m.as.record_start.name = flr_wire_text_of(name);
    flr_test_ws_send_message(&v->ws, &m);
}

/* On a busy machine voxels may take more than 2 s to come. Then the engine pauses until somebody goes on. */
static void go_on(viewer *v)
{
    static uint32_t request = 20000;
    flr_message m = {.id = FLR_MSG_PAUSE, .request = ++request};
    if (v->paused) flr_test_ws_send_message(&v->ws, &m);
}

/* A recording of all frames would fill the disk: from time to time it ends, goes, and another one begins. */
static void await_frames(hand *h, site *host, viewer *v, viewer *other)
{
    uint64_t next = RECORDED;
    char command[700];
    for (uint64_t before = 0, still = 0; !atomic_load(&h->done);) {
        rest();
        uint64_t now = atomic_load(&h->frames);
        still = now == before ? still + 1 : 0;
        if (still > 20000) fail_msg("%s: no frames any more", name_now);
        if (now / 1000 != before / 1000) go_on(v), go_on(other);
        before = now;
        if (now < next) continue;
        next = now + RECORDED;
        until(!v->recording, "the end of a recording", record(v, false));
        snprintf(command, sizeof command, "rm -f '%s'/*.mcap", host->recordings);
        if (system(command) != 0) fail_msg("%s: cannot remove recordings", name_now);
        until(v->recording || atomic_load(&h->done), "a recording", record(v, true));
    }
}

/* True: it could be counted. */
static bool watch_engine(const char *folder, const engine *kind, bool paced, uint64_t frames)
{
    static hand h;
    site host, guest;
    viewer viewers[VIEWERS], other;
    memset(&h, 0, sizeof h);
    h.lowest = kind->point ? 0.005 : 0.015;
    h.reach = kind->memory ? 0.16 : 0.02;
    /* by the clock a way takes its time: contact is awaited before the watch begins */
    h.cycle = paced ? 500 : 3000;
    /* a disk keeps up with a hand, not with one that runs free */
    if (kind->memory) h.cycle = paced ? 2000 : 60000;
    atomic_store(&h.wanted, frames);
    name_now = kind->name;
    flr_share_def share = flr_default_share_def();
    share.local = (flr_address){.family = 4, .ip = {127, 0, 0, 1}};
    share.token = token;
    share.name = "host";
    begin_site(&host, folder, "host", kind, paced, &h, &share);
    share.name = "guest";
    share.join = true;
    share.host = flr_share_address(flr_service_share(host.service));
    begin_site(&guest, folder, "guest", kind, true, NULL, &share);
    for (int i = 0; i < VIEWERS; i++) begin_viewer(&viewers[i], host.port);
    begin_viewer(&other, guest.port);
    const uint32_t block = 1;
    viewer *v = &viewers[0];
    /* both hold the block, which couples them; a point holds nothing */
    until(v->states > 10 && other.states > 10, "viewers", (void)0);
    if (!kind->point) until(v->held == block, "the block in the host's hand", grab(v, block));
    until(other.held == block, "the block in the guest's hand", send_hand(&other, 0.05);
          grab(&other, block));
    until(v->guests > 0, "the guest's hand", send_hand(&other, 0.05));
    until(v->recording, "a recording", record(v, true));
    atomic_store(&h.go, true);
    until(kind->point ? v->proxies > 0 : v->contacts > 0, "contact",
          send_hand(&other, h.lowest); /* both press */
          go_on(v); go_on(&other));
    uint64_t states = v->states, read = v->read;
    int64_t began = flr_clock_ns(flr_env_real());
    atomic_store(&h.watch, true);
    await_frames(&h, &host, v, &other);
    double seconds = (double)(flr_clock_ns(flr_env_real()) - began) * 1e-9;
    until(v->states > states, "states for the viewer", (void)0);
    if (kind->memory) until(v->read > read, "voxels from the disk", go_on(v));
    states = v->states - states;
    end_viewer(&other);
    for (int i = 0; i < VIEWERS; i++) end_viewer(&viewers[i]);
    end_site(&guest);
    end_site(&host);
    if (atomic_load(&h.cannot)) return false;
    assert_false(atomic_load(&h.blind)); /* it would be noticed */
    interposed *c = &h.counts;
    printf("%s %s: %llu frames in %.0f s: %llu allocations, %llu locks, %llu system calls%s, %llu "
           "sleeps; %llu states seen\n",
           kind->name, paced ? "paced" : "free", (unsigned long long)frames, seconds,
           (unsigned long long)c->allocations, (unsigned long long)c->locks,
           (unsigned long long)c->calls, c->calls ? " (see below)" : "",
           (unsigned long long)c->sleeps, (unsigned long long)states);
    if (c->calls) printf("the first of them has the number %ld\n", c->first_call);
    fflush(stdout);
    assert_int_equal(c->allocations, 0);
    assert_int_equal(c->locks, 0);
    assert_int_equal(c->calls, 0);
    assert_true(paced ? c->sleeps > 0 : c->sleeps == 0);
    return true;
}

/* ---- all of them ---- */

static uint64_t free_frames, paced_frames;
static char **chosen; /* ended by NULL */
static int result;

static bool is_chosen(const engine *kind)
{
    bool found = !*chosen;
    for (char **name = chosen; *name; name++) found = found || !strcmp(*name, kind->name);
    return found;
}

/* a block above a plate of `size` metres */
static void make_scene(const char *folder, const char *name, flr_vec3 size, double voxel)
{
    flr_error error;
    flr_engine *e;
    uint32_t job;
    char path[600];
    flr_engine_def def = flr_threadless_engine_def(flr_env_real());
    def.paced = false;
    assert_ok(flr_engine_create(&def, &e, &error), error);
    flr_test_engine_add(e, "plate", size, flr_vec3_zero(), FLR_PART_STATIC, voxel);
    flr_test_engine_add(e, "block", flr_vec3_make(0.02, 0.02, 0.02), flr_vec3_make(0, 0, 0.05),
                        FLR_PART_MOVABLE, 0.004);
    settle(e);
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    assert_ok(flr_engine_save(e, path, &job, &error), error);
    settle(e);
    flr_engine_destroy(e);
}

static void the_loop_is_quiet(void **state)
{
    (void)state;
    char *folder = flr_test_folder();
    make_scene(folder, "small", flr_vec3_make(0.1, 0.1, 0.02), 0.004);
    make_scene(folder, "large", flr_vec3_make(0.5, 0.4, 0.02), 0.0007);
    for (size_t i = 0; i < sizeof engines / sizeof engines[0] && result == 0; i++) {
        if (!is_chosen(&engines[i])) continue;
        if (!watch_engine(folder, &engines[i], false, free_frames)) result = 77;
        if (result == 0 && paced_frames > 0) watch_engine(folder, &engines[i], true, paced_frames);
    }
    flr_test_folder_remove(folder);
}

int main(int count, char **arguments)
{
    if (count < 3) return 2;
    free_frames = strtoull(arguments[1], NULL, 10);
    paced_frames = strtoull(arguments[2], NULL, 10);
    chosen = arguments + 3;
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_loop_is_quiet)};
    int failed = cmocka_run_group_tests_name("loop_engines", tests, NULL, NULL);
    return failed ? 1 : result;
}
