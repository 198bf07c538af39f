/* Haply Inverse3, by a mock of its service: poses, forces, and a service that is lost, late, noisy or hostile */
#include <math.h>

#include "device/json_look.h"
#include "feeler/device.h"
#include "feeler/env.h"
#include "support/haply_mock.h"
#include "support/quiet.h"

static flr_error error;

static int begin(void **state)
{
    haply_mock *m = calloc(1, sizeof *m);
    assert_true(haply_mock_begin(m, 0));
    *state = m;
    return 0;
}

static int end(void **state)
{
    haply_mock_end(*state);
    free(*state);
    return 0;
}

static flr_device *open_one(haply_mock *m, const char *more)
{
    char text[100];
    flr_device *device = NULL;
    snprintf(text, sizeof text, "haply:port=%u%s", m->port, more);
    assert_ok(flr_device_open_named(text, &device, &error), error);
    return device;
}

/* Reads until `done`; a condition, not a time: it ends when the service has answered long enough in vain. */
#define UNTIL(device, sample, done)                                                                \
    for (unsigned until = (m)->answers + 200000; !(done);) {                                       \
        flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 200000);                    \
        (void)flr_device_read(device, flr_clock_ns(flr_env_real()), sample);                       \
        assert_lt((m)->answers, until);                                                            \
    }

static flr_guard *guard_of(flr_device *device)
{
    flr_guard_def def = flr_default_guard_def();
    flr_guard *guard;
    def.device = device;
    assert_ok(flr_guard_create(&def, &guard, &error), error);
    return guard;
}

/* One frame of a loop that wants `force` upwards. */
static bool frame(flr_guard *guard, flr_device *device, flr_device_sample *sample, double force,
                  flr_guard_output *out)
{
    flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 1000000);
    const int64_t now = flr_clock_ns(flr_env_real());
    flr_guard_input in = {.now_ns = now, .data_fresh = true};
    in.input_fresh = flr_device_read(device, now, sample);
    in.wrench.force.z = force;
    flr_guard_step(guard, &in, out);
    return in.input_fresh;
}

static void poses_and_forces(void **state)
{
    haply_mock *m = *state;
    flr_device *device = open_one(m, ",force=2.5");
    const flr_device_info *info = flr_device_get_info(device);
    flr_device_sample sample = {.number = 0};
    assert_string_equal(info->name, "Haply Inverse3 049D");
    assert_eq(info->force, 2.5);
    assert_eq(info->torque, 0);
    assert_true(info->hardware);
    m->x = 0.05;
    m->pressed = true;
    UNTIL(device, &sample, sample.buttons == 1 && fabs(sample.T_base_grip.p.x - 0.05) < 1e-9);
    assert_lt(fabs(sample.T_base_grip.p.y + 0.12), 1e-9);
    assert_lt(fabs(sample.T_base_grip.q.z - 1), 1e-9);
    /* the force reaches the service, ramped, within its limit */
    flr_guard *guard = guard_of(device);
    flr_guard_output out;
    const unsigned first = m->answers;
    while (fabs(m->fz - 2.5) > 1e-6) {
        frame(guard, device, &sample, 7, &out);
        assert_le(m->fz, 2.5 + 1e-6);
        assert_lt(m->answers, first + 400000);
    }
    flr_guard_destroy(guard);
    flr_device_close(device);
    /* what was sent last is on its way; the limit only ends a hung test */
    for (int i = 0; m->fz != 0 && i < 600000; i++)
        flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 1000000);
    assert_eq(m->fz, 0);
    assert_le(m->connections, 3); /* a machine that stalls for a second makes it connect anew */
}

/* It keeps up with a service that answers thousands of times a second; the rate is printed, and is the machine's affair. */
static void thousands_a_second(void **state)
{
    haply_mock *m = *state;
    enum { TURNS = 5000 };
    flr_device *device = open_one(m, ",rate=10000");
    flr_device_sample sample = {.number = 0};
    const unsigned first = m->answers;
    const int64_t began = flr_clock_ns(flr_env_real());
    UNTIL(device, &sample, m->answers >= first + TURNS);
    print_message("%.0f states a second\n",
                  (m->answers - first) / (1e-9 * (double)(flr_clock_ns(flr_env_real()) - began)));
    flr_device_close(device);
    assert_le(m->connections, 3);
}

/* Frames that never end and never make a message: closing does not wait for their end. */
static void closed_in_a_flood(void **state)
{
    haply_mock *m = *state;
    flr_device *device = open_one(m, "");
    flr_device_sample sample = {.number = 0};
    UNTIL(device, &sample, m->answers > 10);
    m->mood = HAPLY_PONGS;
    while (m->pongs < 100) flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 1000000);
    flr_device_close(device);
    assert_gt(m->pongs, 99);
}

/* Nothing that a service does makes a sample that is no place of a hand, or a force beyond the limit; afterwards it works again. */
static void whatever_the_service_does(void **state)
{
    haply_mock *m = *state;
    flr_device *device = open_one(m, "");
    flr_device_sample sample = {.number = 0};
    flr_guard *guard = guard_of(device);
    flr_guard_output out = {.gain = 0};
    for (int mood = HAPLY_WELL; mood <= HAPLY_GONE; mood++) {
        m->mood = HAPLY_WELL;
        const unsigned first = m->answers;
        while (out.wrench.force.z < 0.5) { /* it is felt, also after what came before */
            frame(guard, device, &sample, 1, &out);
            assert_lt(m->answers, first + 400000);
        }
        const flr_vec3 before = sample.T_base_grip.p;
        m->mood = mood;
        const bool answers = mood == HAPLY_WELL || mood == HAPLY_FLOOD || mood == HAPLY_JUMPS;
        for (int i = 0; answers ? i < 60 : out.wrench.force.z > 0; i++) {
            frame(guard, device, &sample, 1, &out);
            assert_true(out.wrench.force.z >= 0 && out.wrench.force.z <= 1);
            const double away = flr_vec3_distance(before, sample.T_base_grip.p);
            if (mood != HAPLY_JUMPS) assert_lt(away, 1e-9);
            assert_le(away, 0.31);
            assert_le(m->fz, 1.001);
        }
    }
    flr_guard_destroy(guard);
    flr_device_close(device);
}

static void nobody_there(void **state)
{
    haply_mock *m = *state;
    char text[100];
    flr_device *device = NULL;
    assert_int_equal(flr_device_open_named("haply:port=1", &device, &error), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, "Haply Hub"));
    assert_non_null(strstr(error.message, "127.0.0.1:1"));
    assert_int_equal(flr_device_open_named("haply:host=nowhere", &device, &error),
                     FLR_BAD_ARGUMENT);
    snprintf(text, sizeof text, "haply:port=%u,device=ABCD", m->port);
    assert_int_equal(flr_device_open_named(text, &device, &error), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, "\"ABCD\""));
    snprintf(text, sizeof text, "port=%u", m->port);
    flr_device_info info;
    assert_ok(flr_device_look(&flr_haply_driver, text, &info, &error), error);
    assert_string_equal(info.name, "Haply Inverse3 049D");
}

static flr_look_at at(const char *text) { return flr_look_text(text, strlen(text)); }

static void values_of_json(void **state)
{
    (void)state;
    const char *text = " {\"a\\\"b\": [1, {\"x\": \"}]\"}, -2.5e-1], \"c\" : {\"d\":true, "
                       "\"e\":\"word\", \"f\": 12}} ";
    double number = 0;
    char word[5];
    flr_look_at list = flr_look_member(at(text), "a\\\"b"), c = flr_look_member(at(text), "c");
    assert_true(flr_look_number(flr_look_element(list, 0), &number) && number == 1);
    assert_true(flr_look_number(flr_look_element(list, 2), &number) && number == -0.25);
    assert_false(flr_look_number(flr_look_element(list, 3), &number));
    assert_false(flr_look_number(flr_look_element(list, 1), &number));
    assert_true(flr_look_true(flr_look_member(c, "d")));
    assert_true(flr_look_word(flr_look_member(c, "e"), word, sizeof word));
    assert_string_equal(word, "word");
    assert_false(flr_look_word(flr_look_member(c, "e"), word, 4));
    assert_true(flr_look_number(flr_look_member(c, "f"), &number) && number == 12);
    assert_null(flr_look_member(c, "g").at);
    static const char *const wrong[] = {"",
                                        "{",
                                        "{\"x\"",
                                        "{\"x\":",
                                        "{\"x\":1e999}",
                                        "{\"x\":NaN}",
                                        "{\"x\":-}",
                                        "[1]",
                                        "{\"y\":[[[[,\"x\":1}",
                                        "{\"y\":}{,\"x\":1}",
                                        "{\"x\":1e}",
                                        "{\"y\" 1,\"x\":1}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(flr_look_number(flr_look_member(at(wrong[i]), "x"), &number));
    /* cut off and changed anywhere: nothing beyond the text is read (sanitizers look), and what is found is finite */
    const size_t size = strlen(text);
    for (size_t cut = 0; cut <= size; cut++)
        for (unsigned flip = 0; flip < 256; flip += 5) {
            char *copy = malloc(cut + 1);
            memcpy(copy, text, cut);
            if (cut) copy[(flip * 7) % cut] ^= (char)flip;
            flr_look_at root = flr_look_text(copy, cut);
            if (flr_look_number(flr_look_member(flr_look_member(root, "c"), "f"), &number))
                assert_true(isfinite(number));
            (void)flr_look_element(flr_look_member(root, "a\\\"b"), 2);
            free(copy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(poses_and_forces, begin, end),
        cmocka_unit_test_setup_teardown(thousands_a_second, begin, end),
        cmocka_unit_test_setup_teardown(closed_in_a_flood, begin, end),
        cmocka_unit_test_setup_teardown(whatever_the_service_does, begin, end),
        cmocka_unit_test_setup_teardown(nobody_there, begin, end),
        cmocka_unit_test(values_of_json),
    };
    return cmocka_run_group_tests_name("haply", tests, NULL, NULL);
}
