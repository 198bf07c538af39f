/* sessions with clients that read slowly: whatever happens meanwhile, they end with what there is */
#include "server/hub.h"

#include <stdio.h>

#include "protocol/codec.h"
#include "support/fixtures.h"

enum { PARTS = 2500, SLOTS = 4096 };

/* what a client knows, by the messages that it has read */
typedef struct viewer {
    flr_client_session *session;
    uint32_t scene, scenes;
    bool known[SLOTS], ready[SLOTS];
    uint8_t kind[SLOTS];
    char warning[600]; /* the last */
    uint32_t ended;    /* jobs */
    bool bye;
} viewer;

typedef struct desk {
    flr_test_engine stand;
    flr_access access;
    flr_hub *hub;
    flr_log *log; /* counts its lines */
    int lines;
    uint8_t *frame, *room;
    size_t frame_size, room_size;
} desk;

static const char plan[] = "/plans/many.json";

/* the first name in a folder */
static bool take_name(void *context, const char *name)
{
    snprintf(context, 80, "%s", name);
    return false;
}

/* many parts of one shape, so that their voxels are made at once and all become ready in the same frame */
static void write_plan(desk *d)
{
    flr_error error;
    uint32_t job;
    assert_ok(flr_path_make_folder(d->stand.env, "/plans", &error), error);
    assert_ok(flr_engine_save(d->stand.engine, "/plans/plan.json", &job, &error), error);
    flr_test_engine_settle(&d->stand);
    char mesh[80] = "";
    assert_ok(flr_path_list(d->stand.env, "/plans/plan_parts", take_name, mesh, &error), error);
    size_t size = (size_t)400 * PARTS, used = 0;
    char *text = malloc(size);
    used += (size_t)snprintf(
        text, size, "{ \"feeler\": 1, \"name\": \"many\", \"voxel\": \"4mm\", \"parts\": [");
    for (int i = 0; i < PARTS; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 "%s { \"name\": \"part %0200d\", \"file\": \"plan_parts/%s\", "
                                 "\"unit\": 1, \"pose\": { \"position\": [%d, %d, 0] } }",
                                 i ? "," : "", i, mesh, i % 50, i / 50);
    used += (size_t)snprintf(text + used, size - used, " ] }\n");
    flr_file *file;
    assert_ok(flr_file_open(d->stand.env, plan, FLR_FILE_CREATE, &file, &error), error);
    assert_ok(flr_file_write(file, 0, text, used, &error), error);
    flr_file_close(file);
    free(text);
}

static void count_line(void *context, const flr_log_line *line)
{
    (void)line;
    ((desk *)context)->lines++;
}

static void begin(desk *d)
{
    flr_error error;
    memset(d, 0, sizeof *d);
    flr_test_engine_make(&d->stand, true, NULL);
    flr_log_def log = flr_default_log_def();
    log.env = d->stand.env, log.sink = count_line, log.context = d;
    d->log = flr_log_create(&log);
    flr_hub_def def = {.env = d->stand.env,
                       .engine = d->stand.engine,
                       .access = &d->access,
                       .log = d->log,
                       .name = "test",
                       .loop_rate = 1000,
                       .limits = flr_default_hub_limits(),
                       .levels = flr_default_levels_def()};
    def.levels.threaded = false;
    assert_ok(flr_hub_create(&def, &d->hub, &error), error);
    d->frame_size = flr_wire_max_frame(FLR_TO_CLIENT);
    d->frame = malloc(d->frame_size);
    d->room_size = FLR_PROTOCOL_CAPACITY(d->frame_size);
    d->room = malloc(d->room_size);
}

static void end(desk *d)
{
    flr_hub_destroy(d->hub);
    flr_log_destroy(d->log);
    flr_test_engine_free(&d->stand);
    free(d->frame);
    free(d->room);
}

static int64_t now(const desk *d) { return flr_clock_ns(d->stand.env); }

static void say(desk *d, flr_client_session *session, const flr_message *message)
{
    flr_error error;
    size_t size;
    uint8_t bytes[512];
    assert_ok(flr_protocol_encode(message, FLR_PROTOCOL_MINOR, bytes, sizeof bytes, &size, &error),
              error);
    flr_client_session_receive(session, bytes, size, now(d));
}

static viewer *join(desk *d)
{
    viewer *v = calloc(1, sizeof *v);
    flr_message hello = {.id = FLR_MSG_HELLO}, watch = {.id = FLR_MSG_WATCH, .request = 1};
    hello.as.hello.abilities = UINT32_MAX;
    watch.as.watch.wants = FLR_WIRE_WANT_EVENTS | FLR_WIRE_WANT_JOBS;
    v->session = flr_client_session_open(d->hub, "test", true, now(d));
    say(d, v->session, &hello);
    say(d, v->session, &watch);
    return v;
}

static void take(viewer *v, const flr_message *m)
{
    switch (m->id) {
    case FLR_MSG_SCENE:
        memset(v->known, 0, sizeof v->known);
        memset(v->ready, 0, sizeof v->ready);
        v->scene = m->as.scene.scene;
        v->scenes++;
        break;
    case FLR_MSG_PART:
        assert_lt(m->as.part.part, SLOTS);
        v->known[m->as.part.part] = true;
        v->ready[m->as.part.part] = m->as.part.ready;
        v->kind[m->as.part.part] = m->as.part.kind;
        break;
    case FLR_MSG_PART_GONE:
        assert_true(v->known[m->as.part_gone.part]);
        v->known[m->as.part_gone.part] = v->ready[m->as.part_gone.part] = false;
        break;
    case FLR_MSG_EVENT:
        if (m->as.event.kind == FLR_WIRE_EVENT_WARNING)
            snprintf(v->warning, sizeof v->warning, "%.*s", (int)m->as.event.sentence.size,
                     m->as.event.sentence.bytes);
        break;
    case FLR_MSG_JOB:
        v->ended += m->as.job.state == FLR_WIRE_JOB_ENDED;
        break;
    case FLR_MSG_BYE:
        v->bye = true;
        break;
    default:
        break;
    }
}

/* reads so many frames at most; how many bytes those had */
static size_t read_frames(desk *d, viewer *v, int most)
{
    flr_error error;
    flr_message m;
    size_t size, all = 0;
    for (int i = 0;
         i < most && flr_client_session_next(v->session, now(d), d->frame, d->frame_size, &size);
         i++) {
        assert_ok(
            flr_protocol_decode(d->frame, size, FLR_TO_CLIENT, d->room, d->room_size, &m, &error),
            error);
        take(v, &m);
        all += size;
    }
    return all;
}

static void read_all(desk *d, viewer *v) { read_frames(d, v, 1 << 20); }

/* does the client know what there is? */
static void assert_knows(desk *d, const viewer *v)
{
    flr_engine_part part;
    flr_engine_scene scene;
    uint32_t known = 0, ready = 0, there = 0, there_ready = 0;
    flr_engine_get_scene(d->stand.engine, &scene);
    assert_int_equal(v->scene, scene.scene);
    for (int i = 0; i < SLOTS; i++) known += v->known[i], ready += v->ready[i];
    for (uint32_t i = 0; flr_engine_part_at(d->stand.engine, i, &part); i++) {
        there++;
        there_ready += part.ready;
        assert_true(v->known[part.part.index]);
        assert_eq(v->ready[part.part.index], part.ready);
        assert_int_equal(v->kind[part.part.index], part.kind);
    }
    assert_int_equal(known, there);
    assert_int_equal(ready, there_ready);
}

static void pump(desk *d, int times)
{
    for (int i = 0; i < times; i++) {
        flr_engine_run(d->stand.engine, 2);
        flr_hub_pump(d->hub, now(d));
    }
}

static uint32_t load(desk *d)
{
    flr_error error;
    uint32_t job;
    assert_ok(flr_engine_load(d->stand.engine, plan, &job, &error), error);
    for (int i = 0; i < 1000 && flr_engine_jobs(d->stand.engine) > 0; i++) pump(d, 1);
    pump(d, 40);
    flr_engine_part part;
    uint32_t ready = 0;
    for (uint32_t i = 0; flr_engine_part_at(d->stand.engine, i, &part); i++) ready += part.ready;
    assert_int_equal(ready, PARTS);
    return job;
}

/* one reads all the time, one only when everything has happened */
static void all_parts_become_ready(void **state)
{
    (void)state;
    desk d;
    flr_error error;
    uint32_t job;
    begin(&d);
    write_plan(&d);
    viewer *eager = join(&d), *lazy = join(&d);
    read_all(&d, lazy);
    assert_ok(flr_engine_load(d.stand.engine, plan, &job, &error), error);
    for (int i = 0; i < 1000 && (i < 40 || flr_engine_jobs(d.stand.engine) > 0); i++) {
        pump(&d, 1);
        read_all(&d, eager);
    }
    pump(&d, 40);
    read_all(&d, eager);
    read_all(&d, lazy);
    assert_knows(&d, eager);
    assert_knows(&d, lazy);
    uint32_t ready = 0;
    for (int i = 0; i < SLOTS; i++) ready += eager->ready[i];
    assert_int_equal(ready, PARTS);
    assert_int_equal(eager->scenes, 2); /* the same scene is not begun anew */
    assert_int_equal(lazy->scenes, 2);
    free(eager), free(lazy);
    end(&d);
}

/* changes of many parts, over and over, while a client reads little or nothing */
static void one_that_fell_behind_catches_up(void **state)
{
    (void)state;
    desk d;
    flr_error error;
    begin(&d);
    write_plan(&d);
    load(&d);
    viewer *slow = join(&d);
    read_frames(&d, slow, 10);
    for (uint32_t round = 0; round < 30; round++) {
        for (uint32_t i = 100; i < PARTS; i++)
            assert_ok(flr_engine_set_kind(d.stand.engine, flr_engine_part_id(d.stand.engine, i),
                                          round % 2 ? FLR_PART_STATIC : FLR_PART_FREE, &error),
                      error);
        pump(&d, 1);
        read_frames(&d, slow, 3);
        assert_false(flr_client_session_ending(slow->session));
    }
    for (uint32_t i = 0; i < 50; i++)
        assert_ok(
            flr_engine_remove(d.stand.engine, flr_engine_part_id(d.stand.engine, 2 * i), &error),
            error);
    pump(&d, 40);
    assert_int_equal(flr_client_session_due(slow->session, now(&d)), now(&d));
    read_all(&d, slow);
    assert_false(slow->bye);
    assert_int_equal(slow->scenes, 1);
    assert_knows(&d, slow);
    assert_false(slow->known[0]);
    free(slow);
    end(&d);
}

/* another scene comes while a client is behind */
static void one_that_fell_behind_gets_another_scene(void **state)
{
    (void)state;
    desk d;
    flr_error error;
    begin(&d);
    write_plan(&d);
    load(&d);
    viewer *slow = join(&d);
    for (uint32_t round = 0; round < 30; round++) {
        for (uint32_t i = 0; i < PARTS; i++)
            assert_ok(flr_engine_set_kind(d.stand.engine, flr_engine_part_id(d.stand.engine, i),
                                          round % 2 ? FLR_PART_STATIC : FLR_PART_FREE, &error),
                      error);
        pump(&d, 1);
    }
    uint32_t job;
    assert_ok(flr_engine_load(d.stand.engine, "/plans/plan.json", &job, &error), error);
    for (int i = 0; i < 100; i++) pump(&d, 1);
    read_all(&d, slow);
    assert_false(slow->bye);
    assert_knows(&d, slow);
    assert_true(slow->known[2]);
    assert_false(slow->known[3]);
    assert_int_equal(slow->ended, 1); /* the end of a job is never left out */
    free(slow);
    end(&d);
}

/* ends of jobs cannot be asked for again: none is left out, however many there are before somebody looks */
static void every_end_of_a_job_is_told(void **state)
{
    (void)state;
    enum { JOBS = 1100 };
    desk d;
    begin(&d);
    for (int i = 0; i < JOBS; i++)
        flr_test_engine_add(d.stand.engine, "small", flr_vec3_make(0.01, 0.01, 0.01),
                            flr_vec3_make(i * 0.02, 1, 0), FLR_PART_STATIC, 0.005);
    for (int i = 0; i < 3 * JOBS + 10; i++) flr_engine_service(d.stand.engine);
    assert_int_equal(flr_engine_jobs(d.stand.engine), 0);
    flr_engine_event event;
    uint32_t ended = 0, resyncs = 0;
    while (flr_engine_next(d.stand.engine, &event)) {
        ended += event.kind == FLR_ENGINE_EVENT_JOB && event.job.state == FLR_WIRE_JOB_ENDED;
        resyncs += event.kind == FLR_ENGINE_EVENT_RESYNC;
    }
    assert_ge(ended, JOBS);
    assert_int_equal(resyncs, 1);
    end(&d);
}

/* what is left out of a flood of events is counted */
static void a_flood_of_events_is_reported(void **state)
{
    (void)state;
    desk d;
    begin(&d);
    viewer *v = join(&d);
    for (int i = 0; i < 400; i++) { /* the hub passes on 500 in a second */
        flr_engine_undo(d.stand.engine, 1, NULL);
        flr_engine_undo(d.stand.engine, 1, NULL);
        flr_engine_run(d.stand.engine, 1);
        flr_hub_pump(d.hub, now(&d));
    }
    read_all(&d, v);
    assert_string_equal(v->warning, "");
    flr_engine_run(d.stand.engine, 1000);
    flr_hub_pump(d.hub, now(&d));
    read_all(&d, v);
    assert_string_equal(v->warning,
                        "300 events were left out: more than 500 happened in one second");
    free(v);
    end(&d);
}

/* a client goes while the way to the loop is full: its hand lets go all the same */
static void a_hand_is_let_go_although_the_loop_is_busy(void **state)
{
    (void)state;
    desk d;
    flr_error error;
    begin(&d);
    viewer *v = join(&d);
    flr_message grab = {.id = FLR_MSG_GRAB, .request = 2};
    grab.as.grab.hand = 0;
    grab.as.grab.part = d.stand.block.index;
    grab.as.grab.T_world_hand = flr_pose_identity();
    assert_ok(flr_engine_hand_input(d.stand.engine, flr_hand(0),
                                    flr_pose_make(flr_vec3_make(0, 0, 0.03), flr_quat_identity()),
                                    0, &error),
              error);
    say(&d, v->session, &grab);
    pump(&d, 5);
    assert_part_equal(flr_engine_view(d.stand.engine)->hands[0].held, d.stand.block);
    while (flr_engine_pause(d.stand.engine, false, NULL) == FLR_OK) continue;
    flr_client_session_close(v->session);
    pump(&d, 200);
    assert_part_equal(flr_engine_view(d.stand.engine)->hands[0].held, FLR_NO_PART_ID);
    free(v);
    end(&d);
}

/* watchers that ask for overlays over and over cannot fill the queue of jobs: one that is posted after them is done soon */
static void overlays_do_not_fill_the_queue(void **state)
{
    (void)state;
    enum { WATCHERS = 40, TIMES = 100, SOON = 80 };
    desk d;
    flr_error error;
    uint32_t job;
    begin(&d);
    viewer *watchers[WATCHERS];
    for (int i = 0; i < WATCHERS; i++) {
        watchers[i] = join(&d);
        read_all(&d, watchers[i]);
    }
    for (uint32_t t = 0; t < TIMES; t++)
        for (int i = 0; i < WATCHERS; i++) {
            flr_message ask = {.id = FLR_MSG_OVERLAY_ASK, .request = 100 + t};
            ask.as.overlay_ask.part = d.stand.block.index;
            ask.as.overlay_ask.limit = 1000;
            say(&d, watchers[i]->session, &ask);
        }
    assert_ok(flr_path_make_folder(d.stand.env, "/plans", &error), error);
    assert_ok(flr_engine_save(d.stand.engine, "/plans/plan.json", &job, &error), error);
    int rounds = 0; /* without workers one job is done in each */
    while (flr_engine_jobs(d.stand.engine) > 0 && rounds < 10000) {
        flr_engine_service(d.stand.engine);
        rounds++;
    }
    assert_in_range(rounds, 1, SOON);
    for (int i = 0; i < WATCHERS; i++) {
        assert_false(flr_client_session_ending(watchers[i]->session));
        free(watchers[i]);
    }
    end(&d);
}

/* Everybody who reaches the port can be refused a thousand times a second. */
static void refused_ones_do_not_fill_the_log(void **state)
{
    (void)state;
    enum { REFUSED = 1000 };
    desk d;
    begin(&d);
    for (int i = 0; i < REFUSED; i++) {
        flr_client_session *session = flr_client_session_open(d.hub, "192.0.2.1", false, now(&d));
        flr_client_session_receive(session, (const uint8_t *)"", 0, now(&d));
        assert_true(flr_client_session_ending(session));
        flr_client_session_close(session);
    }
    assert_int_equal(d.lines, 1);
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_become_ready),
        cmocka_unit_test(one_that_fell_behind_catches_up),
        cmocka_unit_test(one_that_fell_behind_gets_another_scene),
        cmocka_unit_test(every_end_of_a_job_is_told),
        cmocka_unit_test(a_flood_of_events_is_reported),
        cmocka_unit_test(a_hand_is_let_go_although_the_loop_is_busy),
        cmocka_unit_test(overlays_do_not_fill_the_queue),
        cmocka_unit_test(refused_ones_do_not_fill_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
