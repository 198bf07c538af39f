/* runs whose voxels come from a disk in trouble: the frames of a run with all in memory, or a clean stop after 2 s from which
 * the run can go on; never anything else
 *
 * FLR_PAGED_CASES: how many chance cases, default 8. */
#include "sim/run.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "feeler/hand.h"
#include "feeler/sim.h"
#include "feeler/voxel_file.h"
#include "scene/scene.h"
#include "support/fixtures.h"

enum { FRAMES = 700, PACED_FRAMES = 3000, MEMORY = 2 << 20 };

static flr_error error;
static flr_hash expected[FRAMES]; /* after each frame, with all in memory */
static flr_blob voxels[2];        /* files of the cache, made once */
static char names[2][FLR_CACHE_NAME_SIZE];
static int name_count;

static const char scene_text[] =
    "{\"feeler\": 1, \"name\": \"paged\", \"unit\": \"mm\", \"voxel\": 1,\n"
    " \"parts\": [{\"name\": \"plate\", \"file\": \"plate.stl\"},\n"
    "            {\"name\": \"tool\", \"file\": \"tool.stl\", \"moving\": true,\n"
    "             \"pose\": {\"position\": [-190, -150, 125]}}]}\n";

/* ---- a machine with a scene on its disk ---- */

typedef struct machine {
    flr_sim *sim;
    flr_env *env;
    char folder[600]; /* of the scene */
    char cache[700];
    flr_scene *scene;
} machine;

static void write_text(flr_env *env, const char *path, const char *text)
{
    flr_output *out;
    assert_ok(flr_output_begin(env, path, &out, &error), error);
    assert_ok(flr_output_write(out, text, strlen(text), &error), error);
    assert_ok(flr_output_commit(out, &error), error);
}

static void furnish(machine *m)
{
    char path[700];
    flr_test_part plate, tool;
    flr_test_part_make(&plate, FLR_TEST_BOX, 20, 0.01, false);
    flr_test_part_make(&tool, FLR_TEST_TORUS, 0.5, 0.001, false);
    snprintf(path, sizeof path, "%s/plate.stl", m->folder);
    assert_ok(flr_mesh_write(m->env, path, flr_test_shape_mesh(&plate.shape), 0, &error), error);
    snprintf(path, sizeof path, "%s/tool.stl", m->folder);
    assert_ok(flr_mesh_write(m->env, path, flr_test_shape_mesh(&tool.shape), 0, &error), error);
    snprintf(path, sizeof path, "%s/scene.json", m->folder);
    write_text(m->env, path, scene_text);
    assert_ok(flr_scene_read(m->env, path, &m->scene, &error), error);
    snprintf(m->cache, sizeof m->cache, "%s/cache", m->folder);
    flr_test_part_free(&plate);
    flr_test_part_free(&tool);
}

static machine make_machine(uint64_t seed)
{
    flr_sim_def def = flr_default_sim_def();
    def.seed = seed;
    machine m = {.sim = flr_sim_create(&def)};
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    m.env = flr_sim_node(m.sim, address);
    furnish(&m);
    assert_ok(flr_path_make_folder(m.env, m.cache, &error), error);
    for (int i = 0; i < name_count; i++) {
        char path[800];
        flr_output *out;
        snprintf(path, sizeof path, "%s/%s", m.cache, names[i]);
        assert_ok(flr_output_begin(m.env, path, &out, &error), error);
        assert_ok(flr_output_write(out, voxels[i].bytes, voxels[i].size, &error), error);
        assert_ok(flr_output_commit(out, &error), error);
    }
    return m;
}

static void free_machine(machine *m)
{
    flr_scene_destroy(m->scene);
    flr_sim_destroy(m->sim);
}

static flr_result make_stage(const machine *m, uint64_t memory, flr_stage **stage)
{
    flr_cache cache = {.folder = m->cache};
    flr_stage_def def = flr_default_stage_def();
    def.scene = m->scene;
    def.cache = &cache;
    def.memory = memory;
    def.params = flr_scene_params(m->scene);
    return flr_stage_create(m->env, &def, stage, &error);
}

static const char *voxels_of(const flr_stage *stage)
{
    const flr_pager *pager = stage->parts.list[0].shape->pager;
    return pager ? flr_pager_path(pager) : NULL;
}

/* ---- a hand that presses the tool over the plate, from end to end ---- */

static flr_pose way(const void *context, double t)
{
    (void)context;
    flr_pose T = flr_pose_identity();
    T.p = flr_vec3_make(-0.13 + 0.25 * fmin(t / 0.6, 1), -0.09 + 0.15 * t,
                        0.069 - 0.012 * sin(4.5 * t));
    return T;
}

static flr_device *make_hand(void)
{
    flr_hand_def def = flr_default_hand_def();
    def.target.at = way;
    flr_device *hand;
    assert_ok(flr_device_open(&flr_hand_driver, &def, &hand, &error), error);
    return hand;
}

/* What a run looks like from outside. */
typedef struct watch {
    const machine *machine;
    uint64_t next;             /* frame expected */
    int64_t seen_ns, ended_ns; /* times of the last frame, and of the last look at the progress */
    uint64_t wrong;
    void (*injure)(void *context); /* after frame injure_at */
    void *context;
    uint64_t injure_at;
    bool compare, fill; /* with `expected`; fill that in */
    bool heal; /* the disk is well again just before the run is given up: it takes the state */
} watch;

static void see(void *context, const flr_world_frame *frame)
{
    watch *w = context;
    w->seen_ns = flr_clock_ns(w->machine->env);
    if (w->fill) expected[frame->number] = frame->hash;
    if (w->compare)
        w->wrong += frame->number != w->next || !flr_hash_equal(frame->hash, expected[w->next]);
    w->next++;
    if (w->injure && frame->number == w->injure_at) w->injure(w->context);
}

static bool progress(void *context, uint64_t done)
{
    (void)done;
    watch *w = context;
    w->ended_ns = flr_clock_ns(w->machine->env);
    if (w->heal && w->ended_ns - w->seen_ns > 1998 * FLR_SIM_MS)
        flr_sim_set_disk(w->machine->env, &(flr_sim_disk){0});
    return true;
}

static flr_result play(const machine *m, flr_stage *stage, watch *w, bool paced, const char *state,
                       const char *resume, flr_run_result *result)
{
    flr_run_def def = flr_default_run_def();
    def.env = m->env;
    def.stage = stage;
    def.part = 1;
    def.device = make_hand();
    def.frames = paced ? PACED_FRAMES : FRAMES;
    def.single = m->sim != NULL;
    def.paced = paced;
    def.state = state;
    def.only_if_given_up = true;
    def.resume = resume;
    def.seen = see;
    def.progress = progress;
    def.context = w;
    w->machine = m;
    w->seen_ns = flr_clock_ns(m->env);
    flr_result did = flr_run(&def, result, &error);
    flr_device_close(def.device);
    return did;
}

static bool keep_name(void *context, const char *name)
{
    (void)context;
    assert_lt(name_count, 2);
    snprintf(names[name_count++], sizeof names[0], "%s", name);
    return true;
}

static void keep_voxels(const machine *m)
{
    assert_ok(flr_path_list(m->env, m->cache, keep_name, NULL, &error), error);
    for (int i = 0; i < name_count; i++) {
        char path[800];
        snprintf(path, sizeof path, "%s/%s", m->cache, names[i]);
        assert_ok(flr_file_read_all(m->env, path, 1 << 30, &voxels[i], &error), error);
    }
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < name_count; i++) flr_blob_free(&voxels[i]);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    machine m = make_machine(1);
    flr_stage *stage;
    assert_ok(make_stage(&m, 0, &stage), error);
    watch w = {.fill = true};
    flr_run_result result;
    assert_ok(play(&m, stage, &w, false, NULL, NULL, &result), error);
    assert_int_equal(w.next, FRAMES);
    assert_gt(result.contact_frames, FRAMES / 10);
    assert_eq(result.pager.slots, 0);
    flr_stage_destroy(stage);
    keep_voxels(&m);
    free_machine(&m);
    return 0;
}

/* ---- trouble ---- */

typedef enum kind {
    SLOW,     /* 1 ms to 5 s for each read */
    SHORT,    /* reads that give less */
    FLAKY,    /* reads that fail now and then */
    BROKEN,   /* … from some moment on all of them */
    CUT,      /* the file cut short */
    FLIPPED,  /* one bit in each of its blocks changed */
    SWAPPED,  /* another file put in its place */
    SCRIBBLED /* written over in place */
} kind;
enum { KINDS = 8 };

typedef struct injury {
    const machine *machine;
    kind kind;
    const char *path;
    uint64_t number; /* chance */
} injury;

static void write_over(flr_env *env, const char *path, uint64_t from, uint64_t step, uint8_t bits)
{
    flr_file *file;
    uint64_t size;
    if (flr_file_open(env, path, FLR_FILE_UPDATE, &file, NULL) != FLR_OK) return;
    assert_ok(flr_file_size(file, &size, &error), error);
    for (uint64_t at = from < size ? from : size - 1; at < size; at += step) {
        uint8_t byte;
        size_t got;
        assert_ok(flr_file_read(file, at, &byte, 1, &got, &error), error);
        byte ^= bits;
        assert_ok(flr_file_write(file, at, &byte, 1, &error), error);
        if (step == 0) break;
    }
    flr_file_close(file);
}

static void injure(void *context)
{
    const injury *i = context;
    flr_env *env = i->machine->env;
    flr_sim_disk disk = {0};
    double chance = (double)(i->number % 1000) / 1000;
    switch (i->kind) {
    case SLOW:
        disk.operation_ns = FLR_SIM_MS;
        disk.jitter_ns = (int64_t)(5e9 * pow(chance, 4));
        break;
    case SHORT:
        disk.short_read = chance;
        disk.operation_ns = FLR_SIM_MS / 10;
        break;
    case FLAKY:
        disk.failure = 0.9 * chance;
        break;
    case BROKEN:
        disk.fail_at = 1 + i->number % 20, disk.fail_on = true;
        break;
    case CUT:
        flr_sim_cut(env, i->path, i->number % 6000000);
        break;
    case FLIPPED:
        write_over(env, i->path, i->number % 65536, 65536, (uint8_t)(1u << i->number % 8));
        break;
    case SCRIBBLED:
        write_over(env, i->path, i->number % 1000000, 4099, 0x55);
        break;
    case SWAPPED: {
        flr_output *out;
        assert_ok(flr_output_begin(env, i->path, &out, &error), error);
        assert_ok(flr_output_write(out, "nothing of the kind", 19, &error), error);
        assert_ok(flr_output_commit(out, &error), error);
        break;
    }
    }
    flr_sim_set_disk(env, &disk);
}

/* A stop is clean: after 2 s, the state kept, and what goes on comes to the same end. */
static void go_on(const machine *m, const watch *before, bool paced, bool damaged)
{
    double waited = 1e-9 * (double)(before->ended_ns - before->seen_ns);
    if (before->ended_ns) assert_true(waited >= 2.0 && waited <= 2.05);
    assert_non_null(strstr(error.message, "--resume /run.flrstate"));
    if (damaged) assert_non_null(strstr(error.message, "removed from the cache"));
    flr_sim_set_disk(m->env, &(flr_sim_disk){0});
    flr_stage *stage;
    flr_run_result result;
    assert_ok(make_stage(m, MEMORY, &stage), error);
    watch w = {.compare = !paced, .next = before->next};
    assert_ok(play(m, stage, &w, paced, NULL, "/run.flrstate", &result), error);
    assert_int_equal(result.first, before->next);
    if (!paced) assert_int_equal(result.frames, FRAMES - before->next);
    if (!paced) assert_true(flr_hash_equal(result.hash, expected[FRAMES - 1]));
    assert_int_equal(w.wrong, 0);
    flr_stage_destroy(stage);
}

/* What became of a case. */
typedef enum outcome { RAN, STOPPED, RESUMED } outcome;

static outcome one_case(uint64_t seed, kind how, uint64_t at, uint64_t number, bool heal)
{
    machine m = make_machine(seed);
    flr_stage *stage;
    assert_ok(make_stage(&m, MEMORY, &stage), error);
    assert_non_null(voxels_of(stage));
    injury hurt = {&m, how, strdup(voxels_of(stage)), number};
    watch w = {.compare = true, .injure = injure, .context = &hurt, .injure_at = at, .heal = heal};
    if (at == 0) injure(&hurt), w.injure = NULL;
    flr_run_result result;
    flr_result did = play(&m, stage, &w, false, "/run.flrstate", NULL, &result);
    flr_stage_destroy(stage);
    assert_int_equal(w.wrong, 0);
    bool damaged = did == FLR_BAD_INPUT;
    outcome came = did == FLR_OK ? RAN : STOPPED;
    if (did == FLR_OK) {
        assert_int_equal(w.next, FRAMES);
        assert_true(flr_hash_equal(result.hash, expected[FRAMES - 1]));
    } else {
        /* a broken disk may also refuse to take the state */
        bool kept = strstr(error.message, "the state is kept") != NULL;
        assert_true(kept || ((how == FLAKY || how == BROKEN) && !heal));
        if (kept) go_on(&m, &w, false, damaged), came = RESUMED;
    }
    free((char *)hurt.path);
    free_machine(&m);
    return came;
}

/* each kind at its worst, from the second frame on: what has to stop does, after 2.00 to 2.05 s, and goes on to the same hash as
 * the run that nothing happened to */
static void the_worst_of_each_kind(void **state)
{
    (void)state;
    static const struct {
        kind kind;
        uint64_t number;
        outcome outcome;
    } cases[] = {{SLOW, 999, RESUMED},   {SHORT, 999, RAN},     {BROKEN, 0, RESUMED},
                 {CUT, 0, RESUMED},      {FLIPPED, 7, RESUMED}, {SWAPPED, 0, RAN},
                 {SCRIBBLED, 0, RESUMED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(one_case(1 + i, cases[i].kind, 1, cases[i].number, true),
                         cases[i].outcome);
}

static void trouble_of_all_kinds(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("run_paged");
    const char *given = getenv("FLR_PAGED_CASES");
    int cases = given ? atoi(given) : 8, stops[KINDS] = {0};
    for (int i = 0; i < cases; i++) {
        kind k = (kind)(i % KINDS);
        uint64_t at = flr_test_random_below(&random, FRAMES - 1);
        uint64_t number = flr_test_random_below(&random, 1u << 30), seed = 1 + (uint64_t)i;
        stops[k] += one_case(seed, k, at, number, false) != RAN;
    }
    print_message("stops: slow %d, short %d, flaky %d, broken %d, cut %d, flipped %d, swapped %d, "
                  "scribbled %d of %d cases\n",
                  stops[SLOW], stops[SHORT], stops[FLAKY], stops[BROKEN], stops[CUT],
                  stops[FLIPPED], stops[SWAPPED], stops[SCRIBBLED], cases);
    assert_int_equal(stops[SHORT], 0);
    assert_int_equal(stops[SWAPPED], 0); /* the one that is open stays */
}

/* by the clock, too: the hand moves on, nothing is felt, and it ends after 2 s of frames */
static void paced_runs_stop(void **state)
{
    (void)state;
    machine m = make_machine(7);
    flr_stage *stage;
    assert_ok(make_stage(&m, MEMORY, &stage), error);
    injury hurt = {&m, BROKEN, voxels_of(stage), 0};
    watch w = {.injure = injure, .context = &hurt, .injure_at = 5};
    flr_run_result result;
    flr_result did = play(&m, stage, &w, true, NULL, NULL, &result);
    flr_stage_destroy(stage);
    assert_int_equal(did, FLR_IO);
    double waited = 1e-9 * (double)(w.ended_ns - w.seen_ns);
    assert_ge(waited, 2.0);
    assert_le(waited, 2.05);
    /* and one that can be kept goes on */
    flr_sim_set_disk(m.env, &(flr_sim_disk){0});
    assert_ok(make_stage(&m, MEMORY, &stage), error);
    w = (watch){.next = 0};
    flr_sim_set_disk(m.env, &(flr_sim_disk){.operation_ns = 3 * FLR_SIM_S});
    assert_int_equal(play(&m, stage, &w, true, "/run.flrstate", NULL, &result), FLR_TIMEOUT);
    assert_non_null(strstr(error.message, "within 2 s"));
    flr_stage_destroy(stage);
    w.ended_ns = 0; /* it was given up before the first frame */
    go_on(&m, &w, true, false);
    free_machine(&m);
}

/* a cache that is damaged already is built again */
static void a_damaged_cache_is_built_again(void **state)
{
    (void)state;
    machine m = make_machine(3);
    flr_stage *stage;
    assert_ok(make_stage(&m, MEMORY, &stage), error);
    char *path = strdup(voxels_of(stage));
    flr_stage_destroy(stage);
    const uint64_t places[] = {3, 70, 4100, 9000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        write_over(m.env, path, places[i], 0, 16);
        assert_ok(make_stage(&m, MEMORY, &stage), error);
        assert_non_null(voxels_of(stage));
        watch w = {.compare = true};
        flr_run_result result;
        assert_ok(play(&m, stage, &w, false, NULL, NULL, &result), error);
        assert_int_equal(w.wrong, 0);
        assert_gt(result.pager.slots, 0);
        assert_gt(result.pager.bytes_read, 0);
        flr_stage_destroy(stage);
    }
    free(path);
    free_machine(&m);
}

/* states that are not of this run, or damaged, are refused */
static void wrong_states_are_refused(void **state)
{
    (void)state;
    machine m = make_machine(3);
    flr_stage *stage;
    assert_ok(make_stage(&m, MEMORY, &stage), error);
    watch w = {.compare = true};
    flr_run_result result;
    flr_sim_set_disk(m.env, &(flr_sim_disk){.operation_ns = 3 * FLR_SIM_S});
    assert_int_equal(play(&m, stage, &w, false, "/run.flrstate", NULL, &result), FLR_TIMEOUT);
    flr_sim_set_disk(m.env, &(flr_sim_disk){0});
    flr_path_info info;
    assert_ok(flr_path_look(m.env, "/run.flrstate", &info, &error), error);
    for (uint64_t at = 0; at < info.size; at += 397) {
        write_over(m.env, "/run.flrstate", at, 0, 64);
        assert_int_equal(play(&m, stage, &w, false, NULL, "/run.flrstate", &result), FLR_BAD_INPUT);
        write_over(m.env, "/run.flrstate", at, 0, 64);
    }
    assert_int_equal(play(&m, stage, &w, false, NULL, "/nowhere", &result), FLR_NOT_FOUND);
    flr_sim_cut(m.env, "/run.flrstate", info.size - 1);
    assert_int_equal(play(&m, stage, &w, false, NULL, "/run.flrstate", &result), FLR_BAD_INPUT);
    flr_stage_destroy(stage);
    free_machine(&m);
}

/* ---- a real disk, a thread that reads, and files that change underneath ---- */

static void cut_real(void *context)
{
    const injury *i = context;
    assert_int_equal(truncate(i->path, 200000), 0);
}

static void on_a_real_disk(void **state)
{
    (void)state;
    char *folder = flr_test_folder();
    machine m = {.env = flr_env_real()};
    snprintf(m.folder, sizeof m.folder, "%s", folder);
    furnish(&m);
    char keep[700];
    snprintf(keep, sizeof keep, "%s/run.flrstate", folder);
    for (int round = 0; round < 3; round++) {
        flr_stage *stage;
        assert_ok(make_stage(&m, MEMORY, &stage), error);
        assert_non_null(voxels_of(stage));
        injury hurt = {&m, SWAPPED, strdup(voxels_of(stage)), 0};
        watch w = {.compare = true, .context = &hurt, .injure_at = 20};
        if (round == 1) w.injure = cut_real;
        flr_run_result result;
        flr_result did = play(&m, stage, &w, false, keep, NULL, &result);
        flr_stage_destroy(stage);
        assert_int_equal(w.wrong, 0);
        if (round != 1) assert_ok(did, error);
        if (did != FLR_OK) {
            assert_int_equal(did, FLR_BAD_INPUT);
            assert_non_null(strstr(error.message, "has become shorter"));
            assert_ok(make_stage(&m, MEMORY, &stage), error);
            watch after = {.compare = true, .next = w.next};
            assert_ok(play(&m, stage, &after, false, NULL, keep, &result), error);
            assert_int_equal(after.wrong, 0);
            flr_stage_destroy(stage);
        }
        free((char *)hurt.path);
    }
    flr_scene_destroy(m.scene);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_of_each_kind),
        cmocka_unit_test(trouble_of_all_kinds),
        cmocka_unit_test(paced_runs_stop),
        cmocka_unit_test(a_damaged_cache_is_built_again),
        cmocka_unit_test(wrong_states_are_refused),
        cmocka_unit_test(on_a_real_disk),
    };
    return cmocka_run_group_tests_name("run_paged", tests, set_up, tear_down);
}
