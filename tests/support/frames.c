#include "support/frames.h"

#include <math.h>

#include "feeler/sim.h"

static flr_error error;
static flr_sim *the_sim;
static flr_env *the_disk;

int flr_test_disk_begin(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    the_sim = flr_sim_create(&def);
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    the_disk = flr_sim_node(the_sim, address);
    return 0;
}

int flr_test_disk_end(void **state)
{
    (void)state;
    flr_sim_destroy(the_sim);
    return 0;
}

flr_env *flr_test_disk(void) { return the_disk; }

void flr_test_disk_put(const char *path, const uint8_t *bytes, size_t size)
{
    flr_path_remove(the_disk, path, NULL);
    flr_file *file;
    assert_ok(flr_file_open(the_disk, path, FLR_FILE_CREATE, &file, &error), error);
    assert_ok(flr_file_write(file, 0, bytes, size, &error), error);
    flr_file_close(file);
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

flr_test_frame flr_test_frame_make(flr_test_random *random, uint64_t number)
{
    flr_test_frame f;
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
    f.head.contacts_given = flr_test_random_below(random, FLR_TEST_CONTACTS + 3);
    for (int i = 0; i < FLR_TEST_HANDS; i++) {
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
    for (int i = 0; i < FLR_TEST_PARTS; i++) {
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

const char *const flr_test_frame_texts[] = {"rate", "1000", "scene",
                                            "{\n  \"name\": \"b\xC3\xA4ll\"\n}", NULL};

flr_recorder *flr_test_frames_begin(const char *path)
{
    flr_recorder_def def = flr_default_recorder_def();
    def.path = path;
    def.hands = FLR_TEST_HANDS;
    def.parts = FLR_TEST_PARTS;
    def.contacts = FLR_TEST_CONTACTS;
    def.ring = 64;
    def.texts = flr_test_frame_texts;
    flr_recorder *recorder;
    assert_ok(flr_recorder_create(the_disk, &def, &recorder, &error), error);
    return recorder;
}

void flr_test_frame_give(flr_recorder *recorder, const flr_test_frame *f)
{
    assert_true(flr_recorder_push(recorder, &f->head, f->hands, f->parts, f->contacts));
}

void flr_test_frame_same(const flr_test_frame *f, const flr_record_view *view)
{
    flr_record_frame head = f->head;
    if (head.contacts_given > FLR_TEST_CONTACTS) head.contacts_given = FLR_TEST_CONTACTS;
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
    assert_int_equal(view->hand_count, FLR_TEST_HANDS);
    assert_int_equal(view->part_count, FLR_TEST_PARTS);
    for (int i = 0; i < FLR_TEST_HANDS; i++) { /* one by one: there is padding */
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

uint64_t flr_test_frames_read(const char *path, const flr_test_frame *frames, uint64_t count,
                              bool *complete)
{
    flr_recording *recording;
    assert_ok(flr_recording_open(the_disk, path, &recording, &error), error);
    assert_string_equal(flr_recording_text(recording, "rate"), "1000");
    assert_string_equal(flr_recording_text(recording, "scene"), flr_test_frame_texts[3]);
    assert_null(flr_recording_text(recording, "nothing"));
    uint64_t n = 0;
    flr_record_view view;
    flr_result result;
    while ((result = flr_recording_next(recording, &view, &error)) == FLR_OK) {
        assert_lt(n, count);
        flr_test_frame_same(&frames[n++], &view);
    }
    assert_int_equal(result, FLR_CLOSED);
    *complete = flr_recording_complete(recording);
    flr_recording_close(recording);
    return n;
}
