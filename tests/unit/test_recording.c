/* recordings: what goes in comes out to the bit; a recorder that dies leaves what it had written; damage is told */
#include "feeler/recording.h"

#include <math.h>

#include "feeler/sim.h"
#include "support/fail_alloc.h"
#include "support/test.h"
#include "world/mcap.h"

enum { HANDS = 2, PARTS = 3, CONTACTS = 5 };

typedef struct frame {
    flr_record_frame head;
    flr_record_hand hands[HANDS];
    flr_record_part parts[PARTS];
    flr_record_contact contacts[CONTACTS + 3];
} frame;

static flr_error error;
static flr_sim *the_sim;
static flr_env *the_disk;

static int set_up(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    the_sim = flr_sim_create(&def);
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    the_disk = flr_sim_node(the_sim, address);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_sim_destroy(the_sim);
    return 0;
}

/* Any bits but those that compare unequal to themselves, so that memcmp and == agree. */
static double any(flr_test_random *random)
{
    switch (flr_test_random_below(random, 8)) {
    case 0:
        return INFINITY;
    case 1:
        return -0.0;
    case 2:
        return 5e-324;
    default:
        return flr_test_random_range(random, -1e3, 1e3);
    }
}

static flr_vec3 any_vector(flr_test_random *random)
{
    flr_vec3 v;
    v.x = any(random);
    v.y = any(random);
    v.z = any(random);
    return v;
}

static flr_pose any_pose(flr_test_random *random)
{
    flr_pose T;
    T.p = any_vector(random);
    T.q.w = any(random);
    T.q.x = any(random);
    T.q.y = any(random);
    T.q.z = any(random);
    return T;
}

static frame make_frame(flr_test_random *random, uint64_t number)
{
    frame f;
    memset(&f, 0, sizeof f); /* padding, too: frames are compared as bytes */
    f.head.frame = number;
    f.head.time_ns = (int64_t)number * 1000000;
    f.head.compute_us = any(random);
    f.head.wakeup_us = any(random);
    f.head.points_tested = flr_test_random_u64(random);
    f.head.contacts = (uint32_t)flr_test_random_u64(random);
    f.head.penetrations = (uint32_t)flr_test_random_u64(random);
    f.head.lower = any(random);
    f.head.upper = any(random);
    f.head.energy = any(random);
    f.head.travel_limited = number % 2;
    f.head.stopped = number % 3 == 1;
    f.head.faults = (uint32_t)flr_test_random_u64(random);
    f.head.hash = flr_test_random_u64(random);
    if (number % 2) {
        f.head.waited_us = any(random);
        f.head.paged_needed = flr_test_random_u64(random);
        f.head.paged_hits = flr_test_random_u64(random);
        f.head.paged_read = flr_test_random_u64(random);
        f.head.paged_resident = 1 + flr_test_random_below(random, 1u << 30);
        f.head.paged_directory = flr_test_random_u64(random);
    }
    f.head.contacts_given = flr_test_random_below(random, CONTACTS + 3);
    for (int i = 0; i < HANDS; i++) {
        f.hands[i].T_world_hand = any_pose(random);
        f.hands[i].fresh = flr_test_random_below(random, 2);
        f.hands[i].has_twist = i > 0;
        if (f.hands[i].has_twist) {
            f.hands[i].twist.linear = any_vector(random);
            f.hands[i].twist.angular = any_vector(random);
        }
        f.hands[i].buttons = (uint32_t)flr_test_random_u64(random);
        f.hands[i].part = i ? UINT32_MAX : 1;
        f.hands[i].wrench.force = any_vector(random);
        f.hands[i].wrench.torque = any_vector(random);
        f.hands[i].has_sent = i == 0;
        if (f.hands[i].has_sent) {
            f.hands[i].sent.force = any_vector(random);
            f.hands[i].sent.torque = any_vector(random);
        }
    }
    for (int i = 0; i < PARTS; i++) {
        f.parts[i].T_world_part = any_pose(random);
        f.parts[i].motion.linear = any_vector(random);
        f.parts[i].motion.angular = any_vector(random);
    }
    for (uint32_t i = 0; i < f.head.contacts_given; i++) {
        f.contacts[i].point = any_vector(random);
        f.contacts[i].normal = any_vector(random);
        f.contacts[i].depth = any(random);
        f.contacts[i].part = i;
    }
    return f;
}

static const char *const texts[] = {"rate", "1000", "scene", "{\n  \"name\": \"b\xC3\xA4ll\"\n}",
                                    NULL};

static flr_recorder *begin(flr_env *env, const char *path)
{
    flr_recorder_def def = flr_default_recorder_def();
    def.path = path;
    def.hands = HANDS;
    def.parts = PARTS;
    def.contacts = CONTACTS;
    def.ring = 64;
    def.texts = texts;
    flr_recorder *recorder;
    assert_ok(flr_recorder_create(env, &def, &recorder, &error), error);
    return recorder;
}

static void give(flr_recorder *recorder, const frame *f)
{
    assert_true(flr_recorder_push(recorder, &f->head, f->hands, f->parts, f->contacts));
}

static void same(const frame *f, const flr_record_view *view)
{
    flr_record_frame head = f->head;
    if (head.contacts_given > CONTACTS) head.contacts_given = CONTACTS;
    assert_int_equal(view->frame.frame, head.frame);
    assert_int_equal(view->frame.time_ns, head.time_ns);
    assert_memory_equal(&view->frame.compute_us, &head.compute_us, 8);
    assert_memory_equal(&view->frame.wakeup_us, &head.wakeup_us, 8);
    assert_int_equal(view->frame.points_tested, head.points_tested);
    assert_int_equal(view->frame.contacts, head.contacts);
    assert_int_equal(view->frame.penetrations, head.penetrations);
    assert_memory_equal(&view->frame.lower, &head.lower, 8);
    assert_memory_equal(&view->frame.upper, &head.upper, 8);
    assert_int_equal(view->frame.travel_limited, head.travel_limited);
    assert_int_equal(view->frame.stopped, head.stopped);
    assert_memory_equal(&view->frame.energy, &head.energy, 8);
    assert_int_equal(view->frame.faults, head.faults);
    assert_int_equal(view->frame.hash, head.hash);
    assert_memory_equal(&view->frame.waited_us, &head.waited_us, 8);
    assert_int_equal(view->frame.paged_needed, head.paged_needed);
    assert_int_equal(view->frame.paged_hits, head.paged_hits);
    assert_int_equal(view->frame.paged_read, head.paged_read);
    assert_int_equal(view->frame.paged_resident, head.paged_resident);
    assert_int_equal(view->frame.paged_directory, head.paged_directory);
    assert_int_equal(view->frame.contacts_given, head.contacts_given);
    assert_int_equal(view->hand_count, HANDS);
    assert_int_equal(view->part_count, PARTS);
    for (int i = 0; i < HANDS; i++) { /* one by one: there is padding */
        const flr_record_hand *a = &view->hands[i], *b = &f->hands[i];
        assert_memory_equal(&a->T_world_hand, &b->T_world_hand, sizeof a->T_world_hand);
        assert_memory_equal(&a->twist, &b->twist, sizeof a->twist);
        assert_memory_equal(&a->wrench, &b->wrench, sizeof a->wrench);
        assert_int_equal(a->has_twist, b->has_twist);
        assert_int_equal(a->has_sent, b->has_sent);
        assert_memory_equal(&a->sent, &b->sent, sizeof a->sent);
        assert_int_equal(a->fresh, b->fresh);
        assert_int_equal(a->buttons, b->buttons);
        assert_int_equal(a->part, b->part);
    }
    assert_memory_equal(view->parts, f->parts, sizeof f->parts);
    for (uint32_t i = 0; i < head.contacts_given; i++) {
        assert_memory_equal(&view->contacts[i].point, &f->contacts[i].point, 56);
        assert_int_equal(view->contacts[i].part, f->contacts[i].part);
    }
}

/* Reads all frames that can be read, compares them, returns how many. */
static uint64_t read_back(const char *path, const frame *frames, uint64_t count, bool *complete)
{
    flr_recording *recording;
    assert_ok(flr_recording_open(the_disk, path, &recording, &error), error);
    assert_string_equal(flr_recording_text(recording, "rate"), "1000");
    assert_string_equal(flr_recording_text(recording, "scene"), texts[3]);
    assert_null(flr_recording_text(recording, "nothing"));
    uint64_t n = 0;
    flr_record_view view;
    flr_result result;
    while ((result = flr_recording_next(recording, &view, &error)) == FLR_OK) {
        assert_true(n < count);
        same(&frames[n++], &view);
    }
    assert_int_equal(result, FLR_CLOSED);
    *complete = flr_recording_complete(recording);
    flr_recording_close(recording);
    return n;
}

static void comes_back_to_the_bit(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("comes_back_to_the_bit");
    enum { COUNT = 2000 };
    frame *frames = malloc(COUNT * sizeof *frames);
    flr_recorder *recorder = begin(the_disk, "/whole.mcap");
    for (uint64_t i = 0; i < COUNT; i++) {
        frames[i] = make_frame(&random, i);
        give(recorder, &frames[i]);
        if (i % 50 == 49) assert_ok(flr_recorder_service(recorder, &error), error);
    }
    assert_int_equal(flr_recorder_lost(recorder), 0);
    assert_ok(flr_recorder_finish(recorder, &error), error);
    bool complete;
    assert_int_equal(read_back("/whole.mcap", frames, COUNT, &complete), COUNT);
    assert_true(complete);
    free(frames);
}

static void the_dead_leave_what_they_wrote(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("the_dead_leave_what_they_wrote");
    enum { COUNT = 1000 };
    frame *frames = malloc(COUNT * sizeof *frames);
    flr_recorder *recorder = begin(the_disk, "/dead.mcap");
    for (uint64_t i = 0; i < COUNT; i++) {
        frames[i] = make_frame(&random, i);
        give(recorder, &frames[i]);
        assert_ok(flr_recorder_service(recorder, &error), error);
    }
    flr_recorder_abandon(recorder);
    bool complete;
    uint64_t n = read_back("/dead.mcap", frames, COUNT, &complete);
    assert_false(complete);
    /* a frame takes a millisecond here, a chunk a quarter of a second */
    assert_in_range(n, COUNT - 251, COUNT - 1);
    free(frames);
}

/* a small recording of a few chunks as bytes */
static flr_blob small_file(flr_test_random *random, frame *frames, uint64_t count)
{
    flr_path_remove(the_disk, "/small.mcap", NULL);
    flr_recorder *recorder = begin(the_disk, "/small.mcap");
    for (uint64_t i = 0; i < count; i++) {
        frames[i] = make_frame(random, i);
        frames[i].head.time_ns = (int64_t)i * 130000000; /* two or three frames in a chunk */
        give(recorder, &frames[i]);
    }
    assert_ok(flr_recorder_finish(recorder, &error), error);
    flr_blob blob;
    assert_ok(flr_file_read_all(the_disk, "/small.mcap", 1 << 24, &blob, &error), error);
    return blob;
}

static void put_file(const char *path, const uint8_t *bytes, size_t size)
{
    flr_path_remove(the_disk, path, NULL);
    flr_file *file;
    assert_ok(flr_file_open(the_disk, path, FLR_FILE_CREATE, &file, &error), error);
    assert_ok(flr_file_write(file, 0, bytes, size, &error), error);
    flr_file_close(file);
}

static void cut_anywhere(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("cut_anywhere");
    enum { COUNT = 7 };
    frame frames[COUNT];
    flr_blob blob = small_file(&random, frames, COUNT);
    uint64_t last = 0;
    for (size_t size = 0; size <= blob.size; size += size < 400 ? 1 : 7) {
        put_file("/cut.mcap", blob.bytes, size);
        flr_recording *recording;
        flr_result result = flr_recording_open(the_disk, "/cut.mcap", &recording, &error);
        if (size < 8) {
            assert_int_equal(result, FLR_BAD_INPUT);
            assert_non_null(strstr(error.message, "/cut.mcap"));
            continue;
        }
        assert_ok(result, error);
        uint64_t n = 0;
        flr_record_view view;
        while ((result = flr_recording_next(recording, &view, &error)) == FLR_OK)
            same(&frames[n++], &view);
        assert_int_equal(result, FLR_CLOSED);
        assert_true(n >= last && n <= COUNT);
        last = n;
        flr_recording_close(recording);
    }
    assert_int_equal(last, COUNT);
    flr_blob_free(&blob);
}

static void damage_is_told(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("damage_is_told");
    enum { COUNT = 7 };
    frame frames[COUNT];
    flr_blob blob = small_file(&random, frames, COUNT);
    uint64_t told = 0, given = 0;
    for (int i = 0; i < 3000; i++) {
        size_t at = flr_test_random_below(&random, (uint32_t)blob.size);
        uint8_t bit = (uint8_t)(1u << flr_test_random_below(&random, 8));
        blob.bytes[at] ^= bit;
        put_file("/bad.mcap", blob.bytes, blob.size);
        blob.bytes[at] ^= bit;
        flr_recording *recording;
        flr_result result = flr_recording_open(the_disk, "/bad.mcap", &recording, &error);
        if (result == FLR_OK) {
            uint64_t n = 0;
            flr_record_view view;
            /* a frame that is given is right: its chunk has a checksum */
            while ((result = flr_recording_next(recording, &view, &error)) == FLR_OK) {
                assert_true(view.frame.frame >= n && view.frame.frame < COUNT);
                n = view.frame.frame + 1;
                given++;
            }
            assert_int_equal(result, FLR_CLOSED);
            if (flr_recording_damaged(recording, &error)) result = FLR_BAD_INPUT;
            flr_recording_close(recording);
        }
        if (result != FLR_CLOSED) {
            told++;
            assert_non_null(strstr(error.message, "/bad.mcap"));
        }
    }
    print_message("%llu of 3000 flipped bits were told; %.2f of 7 frames came\n",
                  (unsigned long long)told, (double)given / 3000);
    assert_true(told > 1000 && given > 3000 * 4);
    flr_blob_free(&blob);
}

/* A chunk in the middle is damaged: what stands before and behind it is there, and what is lost is told. */
static void a_damaged_chunk_costs_its_frames(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("a_damaged_chunk");
    enum { COUNT = 7 };
    frame frames[COUNT];
    flr_blob blob = small_file(&random, frames, COUNT);
    /* the second chunk, found record by record */
    size_t at = 8, chunks = 0;
    for (;;) {
        uint64_t size = 0;
        for (size_t i = 0; i < 8; i++) size |= (uint64_t)blob.bytes[at + 1 + i] << 8 * i;
        if (blob.bytes[at] == 6 && ++chunks == 2) break;
        at += 9 + (size_t)size;
    }
    blob.bytes[at + 9 + 60] ^= 1;
    put_file("/bad.mcap", blob.bytes, blob.size);
    flr_recording *recording;
    assert_ok(flr_recording_open(the_disk, "/bad.mcap", &recording, &error), error);
    flr_record_view view;
    uint64_t seen = 0, first_lost = COUNT, last = 0;
    assert_false(flr_recording_damaged(recording, NULL));
    while (flr_recording_next(recording, &view, &error) == FLR_OK) {
        same(&frames[view.frame.frame], &view);
        if (view.frame.frame != seen && first_lost == COUNT) first_lost = seen;
        seen++;
        last = view.frame.frame;
    }
    assert_true(seen >= 3 && seen < COUNT && last == COUNT - 1);
    assert_true(flr_recording_complete(recording));
    assert_true(flr_recording_damaged(recording, &error));
    char wanted[300];
    snprintf(wanted, sizeof wanted,
             "/bad.mcap is damaged at 1 place (a chunk whose checksum is wrong at byte %zu): %llu "
             "frames from number %llu on are lost; the rest is used",
             at, (unsigned long long)(COUNT - seen), (unsigned long long)first_lost);
    assert_string_equal(error.message, wanted);
    flr_recording_close(recording);
    flr_blob_free(&blob);
}

static void limits_and_losses(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("limits_and_losses");
    flr_recorder *recorder = begin(the_disk, "/lost.mcap");
    frame f = make_frame(&random, 0);
    unsigned taken = 0;
    for (int i = 0; i < 100; i++)
        taken += flr_recorder_push(recorder, &f.head, f.hands, f.parts, f.contacts);
    assert_int_equal(taken, 64);
    assert_int_equal(flr_recorder_lost(recorder), 36);
    assert_ok(flr_recorder_finish(recorder, &error), error);

    /* a file that is there stays as it is */
    flr_recorder_def def = flr_default_recorder_def();
    def.path = "/lost.mcap";
    assert_true(flr_recorder_create(the_disk, &def, &recorder, &error) != FLR_OK);
    assert_non_null(strstr(error.message, "/lost.mcap"));
    def.path = "/other.mcap";
    def.parts = 5000;
    assert_int_equal(flr_recorder_create(the_disk, &def, &recorder, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "4096"));

    /* no recording at all */
    put_file("/text.mcap", (const uint8_t *)"solid part\n", 11);
    flr_recording *recording;
    assert_int_equal(flr_recording_open(the_disk, "/text.mcap", &recording, &error), FLR_BAD_INPUT);
    assert_int_equal(flr_recording_open(the_disk, "/none.mcap", &recording, &error), FLR_NOT_FOUND);
}

typedef struct attempt {
    frame f;
    char path[512];
} attempt;

static flr_result write_and_read(void *context, flr_error *e)
{
    const attempt *a = context;
    flr_env *env = flr_env_real();
    remove(a->path);
    flr_recorder_def def = flr_default_recorder_def();
    def.path = a->path;
    def.hands = HANDS;
    def.parts = PARTS;
    def.ring = 4;
    def.texts = texts;
    flr_recorder *recorder;
    flr_recording *recording;
    flr_record_view view;
    flr_result result = flr_recorder_create(env, &def, &recorder, e);
    if (result != FLR_OK) return result;
    flr_recorder_push(recorder, &a->f.head, a->f.hands, a->f.parts, a->f.contacts);
    result = flr_recorder_finish(recorder, e);
    if (result == FLR_OK) result = flr_recording_open(env, a->path, &recording, e);
    if (result != FLR_OK) return result;
    result = flr_recording_next(recording, &view, e);
    flr_recording_close(recording);
    return result;
}

static void without_memory(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("without_memory");
    attempt a = {.f = make_frame(&random, 0)};
    char *folder = flr_test_folder();
    snprintf(a.path, sizeof a.path, "%s/a.mcap", folder);
    flr_fail_alloc_each(write_and_read, &a);
    flr_test_folder_remove(folder);
}

static void pushing_takes_no_memory(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("pushing_takes_no_memory");
    frame f = make_frame(&random, 0);
    flr_recorder *recorder = begin(the_disk, "/memory.mcap");
    flr_fail_alloc_from(1);
    give(recorder, &f);
    uint64_t asked = flr_fail_alloc_asked();
    flr_result result = flr_recorder_service(recorder, &error);
    flr_fail_alloc_at(0);
    assert_int_equal(asked, 0);
    assert_int_equal(result, FLR_NO_MEMORY);
    assert_int_equal(flr_recorder_service(recorder, &error), FLR_IO);
    flr_recorder_abandon(recorder);
}

/* The end of the file tells its length; frames that are not wanted are passed over. */
static void length_and_skipping(void **state)
{
    (void)state;
    enum { FRAMES = 700 };
    flr_test_random random = flr_test_random_begin("length_and_skipping");
    flr_recorder *recorder = begin(the_disk, "/long.mcap");
    for (uint64_t i = 0; i < FRAMES; i++) {
        frame f = make_frame(&random, i);
        give(recorder, &f);
        assert_int_equal(flr_recorder_service(recorder, &error), FLR_OK);
    }
    flr_recording *r;
    uint64_t frames = 7;
    double seconds = 7;
    assert_int_equal(flr_recording_open(the_disk, "/long.mcap", &r, &error), FLR_OK);
    assert_false(flr_recording_length(r, &frames, &seconds)); /* it has no end yet */
    assert_true(frames == 7 && seconds == 7);
    flr_recording_close(r);
    assert_int_equal(flr_recorder_finish(recorder, &error), FLR_OK);
    assert_int_equal(flr_recording_open(the_disk, "/long.mcap", &r, &error), FLR_OK);
    assert_true(flr_recording_length(r, &frames, &seconds));
    assert_int_equal(frames, FRAMES);
    assert_true(fabs(seconds - (FRAMES - 1) * 1e-3) < 1e-9);
    /* every eighth, as those who show it want them */
    flr_record_view view;
    uint64_t count = 0;
    while (flr_recording_next(r, &view, &error) == FLR_OK) {
        assert_int_equal(view.frame.frame, 8 * count++);
        flr_recording_skip_to(r, view.frame.time_ns + 8000000);
    }
    assert_int_equal(count, (FRAMES + 7) / 8);
    assert_true(flr_recording_complete(r) && !flr_recording_damaged(r, NULL));
    flr_recording_close(r);
}

static void checksum(void **state)
{
    (void)state;
    /* any length and any place, against bit by bit */
    flr_test_random random = flr_test_random_begin("checksum");
    uint8_t bytes[80];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)flr_test_random_u64(&random);
    for (size_t from = 0; from < 9; from++)
        for (size_t to = from; to < sizeof bytes; to++) {
            uint32_t crc = UINT32_MAX;
            for (size_t i = from; i < to; i++) {
                crc ^= bytes[i];
                for (int bit = 0; bit < 8; bit++) crc = (crc & 1 ? 0xEDB88320 : 0) ^ crc >> 1;
            }
            assert_int_equal(flr_crc32(0, bytes + from, to - from), ~crc);
        }
    assert_int_equal(flr_crc32(0, "123456789", 9), 0xCBF43926);
    assert_int_equal(flr_crc32(flr_crc32(0, "12345", 5), "6789", 4), 0xCBF43926);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum),
        cmocka_unit_test(length_and_skipping),
        cmocka_unit_test(comes_back_to_the_bit),
        cmocka_unit_test(the_dead_leave_what_they_wrote),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_damaged_chunk_costs_its_frames),
        cmocka_unit_test(limits_and_losses),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(pushing_takes_no_memory),
    };
    return cmocka_run_group_tests_name("recording", tests, set_up, tear_down);
}
