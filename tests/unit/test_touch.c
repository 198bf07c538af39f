/* the law of contact on a command line: what is given replaces, what is not stays */
#include "touch.h"

#include "support/test.h"

static void given_replaces(void **state)
{
    (void)state;
    flr_touch_options none = FLR_TOUCH_NOT_GIVEN;
    flr_contact_params params = flr_default_contact_params();
    params.force_layer = 5;
    params.displacement = -1e-3;
    params.stiffness = 300;
    params.model = FLR_FORCE_SMOOTH;
    flr_contact_params before = params;
    flr_touch_apply(&none, &params);
    assert_memory_equal(&params, &before, sizeof params);
    flr_touch_options all = {.force_layer = 0, .displace = 0, .stiffness = 10, .awareness = 1};
    flr_touch_apply(&all, &params);
    assert_int_equal(params.force_layer, 0);
    assert_eq(params.displacement, 0);
    assert_eq(params.stiffness, 10);
    assert_int_equal(params.model, FLR_FORCE_TANGENT);
    assert_true(params.awareness);
    all.awareness = 0;
    flr_touch_apply(&all, &params);
    assert_false(params.awareness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(given_replaces)};
    return cmocka_run_group_tests_name("touch", tests, NULL, NULL);
}
