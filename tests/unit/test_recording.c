/* reading recordings: what went in comes out to the bit; what is cut off or damaged costs what it must, and is reported */
#include <math.h>

#include "support/frames.h"

static flr_error error;

/* The end of the file tells its length; frames that are not wanted are passed over. */
static void length_and_skipping(void **state)
{
    (void)state;
    enum { FRAMES = 700 };
    flr_test_random random = flr_test_random_begin("length_and_skipping");
    flr_recorder *recorder = flr_test_frames_begin("/long.mcap");
    for (uint64_t i = 0; i < FRAMES; i++) {
        flr_test_frame f = flr_test_frame_make(&random, i);
        flr_test_frame_give(recorder, &f);
        assert_int_equal(flr_recorder_service(recorder, &error), FLR_OK);
    }
    flr_recording *r;
    uint64_t frames = 7;
    double seconds = 7;
    assert_int_equal(flr_recording_open(flr_test_disk(), "/long.mcap", &r, &error), FLR_OK);
    assert_false(flr_recording_length(r, &frames, &seconds)); /* it has no end yet */
    assert_eq(frames, 7);
    assert_eq(seconds, 7);
    flr_recording_close(r);
    assert_int_equal(flr_recorder_finish(recorder, &error), FLR_OK);
    assert_int_equal(flr_recording_open(flr_test_disk(), "/long.mcap", &r, &error), FLR_OK);
    assert_true(flr_recording_length(r, &frames, &seconds));
    assert_int_equal(frames, FRAMES);
    assert_lt(fabs(seconds - (FRAMES - 1) * 1e-3), 1e-9);
    /* every eighth, as those who show it want them */
    flr_record_view view;
    uint64_t count = 0;
    while (flr_recording_next(r, &view, &error) == FLR_OK) {
        assert_int_equal(view.frame.frame, 8 * count++);
        flr_recording_skip_to(r, view.frame.time_ns + 8000000);
    }
    assert_int_equal(count, (FRAMES + 7) / 8);
    assert_true(flr_recording_complete(r));
    assert_false(flr_recording_damaged(r, NULL));
    flr_recording_close(r);
}

static void comes_back_to_the_bit(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("comes_back_to_the_bit");
    enum { COUNT = 2000 };
    flr_test_frame *frames = malloc(COUNT * sizeof *frames);
    flr_recorder *recorder = flr_test_frames_begin("/whole.mcap");
    for (uint64_t i = 0; i < COUNT; i++) {
        frames[i] = flr_test_frame_make(&random, i);
        flr_test_frame_give(recorder, &frames[i]);
        if (i % 50 == 49) assert_ok(flr_recorder_service(recorder, &error), error);
    }
    assert_int_equal(flr_recorder_lost(recorder), 0);
    assert_ok(flr_recorder_finish(recorder, &error), error);
    bool complete;
    assert_int_equal(flr_test_frames_read("/whole.mcap", frames, COUNT, &complete), COUNT);
    assert_true(complete);
    free(frames);
}

/* a small recording of a few chunks as bytes */
static flr_blob small_file(flr_test_random *random, flr_test_frame *frames, uint64_t count)
{
    flr_path_remove(flr_test_disk(), "/small.mcap", NULL);
    flr_recorder *recorder = flr_test_frames_begin("/small.mcap");
    for (uint64_t i = 0; i < count; i++) {
        frames[i] = flr_test_frame_make(random, i);
        frames[i].head.time_ns = (int64_t)i * 130000000; /* two or three frames in a chunk */
        flr_test_frame_give(recorder, &frames[i]);
    }
    assert_ok(flr_recorder_finish(recorder, &error), error);
    flr_blob blob;
    assert_ok(flr_file_read_all(flr_test_disk(), "/small.mcap", 1 << 24, &blob, &error), error);
    return blob;
}

static void cut_anywhere(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("cut_anywhere");
    enum { COUNT = 7 };
    flr_test_frame frames[COUNT];
    flr_blob blob = small_file(&random, frames, COUNT);
    uint64_t last = 0;
    for (size_t size = 0; size <= blob.size; size += size < 400 ? 1 : 7) {
        flr_test_disk_put("/cut.mcap", blob.bytes, size);
        flr_recording *recording;
        flr_result result = flr_recording_open(flr_test_disk(), "/cut.mcap", &recording, &error);
        if (size < 8) {
            assert_int_equal(result, FLR_BAD_INPUT);
            assert_non_null(strstr(error.message, "/cut.mcap"));
            continue;
        }
        assert_ok(result, error);
        uint64_t n = 0;
        flr_record_view view;
        while ((result = flr_recording_next(recording, &view, &error)) == FLR_OK)
            flr_test_frame_same(&frames[n++], &view);
        assert_int_equal(result, FLR_CLOSED);
        assert_ge(n, last);
        assert_le(n, COUNT);
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
    flr_test_frame frames[COUNT];
    flr_blob blob = small_file(&random, frames, COUNT);
    uint64_t told = 0, given = 0;
    for (int i = 0; i < 3000; i++) {
        size_t at = flr_test_random_below(&random, (uint32_t)blob.size);
        uint8_t bit = (uint8_t)(1u << flr_test_random_below(&random, 8));
        blob.bytes[at] ^= bit;
        flr_test_disk_put("/bad.mcap", blob.bytes, blob.size);
        blob.bytes[at] ^= bit;
        flr_recording *recording;
        flr_result result = flr_recording_open(flr_test_disk(), "/bad.mcap", &recording, &error);
        if (result == FLR_OK) {
            uint64_t n = 0;
            flr_record_view view;
            /* a frame that is given is right: its chunk has a checksum */
            while ((result = flr_recording_next(recording, &view, &error)) == FLR_OK) {
                assert_ge(view.frame.frame, n);
                assert_lt(view.frame.frame, COUNT);
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
    print_message("%llu of 3000 flipped bits were reported; %.2f of 7 frames came\n",
                  (unsigned long long)told, (double)given / 3000);
    assert_gt(told, 1000);
    assert_gt(given, 3000 * 4);
    flr_blob_free(&blob);
}

/* A chunk in the middle is damaged: what stands before and behind it is there, and the loss is reported. */
static void a_damaged_chunk_costs_its_frames(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("a_damaged_chunk");
    enum { COUNT = 7 };
    flr_test_frame frames[COUNT];
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
    flr_test_disk_put("/bad.mcap", blob.bytes, blob.size);
    flr_recording *recording;
    assert_ok(flr_recording_open(flr_test_disk(), "/bad.mcap", &recording, &error), error);
    flr_record_view view;
    uint64_t seen = 0, first_lost = COUNT, last = 0;
    assert_false(flr_recording_damaged(recording, NULL));
    while (flr_recording_next(recording, &view, &error) == FLR_OK) {
        flr_test_frame_same(&frames[view.frame.frame], &view);
        if (view.frame.frame != seen && first_lost == COUNT) first_lost = seen;
        seen++;
        last = view.frame.frame;
    }
    assert_ge(seen, 3);
    assert_lt(seen, COUNT);
    assert_eq(last, COUNT - 1);
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

static void no_recording_at_all(void **state)
{
    (void)state;
    flr_test_disk_put("/text.mcap", (const uint8_t *)"solid part\n", 11);
    flr_recording *recording;
    assert_int_equal(flr_recording_open(flr_test_disk(), "/text.mcap", &recording, &error),
                     FLR_BAD_INPUT);
    assert_int_equal(flr_recording_open(flr_test_disk(), "/none.mcap", &recording, &error),
                     FLR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(length_and_skipping),
        cmocka_unit_test(comes_back_to_the_bit),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_damaged_chunk_costs_its_frames),
        cmocka_unit_test(no_recording_at_all),
    };
    return cmocka_run_group_tests_name("recording", tests, flr_test_disk_begin, flr_test_disk_end);
}
