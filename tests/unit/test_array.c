/* arrays that grow */
#include "support/test.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "support/fail_alloc.h"

static void it_doubles_and_keeps_what_is_there(void **state)
{
    (void)state;
    uint32_t *list = NULL, count = 0, capacity = 0, grown = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t before = capacity;
        assert_true(FLR_GROW(list, count, capacity, 3));
        grown += capacity != before;
        if (capacity != before) assert_eq(capacity, before ? 2 * before : 3);
        list[count++] = i;
    }
    assert_eq(grown, 10); /* 3 * 2^9 = 1536 */
    for (uint32_t i = 0; i < count; i++) assert_eq(list[i], i);
    free(list);
}

static void what_cannot_be_had_changes_nothing(void **state)
{
    (void)state;
    double *list = NULL;
    size_t capacity = 0;
    assert_true(FLR_GROW(list, 0, capacity, 4));
    list[0] = 5;
    double *before = list;
    assert_false(flr_array_resize(&list, SIZE_MAX / 4, sizeof *list)); /* the product overflows */
    flr_fail_alloc_at(1);
    assert_false(flr_array_resize(&list, 1000, sizeof *list));
    flr_fail_alloc_at(0);
    assert_ptr_equal(list, before);
    assert_true(list[0] == 5);
    assert_eq(capacity, 4);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_doubles_and_keeps_what_is_there),
        cmocka_unit_test(what_cannot_be_had_changes_nothing),
    };
    return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
