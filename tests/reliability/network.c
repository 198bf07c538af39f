/* network PORT PID [--seed N] [--first N] [--connections N] [--messages N] [--minutes N] [--seconds-to-answer S]
 *         [--latency MS] [--scene FILE] [--tls 1]: hostile clients of a controller at 127.0.0.1
 *
 * Sends cases in batches until both counts are reached or the time is over, each from an address of 127.0.0.0/8 by chance. After
 * each batch a new connection asks for /health: it must be answered in time, and frames of the loop must go on. All the while one
 * ordinary client sends a ping every few milliseconds; its longest wait is measured and, with --latency, bounded. Time in which the
 * machine ran other processes in place of the controller or the client does not count. A failure names
 * the first case of the batch: --first repeats from there. Talks to loopback only, and ends by itself.
 *
 * With --tls 1 the same cases go over TLS, and one of 16 clients breaks TLS itself. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "network_channel.h"
#include "support/websocket.h"

enum { BATCH = 32, ADDRESSES = 200, PING_US = 4000, PATIENCE_S = 60, BREAKS_TLS = 16 };

typedef struct options {
    uint16_t port;
    pid_t pid;
    uint64_t seed, first, connections, messages;
    double minutes, answer, latency;
    const char *scene;
    bool tls;
} options;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that a thread was ready to run while the machine ran others, and /proc/…/schedstat to read it from. What somebody waits
 * for while other processes have all processors says nothing about the controller, so it is measured and taken off. */
typedef struct delays {
    int files
        [3]; /* the controller's control thread, the calling thread, the relay's; -1: unknown or none */
} delays;

static int open_delay(int process, int thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", process, thread);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* `relay`: 0: none */
static delays open_delays(pid_t pid, int relay)
{
    return (delays){{open_delay(pid, pid), open_delay(getpid(), gettid()),
                     relay ? open_delay(getpid(), relay) : -1}};
}

static double read_delays(const delays *d)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        char text[128];
        ssize_t size = d->files[i] < 0 ? -1 : pread(d->files[i], text, sizeof text - 1, 0);
        if (size <= 0) continue;
        text[size] = 0;
        char *second;
        strtoull(text, &second, 10); /* time that it ran */
        sum += 1e-9 * (double)strtoull(second, NULL, 10);
    }
    return sum;
}

static void close_delays(const delays *d)
{
    for (int i = 0; i < 3; i++)
        if (d->files[i] >= 0) close(d->files[i]);
}

/* ---- an ordinary client ---- */

typedef struct ordinary {
    uint16_t port;
    pid_t pid;
    const network_relay *relay; /* NULL: none */
    pthread_t thread;
    atomic_bool stop, lost;
    atomic_ullong number;    /* of the batch that is being sent */
    double worst, worst_raw; /* seconds: less what other processes took, and as the clock has it */
    uint64_t count, slow;    /* pings; those that took more than 25 ms */
    uint64_t worst_at;       /* case that was being sent during the worst */
} ordinary;

static void *run_ordinary(void *context)
{
    ordinary *o = context;
    flr_test_ws ws;
    flr_message ping = {.id = FLR_MSG_PING}, message;
    if (!flr_test_ws_open(&ws, o->port, NULL, NULL)) {
        atomic_store(&o->lost, true);
        return NULL;
    }
    delays machine = open_delays(o->pid, o->relay ? atomic_load(&o->relay->id) : 0);
    flr_test_ws_hello(&ws, FLR_WIRE_ROLE_VIEWER, UINT32_MAX, NULL);
    while (!atomic_load(&o->stop) && !atomic_load(&o->lost)) {
        double sent = now(), before = read_delays(&machine);
        ping.request = (uint32_t)++o->count;
        bool there = flr_test_ws_send_message(&ws, &ping);
        while (there && (there = flr_test_ws_receive(&ws, PATIENCE_S, &message)))
            if (message.id == FLR_MSG_PONG && message.request == ping.request) break;
        if (!there) {
            atomic_store(&o->lost, true);
            break;
        }
        double waited = now() - sent;
        if (waited > o->worst_raw) o->worst_raw = waited;
        waited -= read_delays(&machine) - before;
        if (waited > o->worst) o->worst = waited, o->worst_at = atomic_load(&o->number);
        o->slow += waited > 0.025;
        usleep(PING_US);
    }
    close_delays(&machine);
    flr_test_ws_close(&ws);
    return NULL;
}

/* ---- hostile ones ---- */

/* What the controller answered to hostile clients: that commands were looked at, and not only sent. */
typedef struct answers {
    uint64_t welcomes, done, errors;
} answers;

/* Reads the frames behind the answer to an upgrade; the last one may be cut. */
static void count_answers(const uint8_t *bytes, size_t size, answers *a)
{
    static const char accepted[] = "HTTP/1.1 101 ", end[] = "\r\n\r\n";
    if (size < sizeof accepted || memcmp(bytes, accepted, sizeof accepted - 1) != 0) return;
    const uint8_t *at = memmem(bytes, size, end, 4), *last = bytes + size;
    for (at = at ? at + 4 : last; last - at >= 2;) {
        size_t more = at[1] == 126 ? 2 : at[1] == 127 ? 8 : 0;
        if ((size_t)(last - at) < 2 + more + 6) return;
        uint64_t length = more ? 0 : at[1];
        for (size_t i = 0; i < more; i++) length = length << 8 | at[2 + i];
        const uint8_t *message = at + 2 + more;
        unsigned id = message[4] | (unsigned)message[5] << 8;
        if (at[0] == 0x82 && length >= 6) {
            a->welcomes += id == FLR_MSG_WELCOME;
            a->done += id == FLR_MSG_DONE;
            a->errors += id == FLR_MSG_ERROR;
        }
        if (length > (uint64_t)(last - message)) return;
        at = message + length;
    }
}

/* Takes what has come. */
static void drain(network_channel *c, answers *a)
{
    static uint8_t bytes[1 << 20];
    size_t size = 0;
    int got;
    while (size < sizeof bytes && (got = network_receive(c, bytes + size, sizeof bytes - size)) > 0)
        size += (size_t)got;
    count_answers(bytes, size, a);
}

/* /health over a connection of its own. Returns the frames of the loop; less than 0: no answer. */
static double ask_health(const options *o, const delays *machine, double *seconds)
{
    static const char request[] =
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static network_case get = {.size = sizeof request - 1};
    memcpy(get.bytes, request, get.size);
    char text[8192];
    size_t size = 0;
    double started = now(), before = read_delays(machine), frames = -1;
    network_channel c = network_open(o->port, 0);
    if (c.socket < 0) return -1;
    network_send(&c, &get);
    int got;
    while (size + 1 < sizeof text && (got = network_await(&c, text + size, sizeof text - 1 - size,
                                                          PATIENCE_S - (now() - started))) > 0)
        size += (size_t)got;
    network_close(&c);
    text[size] = 0;
    const char *at = strstr(text, "\"frames\": ");
    if (at && !strncmp(text, "HTTP/1.1 200", 12)) frames = strtod(at + 10, NULL);
    *seconds = now() - started - (read_delays(machine) - before);
    return frames;
}

/* ---- the run ---- */

typedef struct run {
    uint64_t number, connections, messages;
    double worst_answer; /* seconds, of /health */
    double frames;       /* of the loop */
    answers answers;
    delays machine;
    char kinds[512]; /* of the last batch */
} run;

/* Opens the connections of a batch and sends. Those that do not read end at once, while the controller is busy with them. */
static void send_batch(const options *o, run *r, network_channel channels[BATCH])
{
    static network_case c;
    r->kinds[0] = 0;
    for (int i = 0; i < BATCH; i++, r->number++) {
        network_make_case(&c, o->seed, r->number, o->scene);
        size_t used = strlen(r->kinds);
        if (!strstr(r->kinds, c.kind))
            snprintf(r->kinds + used, sizeof r->kinds - used, "%s%s", used ? ", " : "", c.kind);
        uint32_t address = 1 + (uint32_t)(r->number * 7 % ADDRESSES);
        bool broken = o->tls && r->number % BREAKS_TLS == 0;
        channels[i] = broken ? network_open_broken(o->port, address, &c, r->number / BREAKS_TLS)
                             : network_open(o->port, address);
        if (channels[i].socket < 0) continue;
        r->connections++;
        if (!broken) network_send(&channels[i], &c);
        if (!broken) r->messages += c.messages;
        if (!c.reads) network_close(&channels[i]);
    }
}

/* /health was answered after what was sent before it: whatever answers there are have come. */
static void end_batch(run *r, network_channel channels[BATCH])
{
    for (int i = 0; i < BATCH; i++) {
        if (channels[i].socket < 0) continue;
        drain(&channels[i], &r->answers);
        network_close(&channels[i]);
    }
}

static const char *check(const options *o, run *r, ordinary *other)
{
    double seconds = 0, frames = ask_health(o, &r->machine, &seconds);
    if (kill(o->pid, 0) != 0) return "the controller has ended";
    if (seconds > r->worst_answer) r->worst_answer = seconds;
    if (frames < 0 || seconds > o->answer) return "/health was not answered in time";
    /* a frame takes a millisecond; where none has ended since the last time, one must soon */
    for (double end = now() + o->answer; frames <= r->frames && frames >= 0 && now() < end;) {
        usleep(PING_US);
        frames = ask_health(o, &r->machine, &seconds);
    }
    if (frames <= r->frames) return "the loop does not tick";
    r->frames = frames;
    if (atomic_load(&other->lost)) return "the ordinary client lost its connection";
    return NULL;
}

static bool read_options(int count, char **words, options *o)
{
    *o = (options){.seed = 1, .connections = 1000, .minutes = 60, .answer = 1};
    if (count < 3) return false;
    o->port = (uint16_t)strtoul(words[1], NULL, 10);
    o->pid = (pid_t)strtol(words[2], NULL, 10);
    for (int i = 3; i + 1 < count; i += 2) {
        const char *name = words[i], *value = words[i + 1];
        uint64_t whole = strtoull(value, NULL, 10);
        if (!strcmp(name, "--seed"))
            o->seed = whole;
        else if (!strcmp(name, "--first"))
            o->first = whole;
        else if (!strcmp(name, "--connections"))
            o->connections = whole;
        else if (!strcmp(name, "--messages"))
            o->messages = whole;
        else if (!strcmp(name, "--minutes"))
            o->minutes = strtod(value, NULL);
        else if (!strcmp(name, "--seconds-to-answer"))
            o->answer = strtod(value, NULL);
        else if (!strcmp(name, "--latency"))
            o->latency = strtod(value, NULL);
        else if (!strcmp(name, "--scene"))
            o->scene = value;
        else if (!strcmp(name, "--tls"))
            o->tls = whole != 0;
        else
            return false;
    }
    return o->port > 0 && o->pid > 0 && (count - 3) % 2 == 0;
}

int main(int count, char **words)
{
    options o;
    if (!read_options(count, words, &o)) {
        fprintf(stderr, "network: see the head of tests/reliability/network.c\n");
        return 2;
    }
    static ordinary other;
    static network_relay relay;
    if (o.tls) network_use_tls();
    if (o.tls && !network_relay_begin(&relay, o.port)) return 2;
    other.port = o.tls ? relay.port : o.port;
    other.relay = o.tls ? &relay : NULL;
    other.pid = o.pid;
    run r = {.number = o.first, .frames = -1, .machine = open_delays(o.pid, 0)};
    double started = now();
    if (pthread_create(&other.thread, NULL, run_ordinary, &other) != 0) return 2;
    const char *why = NULL;
    uint64_t batch = o.first;
    while (!why && now() - started < 60 * o.minutes &&
           (r.connections < o.connections || r.messages < o.messages)) {
        batch = r.number;
        atomic_store(&other.number, batch);
        network_channel channels[BATCH];
        send_batch(&o, &r, channels);
        why = check(&o, &r, &other);
        end_batch(&r, channels);
    }
    atomic_store(&other.stop, true);
    pthread_join(other.thread, NULL);
    if (o.tls) network_relay_end(&relay);
    if (!why) why = check(&o, &r, &other);
    /* else nothing was tried */
    if (!why && r.messages >= 1000 && (!r.answers.welcomes || !r.answers.done || !r.answers.errors))
        why =
            "hostile clients were not let in, or none of their commands was carried out or refused";
    /* judged at the end, for one long wait should not keep the rest from being tried */
    if (!why && o.latency > 0 && other.worst * 1e3 > o.latency)
        why = "the ordinary client waited too long";
    printf(
        "%llu HTTP connections and %llu WebSocket messages (%llu handshakes accepted, %llu "
        "commands carried out, %llu refused) in %.0f s; /health within %.0f ms; an "
        "ordinary client's %llu pings within %.0f ms, %llu over 25 ms (%.0f ms with the time that "
        "other processes took; the longest near case %llu)\n",
        (unsigned long long)r.connections, (unsigned long long)r.messages,
        (unsigned long long)r.answers.welcomes, (unsigned long long)r.answers.done,
        (unsigned long long)r.answers.errors, now() - started, r.worst_answer * 1e3,
        (unsigned long long)other.count, other.worst * 1e3, (unsigned long long)other.slow,
        other.worst_raw * 1e3, (unsigned long long)other.worst_at);
    close_delays(&r.machine);
    if (why)
        printf("%s, in or before the batch of %d from --seed %llu --first %llu: %s\n", why, BATCH,
               (unsigned long long)o.seed, (unsigned long long)batch, r.kinds);
    return why ? 1 : 0;
}
