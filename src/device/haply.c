/* Haply Inverse3, by the vendor's Inverse Service: JSON over a WebSocket at port 10001 of this machine
 *
 * The service answers each message with one state. A thread of ours sends the newest force, waits for the state, and again: it is as fast
 * as the service, or as the option `rate` allows. The grip's orientation and buttons are those of a VerseGrip where there is one. Metres;
 * x to the right, y away from the person, z up, as the base frame has it. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/text.h"
#include "device/json_look.h"
#include "device/options.h"
#include "device/servo.h"
#include "device/text_socket.h"
#include "feeler/device.h"
#include "feeler/env.h"

enum {
    ID_SIZE = 64,
    OPEN_MS = 1000,  /* for the first state */
    REPLY_MS = 100,  /* without an answer the command is sent again … */
    MAX_SILENT = 10, /* … so often, then the connection is made anew */
    RECONNECT_MS = 250,
    MAX_LATE = 10,    /* commands that may be late and are sent faster for it */
    NEWEST = 200,     /* messages that are passed over at most */
    MAX_INVERSES = 64 /* of the service that are looked at */
};

/* what its arm reaches, in the frame of its body: a box within it */
static const flr_box3 reach = {{-0.10, -0.22, 0.06}, {0.10, -0.02, 0.26}};
static const double farthest = 1;   /* metres: a place beyond is none */
static const double fastest = 20;   /* m/s: what seems faster is no motion of a hand */
static const double max_gap = 5e-3; /* seconds between samples that count as time to move */
static const unsigned max_odd =
    64; /* after so many samples in a row at a place too far away, the hand is there */

typedef struct haply {
    flr_servo servo; /* first: the driver shares its functions */
    char host[FLR_DEVICE_OPTION_SIZE], wanted[FLR_DEVICE_OPTION_SIZE];
    double port, force, rate;
    char id[ID_SIZE]; /* of the device at the service */
    flr_text_socket socket;
    pthread_t thread;
    int wake;
    atomic_bool closing;
    // the thread's
    flr_vec3 last, odd_at;
    int64_t last_ns;
    unsigned odd;
    bool has_last;
} haply;

static flr_result read_options(haply *d, const char *options, flr_error *error)
{
    d->port = 10001, d->force = 3, d->rate = 2000;
    flr_text_copy(d->host, sizeof d->host, "127.0.0.1");
    const flr_device_option known[] = {
        {.key = "device", .text = d->wanted},
        {.key = "force", .number = &d->force, .low = 0, .high = 10},
        {.key = "rate", .number = &d->rate, .low = 100, .high = 10000},
        {.key = "host", .text = d->host},
        {.key = "port", .number = &d->port, .low = 1, .high = 65535},
    };
    return flr_device_options_read("haply", options, known, sizeof known / sizeof known[0], error);
}

/* ---- what the service says ---- */

static bool vec3_of(flr_look_at v, flr_vec3 *p)
{
    return flr_look_number(flr_look_member(v, "x"), &p->x) &&
           flr_look_number(flr_look_member(v, "y"), &p->y) &&
           flr_look_number(flr_look_member(v, "z"), &p->z);
}

static bool quat_of(flr_look_at v, flr_quat *q)
{
    flr_vec3 xyz;
    double w;
    if (!flr_look_number(flr_look_member(v, "w"), &w) || !vec3_of(v, &xyz)) return false;
    const double n = sqrt(w * w + flr_vec3_dot(xyz, xyz));
    if (!(n > 0.5 && n < 2)) return false;
    *q = flr_quat_normalize((flr_quat){w, xyz.x, xyz.y, xyz.z});
    return true;
}

/* an id that can stand in a command as it is */
static bool is_id(const char *id)
{
    return id[0] &&
           strspn(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.") ==
               strlen(id);
}

/* The entry of the device among those of the service. Without a name, the first. */
static flr_look_at find_entry(flr_look_at root, const char *wanted, char id[ID_SIZE])
{
    const flr_look_at list = flr_look_member(root, "inverse3");
    for (size_t i = 0; i < MAX_INVERSES; i++) {
        const flr_look_at entry = flr_look_element(list, i);
        if (!entry.at) return entry;
        if (!flr_look_word(flr_look_member(entry, "device_id"), id, ID_SIZE) || !is_id(id))
            continue;
        if (!wanted[0] || strcmp(wanted, id) == 0) return entry;
    }
    return (flr_look_at){NULL, NULL};
}

static void take_grip(flr_look_at root, flr_device_sample *sample)
{
    static const char *const kinds[] = {"wireless_verse_grip", "verse_grip", "custom_verse_grip"};
    static const char *const names[] = {"a", "b", "c"};
    for (int k = 0; k < 3; k++) {
        const flr_look_at state =
            flr_look_member(flr_look_element(flr_look_member(root, kinds[k]), 0), "state");
        if (!quat_of(flr_look_member(state, "orientation"), &sample->T_base_grip.q)) continue;
        const flr_look_at buttons = flr_look_member(state, "buttons");
        for (unsigned i = 0; i < 3; i++)
            if (flr_look_true(flr_look_member(buttons, names[i]))) sample->buttons |= 1u << i;
        if (flr_look_true(flr_look_member(state, "button"))) sample->buttons |= 1;
        return;
    }
}

/* Is a place too far from the last one? False after enough samples in a row near the same new place. */
static bool is_jump(haply *d, flr_vec3 p, int64_t now_ns)
{
    const double seconds = 1e-9 * (double)(now_ns - d->last_ns),
                 longest = fastest * fmin(fmax(seconds, 1e-3), max_gap);
    if (!d->has_last || flr_vec3_distance(p, d->last) <= longest) return false;
    if (d->odd && flr_vec3_distance(p, d->odd_at) > fastest * max_gap) d->odd = 0;
    d->odd_at = p;
    return d->odd++ < max_odd;
}

/* False: the message is about something else, or about no place where a hand can be. */
static bool take_state(haply *d, int64_t now_ns, flr_device_sample *sample)
{
    const flr_look_at root = flr_look_text(d->socket.message, d->socket.size);
    char id[ID_SIZE];
    const flr_look_at state = flr_look_member(find_entry(root, d->id, id), "state");
    flr_vec3 p;
    *sample = (flr_device_sample){.T_base_grip = flr_pose_identity()};
    if (!vec3_of(flr_look_member(state, "cursor_position"), &p)) return false;
    if (!(flr_vec3_length(p) <= farthest)) return false;
    if (is_jump(d, p, now_ns)) return false;
    d->odd = 0;
    d->has_last = true;
    d->last = p;
    d->last_ns = now_ns;
    sample->T_base_grip.p = p;
    take_grip(root, sample);
    return true;
}

/* ---- commands ---- */

/* newtons with three places, whatever the language of the program */
static int print_force(char *text, size_t size, double newtons)
{
    const long mn = lround(1e3 * newtons);
    return snprintf(text, size, "%s%ld.%03ld", mn < 0 ? "-" : "", labs(mn) / 1000, labs(mn) % 1000);
}

static bool send_force(haply *d, flr_vec3 force)
{
    char text[512], x[24], y[24], z[24];
    print_force(x, sizeof x, force.x);
    print_force(y, sizeof y, force.y);
    print_force(z, sizeof z, force.z);
    const int size =
        snprintf(text, sizeof text,
                 "{\"inverse3\":[{\"device_id\":\"%s\",\"commands\":{\"set_cursor_force\":"
                 "{\"values\":{\"x\":%s,\"y\":%s,\"z\":%s}}}}]}",
                 d->id, x, y, z);
    return flr_text_socket_send(&d->socket, text, (size_t)size);
}

/* ---- connecting ---- */

static flr_result no_service(const haply *d, const flr_error *why, flr_error *error)
{
    return flr_fail(error, FLR_NOT_FOUND,
                    "haply: the Inverse Service does not run (%s); install the Haply Hub or the "
                    "service, start it (systemctl start haply-inverse-service), and connect the "
                    "device; where it has another port than %g, name it with port=",
                    why->message, d->port);
}

/* Connects, and finds the device in the first state. */
static flr_result find_device(haply *d, flr_error *error)
{
    flr_error why;
    flr_result result = flr_text_socket_open(&d->socket, d->host, (uint16_t)d->port, OPEN_MS, &why);
    if (result == FLR_NO_MEMORY) return flr_fail(error, result, "haply: out of memory");
    if (result == FLR_BAD_ARGUMENT) return flr_fail(error, result, "haply: %s", why.message);
    if (result != FLR_OK) return no_service(d, &why, error);
    if (flr_text_socket_receive(&d->socket, OPEN_MS, -1) != 1)
        result = flr_fail(error, FLR_IO, "haply: the Inverse Service says nothing; start it again");
    const flr_look_at root = flr_look_text(d->socket.message, d->socket.size);
    if (result == FLR_OK && !find_entry(root, d->wanted, d->id).at)
        result = d->wanted[0]
                     ? flr_fail(error, FLR_NOT_FOUND,
                                "haply: the service knows no device \"%.40s\"", d->wanted)
                     : flr_fail(error, FLR_NOT_FOUND,
                                "haply: the service runs and sees no Inverse3; connect it, and "
                                "allow your user to access its serial port (group dialout)");
    if (result != FLR_OK) flr_text_socket_close(&d->socket);
    return result;
}

/* ---- the thread ---- */

/* One turn: the force out, the state in. False: the connection is of no use any more. */
static bool turn(haply *d, flr_env *env, unsigned *silent)
{
    const int64_t now = flr_clock_ns(env);
    const flr_wrench wrench = flr_servo_take(&d->servo, now);
    if (!send_force(d, wrench.force)) return false;
    const int got = flr_text_socket_receive(&d->socket, REPLY_MS, d->wake);
    flr_device_sample sample;
    if (got < 0) return false;
    if (got == 0) { /* nothing is known of the hand: the guard lets the force fade */
        flr_servo_took(&d->servo, false);
        return ++*silent < MAX_SILENT;
    }
    *silent = 0;
    flr_servo_took(&d->servo, true);
    /* one that says more than it is asked is not lagged behind: the newest counts */
    for (int i = 0; i < NEWEST && flr_text_socket_receive(&d->socket, 0, -1) == 1; i++) continue;
    if (take_state(d, flr_clock_ns(env), &sample)) flr_servo_put(&d->servo, &sample);
    return true;
}

static void *serve(void *context)
{
    haply *d = context;
    flr_env *env = flr_env_real();
    const int64_t period = (int64_t)(1e9 / d->rate);
    int64_t next = flr_clock_ns(env);
    unsigned silent = 0;
    while (!atomic_load(&d->closing)) {
        if (d->socket.fd >= 0 && !turn(d, env, &silent)) {
            flr_servo_took(&d->servo, false);
            flr_text_socket_close(&d->socket);
        }
        const int64_t now = flr_clock_ns(env);
        if (d->socket.fd < 0 && !atomic_load(&d->closing)) {
            flr_error why;
            silent = 0;
            d->has_last = false;
            flr_sleep_until(env, now + (int64_t)RECONNECT_MS * 1000000);
            flr_text_copy(d->wanted, sizeof d->wanted, d->id); /* the same one, and no other */
            if (!atomic_load(&d->closing)) (void)find_device(d, &why);
        }
        /* what was late is caught up with, but for a stall */
        next = next + MAX_LATE * period > now ? next + period : now;
        flr_sleep_until(env, next);
    }
    if (d->socket.fd >= 0) (void)send_force(d, flr_vec3_zero());
    return NULL;
}

/* ---- the driver ---- */

static void free_all(haply *d)
{
    flr_servo_end(&d->servo);
    flr_text_socket_close(&d->socket);
    if (d->wake >= 0) close(d->wake);
    free(d);
}

static flr_result begin(haply **made, const void *parameters, flr_device_info *info,
                        flr_error *error)
{
    haply *d = calloc(1, sizeof *d);
    if (!d) return flr_fail(error, FLR_NO_MEMORY, "haply: out of memory");
    d->socket.fd = -1;
    d->wake = eventfd(0, EFD_CLOEXEC);
    flr_result result = d->wake < 0 ? flr_fail(error, FLR_IO, "haply: no eventfd") : FLR_OK;
    if (result == FLR_OK) result = read_options(d, parameters, error);
    if (result == FLR_OK) result = flr_servo_begin(&d->servo, "haply", error);
    if (result == FLR_OK) result = find_device(d, error);
    if (result != FLR_OK) {
        free_all(d);
        return result;
    }
    char name[128];
    snprintf(name, sizeof name, "Haply Inverse3 %.60s", d->id);
    flr_text_copy(info->name, sizeof info->name, name);
    info->force = d->force;
    info->rate = d->rate;
    info->buttons = 3;
    info->workspace = reach;
    info->hardware = true;
    *made = d;
    return FLR_OK;
}

static flr_result haply_look(const void *parameters, flr_device_info *info, flr_error *error)
{
    haply *d;
    const flr_result result = begin(&d, parameters, info, error);
    if (result == FLR_OK) free_all(d);
    return result;
}

static flr_result haply_open(const void *parameters, void **state, flr_device_info *info,
                             flr_error *error)
{
    haply *d;
    flr_result result = begin(&d, parameters, info, error);
    if (result != FLR_OK) return result;
    if (pthread_create(&d->thread, NULL, serve, d) != 0) {
        free_all(d);
        return flr_fail(error, FLR_NO_MEMORY, "haply: no thread could be had");
    }
    *state = d;
    return FLR_OK;
}

static void haply_close(void *state)
{
    haply *d = state;
    atomic_store(&d->closing, true);
    eventfd_write(d->wake, 1);
    pthread_join(d->thread, NULL);
    free_all(d);
}

const flr_device_driver flr_haply_driver = {
    .name = "haply",
    .summary = "a Haply Inverse3 with force, by the vendor's Inverse Service",
    .open = haply_open,
    .close = haply_close,
    .read = flr_servo_read,
    .write = flr_servo_write,
    .stop = flr_servo_stop,
    .look = haply_look,
};
