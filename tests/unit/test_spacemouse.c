/* SpaceMouse, by a fake spacenavd: motion, buttons, garbage, going away and coming back */
#include <math.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "feeler/device.h"
#include "feeler/env.h"
#include "support/fail_alloc.h"
#include "support/quiet.h"

/* ---- the fake ---- */

typedef struct daemon_fake {
    char *folder;
    char path[200];
    int listener, client; /* -1: none */
} daemon_fake;

static void fake_listen(daemon_fake *f)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    assert_lt(strlen(f->path), sizeof at.sun_path);
    memcpy(at.sun_path, f->path, strlen(f->path) + 1);
    unlink(f->path);
    f->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_ge(f->listener, 0);
    assert_int_equal(bind(f->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(f->listener, 4), 0);
}

static int fake_begin(void **state)
{
    daemon_fake *f = calloc(1, sizeof *f);
    f->folder = flr_test_folder();
    snprintf(f->path, sizeof f->path, "%.150s/spnav.sock", f->folder);
    f->client = -1;
    fake_listen(f);
    setenv("SPNAV_SOCKET", f->path, 1);
    *state = f;
    return 0;
}

static int fake_end(void **state)
{
    daemon_fake *f = *state;
    if (f->client >= 0) close(f->client);
    if (f->listener >= 0) close(f->listener);
    unsetenv("SPNAV_SOCKET");
    flr_test_folder_remove(f->folder);
    free(f);
    return 0;
}

static void fake_accept(daemon_fake *f)
{
    struct pollfd wait = {.fd = f->listener, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 5000), 1);
    f->client = accept(f->listener, NULL, NULL);
    assert_ge(f->client, 0);
}

static void fake_send(daemon_fake *f, const void *bytes, size_t size)
{
    assert_int_equal(send(f->client, bytes, size, MSG_NOSIGNAL), size);
}

static void fake_motion(daemon_fake *f, int x, int y, int z, int rx, int ry, int rz)
{
    const int32_t packet[8] = {0, x, y, z, rx, ry, rz, 16};
    fake_send(f, packet, sizeof packet);
}

static void fake_button(daemon_fake *f, bool press, int number)
{
    const int32_t packet[8] = {press ? 1 : 2, number};
    fake_send(f, packet, sizeof packet);
}

/* ---- a user ---- */

static flr_device *open_one(daemon_fake *f, const char *text)
{
    flr_device *device = NULL;
    flr_error error;
    assert_ok(flr_device_open_named(text, &device, &error), error);
    fake_accept(f);
    return device;
}

static void nap(void) { flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 1000000); }

typedef bool (*condition)(const flr_device_sample *sample);

/* reads at one moment of the device's time until the condition holds */
static void wait_for(flr_device *device, int64_t now, condition holds, flr_device_sample *sample)
{
    for (int i = 0; i < 300000; i++, nap())
        if (flr_device_read(device, now, sample) && holds(sample)) return;
    fail_msg("what was sent did not arrive");
}

static void wait_lost(flr_device *device, int64_t now)
{
    flr_device_sample sample;
    for (int i = 0; i < 300000; i++, nap())
        if (!flr_device_read(device, now, &sample)) return;
    fail_msg("the loss was not noticed");
}

static bool any(const flr_device_sample *s) { return s->number > 0; }
static bool moves(const flr_device_sample *s)
{
    return flr_vec3_length(s->twist.linear) + flr_vec3_length(s->twist.angular) > 0;
}
static bool rests(const flr_device_sample *s) { return !moves(s); }
static bool pressed(const flr_device_sample *s) { return s->buttons != 0; }
static bool released(const flr_device_sample *s) { return s->buttons == 0; }

static void assert_vec(flr_vec3 v, double x, double y, double z)
{
    if (fabs(v.x - x) + fabs(v.y - y) + fabs(v.z - z) > 1e-9)
        fail_msg("%g %g %g is not %g %g %g", v.x, v.y, v.z, x, y, z);
}

/* ---- tests ---- */

static void displacement_is_velocity(void **state)
{
    daemon_fake *f = *state;
    flr_device *device = open_one(f, "spacemouse:move=0.2,turn=2,dead=0");
    assert_true(flr_device_get_info(device)->hardware);
    assert_int_equal(flr_device_get_info(device)->force, 0);
    flr_device_sample s;
    wait_for(device, 1000, any, &s);
    assert_vec(s.T_base_grip.p, 0, 0, 0);

    // right, up, away; beyond the full way it is no faster
    fake_motion(f, 350, 0, 0, 0, 0, 0);
    wait_for(device, 1000, moves, &s);
    assert_vec(s.twist.linear, 0.2, 0, 0);
    for (int64_t t = 0; t <= 500; t++) assert_true(flr_device_read(device, 1000 + t * 1000000, &s));
    assert_vec(s.T_base_grip.p, 0.1, 0, 0);
    fake_motion(f, 0, 0, 0, 0, 0, 0);
    wait_for(device, s.time_ns, rests, &s);
    fake_motion(f, 0, 175, 9999, 0, 0, 0);
    wait_for(device, s.time_ns, moves, &s);
    assert_vec(s.twist.linear, 0, 0.2, 0.1);

    // left-handed turns become right-handed ones
    fake_motion(f, 0, 0, 0, 0, 0, 0);
    wait_for(device, s.time_ns, rests, &s);
    fake_motion(f, 0, 0, 0, 35, 0, 0);
    wait_for(device, s.time_ns, moves, &s);
    assert_vec(s.twist.angular, -0.2, 0, 0);
    fake_motion(f, 0, 0, 0, 0, 0, 0);
    wait_for(device, s.time_ns, rests, &s);
    fake_motion(f, 0, 0, 0, 0, -350, 0);
    wait_for(device, s.time_ns, moves, &s);
    assert_vec(s.twist.angular, 0, 0, 2);
    int64_t from = s.time_ns;
    for (int64_t t = 0; t <= 250; t++) assert_true(flr_device_read(device, from + t * 1000000, &s));
    assert_vec(flr_quat_to_rotation_vector(s.T_base_grip.q), 0, 0, 0.5);

    // a stall of the loop is no jump of the hand
    flr_vec3 before = s.T_base_grip.p;
    fake_motion(f, 350, 0, 0, 0, 0, 0);
    nap();
    assert_true(flr_device_read(device, s.time_ns + INT64_C(10000000000), &s));
    assert_le(flr_vec3_length(flr_vec3_sub(s.T_base_grip.p, before)), 0.0100001);
    flr_device_close(device);
}

static void dead_zone(void **state)
{
    daemon_fake *f = *state;
    flr_device *device = open_one(f, "spacemouse:move=1,dead=0.2");
    flr_device_sample s;
    fake_motion(f, 70, -70, 0, 0, 0, 0);
    fake_button(f, true, 0); // so that it is known when the motion has come
    wait_for(device, 0, pressed, &s);
    assert_vec(s.twist.linear, 0, 0, 0);
    fake_motion(f, 210, 0, -350, 0, 0, 0);
    wait_for(device, 0, moves, &s);
    assert_vec(s.twist.linear, 0.5, -1, 0); // the rest of the way is the whole range
    flr_device_close(device);
}

static void buttons(void **state)
{
    daemon_fake *f = *state;
    flr_device *device = open_one(f, "spacemouse");
    flr_device_sample s;
    fake_button(f, true, 3);
    wait_for(device, 0, pressed, &s);
    assert_int_equal(s.buttons, 8);
    fake_button(f, true, 40); // keys beyond 32 are nobody's
    fake_button(f, false, 3);
    wait_for(device, 0, released, &s);
    flr_device_close(device);
}

static void garbage(void **state)
{
    daemon_fake *f = *state;
    flr_device *device = open_one(f, "spacemouse:dead=0");
    flr_device_sample s;
    flr_test_random random = flr_test_random_begin("garbage");

    // packets that make no sense are skipped, and one that comes in pieces is whole
    const int32_t strange[3][8] = {{77, 1}, {1, -5}, {0, 0, 2000000000}};
    for (int i = 0; i < 3; i++) fake_send(f, strange[i], sizeof strange[i]);
    const int32_t packet[8] = {0, 350, 0, 0, 0, 0, 0, 16};
    fake_send(f, packet, 5);
    nap();
    fake_send(f, (const char *)packet + 5, sizeof packet - 5);
    wait_for(device, 0, moves, &s);
    assert_vec(s.twist.linear, 0.1, 0, 0);

    // a flood of pushes far beyond all counts, to and fro: the hand is no faster than at full displacement
    flr_vec3 before = s.T_base_grip.p;
    int64_t now = s.time_ns;
    for (int i = 0; i < 2000; i++) {
        const int most = i % 2 ? 10000 : -10000;
        fake_motion(f, most, -most, most, -most, most, -most);
        if (i % 10) continue;
        now += 1000000;
        if (!flr_device_read(device, now, &s)) continue;
        assert_true(flr_vec3_is_finite(s.T_base_grip.p));
        assert_le(flr_vec3_distance(s.T_base_grip.p, before), 0.1 * sqrt(3) * 1e-3 + 1e-9);
        before = s.T_base_grip.p;
    }
    fake_motion(f, 0, 0, 0, 0, 0, 0);
    wait_for(device, now, rests, &s);

    // who sends nothing but garbage is not spacenavd: dropped, tried again
    unsigned char junk[4096];
    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = (unsigned char)(0x80 | flr_test_random_below(&random, 128));
    fake_send(f, junk, sizeof junk);
    wait_lost(device, 0);
    close(f->client);
    fake_accept(f);
    wait_for(device, 0, any, &s);
    assert_vec(s.twist.linear, 0, 0, 0);
    flr_device_close(device);
}

static void gone_and_back(void **state)
{
    daemon_fake *f = *state;
    flr_device *device = open_one(f, "spacemouse:dead=0");
    flr_device_sample s;
    fake_motion(f, 350, 0, 0, 0, 0, 0);
    fake_button(f, true, 1);
    wait_for(device, 0, pressed, &s);
    assert_true(flr_device_read(device, 40000000, &s));
    flr_vec3 place = s.T_base_grip.p;
    assert_gt(place.x, 0.0039);

    // it goes: nothing new, nothing pressed, and the place is kept
    close(f->client), close(f->listener);
    unlink(f->path);
    wait_lost(device, 40000000);
    fake_listen(f);
    fake_accept(f);
    wait_for(device, 40000000, any, &s);
    assert_int_equal(s.buttons, 0);
    assert_vec(s.T_base_grip.p, place.x, 0, 0);
    fake_motion(f, 0, 350, 0, 0, 0, 0);
    wait_for(device, 40000000, moves, &s);
    assert_vec(s.twist.linear, 0, 0, 0.1);
    flr_device_close(device);
}

static void sentences(void **state)
{
    daemon_fake *f = *state;
    flr_device *device;
    flr_device_info info;
    flr_error error;
    assert_ok(flr_device_look(&flr_spacemouse_driver, NULL, &info, &error), error);
    assert_non_null(strstr(info.name, "SpaceMouse"));
    const struct {
        const char *text, *part;
        flr_result code;
    } cases[] = {
        {"spacemouse:move=fast", "number from 0 to 10", FLR_BAD_ARGUMENT},
        {"spacemouse:mvoe=1", "did you mean \"move\"", FLR_BAD_ARGUMENT},
        {"spacemouse:colour=1", "it has move, turn, dead, socket", FLR_BAD_ARGUMENT},
        {"spacemouse:loud", "key=value", FLR_BAD_ARGUMENT},
        {"spacemouse:socket=/nowhere/at/all", "apt install spacenavd", FLR_NOT_FOUND},
        {"spacemose", "did you mean \"spacemouse\"", FLR_NOT_FOUND},
        {"joystick", "spacemouse, openhaptics, forcedimension, haply", FLR_NOT_FOUND},
        {"hand", "needs to know what", FLR_BAD_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(flr_device_open_named(cases[i].text, &device, &error), cases[i].code);
        if (!strstr(error.message, cases[i].part))
            fail_msg("%s: %s lacks %s", cases[i].text, error.message, cases[i].part);
    }
    close(f->listener);
    unlink(f->path);
    f->listener = -1;
    assert_int_equal(flr_device_look(&flr_spacemouse_driver, NULL, &info, &error), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, f->path));
}

static flr_result open_close(void *context, flr_error *error)
{
    daemon_fake *f = context;
    flr_device *device;
    flr_result result = flr_device_open_named("spacemouse", &device, error);
    if (result == FLR_OK) flr_device_close(device);
    struct pollfd wait = {.fd = f->listener, .events = POLLIN};
    while (poll(&wait, 1, 0) == 1) close(accept(f->listener, NULL, NULL));
    return result;
}

static void no_memory(void **state) { flr_fail_alloc_each(open_close, *state); }

typedef struct reader {
    flr_device *device;
    int64_t now;
} reader;

static uint64_t read_often(void *context)
{
    reader *r = context;
    flr_device_sample s;
    uint64_t got = 0;
    for (int i = 0; i < 100; i++) got += flr_device_read(r->device, r->now += 1000000, &s);
    return got;
}

static void reading_is_quiet(void **state)
{
    daemon_fake *f = *state;
    reader r = {.device = open_one(f, "spacemouse")};
    flr_device_sample s;
    fake_motion(f, 200, 100, 50, 20, 300, 10);
    wait_for(r.device, 0, moves, &s);
    flr_test_quiet(read_often, &r, NULL);
    flr_device_close(r.device);
}

int main(void)
{
#define WITH_FAKE(test) cmocka_unit_test_setup_teardown(test, fake_begin, fake_end)
    const struct CMUnitTest tests[] = {
        WITH_FAKE(displacement_is_velocity),
        WITH_FAKE(dead_zone),
        WITH_FAKE(buttons),
        WITH_FAKE(garbage),
        WITH_FAKE(gone_and_back),
        WITH_FAKE(sentences),
        WITH_FAKE(no_memory),
        WITH_FAKE(reading_is_quiet),
    };
    return cmocka_run_group_tests_name("spacemouse", tests, NULL, NULL);
}
