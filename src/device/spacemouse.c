/* SpaceMouse: what spacenavd tells, integrated into a pose
 *
 * spacenavd has one socket for all its clients. One that says nothing gets packets of eight 32-bit
 * numbers of the machine: what it is (0 motion, 1 a button is pressed, 2 released), then for a motion
 * x y z rx ry rz and the milliseconds since the one before, for a button its number. A thread of
 * our own reads them and leaves the newest displacement for the loop; when the connection ends it
 * tries to get another.
 *
 * Its axes: x to the right, y up, z away from the person, which is a left-handed system; so
 * turns are left-handed, too. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"
#include "device/options.h"
#include "feeler/base.h"
#include "feeler/device.h"

enum {
    PACKET = 8 * sizeof(int32_t),
    RETRY_MS = 250,   /* between two attempts to connect */
    MAX_BAD = 64,     /* packets in a row that make no sense: then this is not spacenavd */
    MAX_VALUE = 10000 /* of an axis */
};

static const double full = 350;             /* counts of a cap that is fully displaced */
static const int64_t longest_ns = 50000000; /* a stall does not make the part jump */

/* what the thread tells the loop */
typedef struct cap {
    double move[3], turn[3]; /* -1 … 1, base's axes */
    uint32_t buttons;
    bool connected;
} cap;

typedef struct spacemouse {
    char path[FLR_DEVICE_OPTION_SIZE];
    double move, turn, dead;
    // the loop's
    bool started;
    int64_t now_ns;
    flr_pose pose;
    // between the two
    flr_latest *latest; /* a `cap` */
    // the thread's
    pthread_t thread;
    int wake, fd; /* an eventfd that ends the thread; the connection, -1: none */
    cap cap;
    unsigned bad;
    size_t got;
    unsigned char bytes[PACKET];
} spacemouse;

/* ---- opening ---- */

static flr_result read_options(spacemouse *s, const char *options, flr_error *error)
{
    const char *named = getenv("SPNAV_SOCKET");
    s->move = 0.1, s->turn = 1, s->dead = 0.05;
    flr_text_copy(s->path, sizeof s->path, named && *named ? named : "/var/run/spnav.sock");
    const flr_device_option known[] = {
        {.key = "move", .number = &s->move, .low = 0, .high = 10},
        {.key = "turn", .number = &s->turn, .low = 0, .high = 100},
        {.key = "dead", .number = &s->dead, .low = 0, .high = 0.9},
        {.key = "socket", .text = s->path},
    };
    return flr_device_options_read("spacemouse", options, known, sizeof known / sizeof known[0],
                                   error);
}

/* A connection, or -1 and errno. */
static int reach(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof to.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(to.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0) return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static flr_result unreachable(const char *path, int why, flr_error *error)
{
    if (why == ENOENT || why == ECONNREFUSED)
        return flr_fail(error, FLR_NOT_FOUND,
                        "spacemouse: spacenavd does not run (%s: %s); plug the device in, install "
                        "spacenavd (on Debian: apt install spacenavd) and start it; where it has "
                        "another socket, name it in SPNAV_SOCKET",
                        path, strerror(why));
    return flr_fail(error, why == EACCES ? FLR_DENIED : FLR_IO,
                    "spacemouse: cannot connect to spacenavd at %s: %s", path, strerror(why));
}

static flr_result spacemouse_look(const void *parameters, flr_device_info *info, flr_error *error)
{
    spacemouse s = {.fd = -1};
    flr_result result = read_options(&s, parameters, error);
    if (result != FLR_OK) return result;
    int fd = reach(s.path);
    if (fd < 0) return unreachable(s.path, errno, error);
    close(fd);
    flr_text_copy(info->name, sizeof info->name, "SpaceMouse (spacenavd)");
    info->buttons = 32;
    return FLR_OK;
}

/* ---- the thread ---- */

static void publish(spacemouse *s)
{
    s->cap.connected = s->fd >= 0;
    flr_latest_write(s->latest, &s->cap);
}

static void disconnect(spacemouse *s)
{
    close(s->fd);
    s->fd = -1;
    s->got = 0;
    s->bad = 0;
    s->cap = (cap){0}; // nobody holds it any more
    publish(s);
}

/* counts of an axis to -1 … 1; the rest of the way beyond the dead zone is the whole range */
static double shape(const spacemouse *s, int32_t value)
{
    double part = fmin(fabs((double)value) / full, 1);
    double beyond = part <= s->dead ? 0 : (part - s->dead) / (1 - s->dead);
    return value < 0 ? -beyond : beyond;
}

static bool take_motion(spacemouse *s, const int32_t *v)
{
    for (int i = 0; i < 6; i++)
        if (v[i] > MAX_VALUE || v[i] < -MAX_VALUE) return false;
    // to x right, y away, z up; turns from the left-handed to the right-handed way
    s->cap.move[0] = shape(s, v[0]);
    s->cap.move[1] = shape(s, v[2]);
    s->cap.move[2] = shape(s, v[1]);
    s->cap.turn[0] = -shape(s, v[3]);
    s->cap.turn[1] = -shape(s, v[5]);
    s->cap.turn[2] = -shape(s, v[4]);
    return true;
}

static bool take_packet(spacemouse *s)
{
    int32_t v[8];
    memcpy(v, s->bytes, sizeof v);
    if (v[0] == 0) return take_motion(s, v + 1);
    if ((v[0] != 1 && v[0] != 2) || v[1] < 0) return false;
    if (v[1] < 32) { // keyboards of the larger models have more, which nobody asks for
        uint32_t bit = (uint32_t)1 << v[1];
        s->cap.buttons = v[0] == 1 ? s->cap.buttons | bit : s->cap.buttons & ~bit;
    }
    return true;
}

/* all that has come; false: the connection is of no use any more */
static bool take_all(spacemouse *s)
{
    for (;;) {
        ssize_t got = recv(s->fd, s->bytes + s->got, PACKET - s->got, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        if (got == 0) return false;
        s->got += (size_t)got;
        if (s->got < PACKET) continue;
        s->got = 0;
        s->bad = take_packet(s) ? 0 : s->bad + 1;
        if (s->bad > MAX_BAD) return false;
        publish(s);
    }
}

static void *listen_to(void *context)
{
    spacemouse *s = context;
    for (;;) {
        struct pollfd wait[2] = {{.fd = s->wake, .events = POLLIN},
                                 {.fd = s->fd, .events = POLLIN}};
        int ready = poll(wait, 2, s->fd < 0 ? RETRY_MS : -1); // a negative fd is skipped
        if (ready > 0 && wait[0].revents) return NULL;
        if (s->fd < 0) {
            if (ready == 0 && (s->fd = reach(s->path)) >= 0) publish(s);
        } else if (ready > 0 && wait[1].revents && !take_all(s)) {
            disconnect(s);
        }
    }
}

/* ---- the driver ---- */

static void free_all(spacemouse *s)
{
    if (s->fd >= 0) close(s->fd);
    if (s->wake >= 0) close(s->wake);
    flr_latest_destroy(s->latest);
    free(s);
}

static flr_result start(spacemouse *s, flr_error *error)
{
    s->fd = reach(s->path);
    if (s->fd < 0) return unreachable(s->path, errno, error);
    s->wake = eventfd(0, EFD_CLOEXEC);
    if (s->wake < 0) return flr_fail(error, FLR_IO, "spacemouse: no eventfd: %s", strerror(errno));
    s->latest = flr_latest_create(sizeof(cap));
    if (!s->latest) return flr_fail(error, FLR_NO_MEMORY, "spacemouse: out of memory");
    publish(s);
    int why = pthread_create(&s->thread, NULL, listen_to, s);
    if (why) return flr_fail(error, FLR_NO_MEMORY, "spacemouse: no thread: %s", strerror(why));
    return FLR_OK;
}

static flr_result spacemouse_open(const void *parameters, void **state, flr_device_info *info,
                                  flr_error *error)
{
    spacemouse *s = calloc(1, sizeof *s);
    if (!s) return flr_fail(error, FLR_NO_MEMORY, "spacemouse: out of memory");
    s->fd = s->wake = -1;
    s->pose = flr_pose_identity();
    flr_result result = read_options(s, parameters, error);
    if (result == FLR_OK) result = start(s, error);
    if (result != FLR_OK) {
        free_all(s);
        return result;
    }
    flr_text_copy(info->name, sizeof info->name, "SpaceMouse (spacenavd)");
    info->buttons = 32;
    info->hardware = true;
    *state = s;
    return FLR_OK;
}

static void spacemouse_close(void *state)
{
    spacemouse *s = state;
    eventfd_write(s->wake, 1);
    pthread_join(s->thread, NULL);
    free_all(s);
}

static bool spacemouse_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    spacemouse *s = state;
    const cap *c = flr_latest_view(s->latest, NULL);
    int64_t passed = s->started ? now_ns - s->now_ns : 0;
    s->started = true;
    s->now_ns = now_ns;
    if (!c->connected) return false;
    double dt = 1e-9 * (double)(passed < 0 ? 0 : passed > longest_ns ? longest_ns : passed);
    flr_vec3 v = flr_vec3_scale(flr_vec3_make(c->move[0], c->move[1], c->move[2]), s->move);
    flr_vec3 w = flr_vec3_scale(flr_vec3_make(c->turn[0], c->turn[1], c->turn[2]), s->turn);
    s->pose.p = flr_vec3_add_scaled(s->pose.p, dt, v);
    flr_quat turned = flr_quat_from_rotation_vector(flr_vec3_scale(w, dt));
    s->pose.q = flr_quat_normalize(flr_quat_mul(turned, s->pose.q));
    sample->T_base_grip = s->pose;
    sample->twist = (flr_twist){.angular = w, .linear = v};
    sample->has_twist = true;
    sample->buttons = c->buttons;
    sample->time_ns = now_ns;
    return true;
}

const flr_device_driver flr_spacemouse_driver = {
    .name = "spacemouse",
    .summary = "a SpaceMouse, by spacenavd; no force",
    .open = spacemouse_open,
    .close = spacemouse_close,
    .read = spacemouse_read,
    .look = spacemouse_look,
};
