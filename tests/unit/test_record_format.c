/* frames and notes as bytes: what is put comes back to the bit; what is cut off or too much is refused */
#include "record/record_format.h"

#include "support/frames.h"

typedef struct lists {
    flr_record_hand hands[FLR_RECORD_HANDS];
    flr_record_part parts[FLR_RECORD_PARTS];
    flr_record_contact contacts[FLR_RECORD_CONTACTS];
} lists;

static lists given, got;
static const flr_record_room room = {got.hands, got.parts, got.contacts};

static flr_record_view view_of(const flr_test_frame *f)
{
    flr_record_view view = {.frame = f->head,
                            .hands = f->hands,
                            .parts = f->parts,
                            .contacts = f->contacts,
                            .hand_count = FLR_TEST_HANDS,
                            .part_count = FLR_TEST_PARTS};
    if (view.frame.contacts_given > FLR_TEST_CONTACTS)
        view.frame.contacts_given = FLR_TEST_CONTACTS;
    return view;
}

static bool get(const flr_bytes *bytes, size_t size, flr_record_view *view)
{
    *view = (flr_record_view){0};
    return flr_record_get_frame((flr_bytes_look){bytes->data, size, false}, &room, view);
}

static void frames_come_back(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("frames_come_back");
    flr_bytes bytes = {0};
    flr_record_view back;
    for (uint64_t i = 0; i < 100; i++) {
        flr_test_frame f = flr_test_frame_make(&random, i);
        flr_record_view view = view_of(&f);
        bytes.size = 0;
        flr_record_put_frame(&bytes, &view);
        assert_true(get(&bytes, bytes.size, &back));
        flr_test_frame_same(&f, &back);
    }
    /* cut within a field, never taken for whole; between two, the rest is missing */
    size_t refused = 0;
    for (size_t size = 0; size < bytes.size; size++) refused += !get(&bytes, size, &back);
    assert_gt(refused, bytes.size * 9 / 10);
    flr_bytes_free(&bytes);
}

static void as_many_as_there_may_be(void **state)
{
    (void)state;
    flr_bytes bytes = {0};
    flr_record_view back, full = {.frame.contacts_given = FLR_RECORD_CONTACTS,
                                  .hands = given.hands,
                                  .parts = given.parts,
                                  .contacts = given.contacts,
                                  .hand_count = FLR_RECORD_HANDS,
                                  .part_count = FLR_RECORD_PARTS};
    flr_record_put_frame(&bytes, &full);
    assert_true(get(&bytes, bytes.size, &back));
    assert_int_equal(back.hand_count, FLR_RECORD_HANDS);
    assert_int_equal(back.part_count, FLR_RECORD_PARTS);
    assert_int_equal(back.frame.contacts_given, FLR_RECORD_CONTACTS);
    /* messages that follow on each other are one; one more of anything is too much */
    const flr_record_view more[] = {{.hands = given.hands, .hand_count = 1},
                                    {.parts = given.parts, .part_count = 1},
                                    {.contacts = given.contacts, .frame.contacts_given = 1}};
    size_t size = bytes.size;
    for (int i = 0; i < 3; i++) {
        bytes.size = size;
        flr_record_put_frame(&bytes, &more[i]);
        assert_false(get(&bytes, bytes.size, &back));
    }
    flr_bytes_free(&bytes);
}

static void notes_come_back(void **state)
{
    (void)state;
    const uint8_t data[] = {0, 1, 255};
    const flr_record_note notes[] = {
        {.frame = 1ull << 40, .text = "grab", .data = data, .size = sizeof data},
        {.frame = 0, .text = ""},
        {.frame = 7, .text = "a longer text, with b\xC3\xA4ll", .data = data, .size = 1}};
    flr_bytes bytes = {0}, text = {0};
    for (int i = 0; i < 3; i++) {
        flr_record_note back = {0};
        bytes.size = 0;
        flr_record_put_note(&bytes, &notes[i]);
        assert_true(
            flr_record_get_note((flr_bytes_look){bytes.data, bytes.size, false}, &text, &back));
        assert_int_equal(back.frame, notes[i].frame);
        assert_string_equal(back.text, notes[i].text);
        assert_int_equal(back.size, notes[i].size);
        if (back.size) assert_memory_equal(back.data, notes[i].data, back.size);
        assert_false(
            flr_record_get_note((flr_bytes_look){bytes.data, bytes.size - 1, false}, &text, &back));
    }
    flr_bytes_free(&bytes);
    flr_bytes_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_back),
        cmocka_unit_test(as_many_as_there_may_be),
        cmocka_unit_test(notes_come_back),
    };
    return cmocka_run_group_tests_name("record_format", tests, NULL, NULL);
}
