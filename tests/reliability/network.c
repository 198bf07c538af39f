/* network PORT PID [--seed N] [--first N] [--connections N] [--messages N] [--minutes N] [--seconds-to-answer S]
 *         [--latency MS] [--scene FILE]: hostile clients of a controller at 127.0.0.1
 *
 * Sends cases in batches until both counts are reached or the time is over, each from an address of 127.0.0.0/8 by chance. After
 * each batch a new connection asks for /health: it must be answered in time, and frames of the loop must go on. All the while one
 * ordinary client sends a ping every few milliseconds; its longest wait is measured and, with --latency, bounded. Time in which the
 * machine ran other processes in place of the controller or the client does not count. A failure names
 * the first case of the batch: --first repeats from there. Talks to loopback only, and ends by itself. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "network_cases.h"
#include "support/websocket.h"

enum { BATCH = 32, ADDRESSES = 200, PING_US = 4000, PATIENCE_S = 60 };

typedef struct options {
    uint16_t port;
    pid_t pid;
    uint64_t seed, first, connections, messages;
    double minutes, answer, latency;
    const char *scene;
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
    int files[2]; /* the controller's control thread, the calling thread; -1: unknown */
} delays;

static delays open_delays(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)pid);
    return (delays){{open(path, O_RDONLY | O_CLOEXEC),
                     open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)}};
}

static double read_delays(const delays *d)
{
    double sum = 0;
    for (int i = 0; i < 2; i++) {
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
    for (int i = 0; i < 2; i++)
        if (d->files[i] >= 0) close(d->files[i]);
}

/* ---- an ordinary client ---- */

typedef struct ordinary {
    uint16_t port;
    pid_t pid;
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
    delays machine = open_delays(o->pid);
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

/* A connection from 127.0.0.X; -1: there is none. */
static int open_from(uint16_t port, uint32_t address)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (s < 0) return -1;
    /* a reset in place of a farewell: no port stays taken for a minute */
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(s, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + address);
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(s, (struct sockaddr *)&from, sizeof from) == 0 &&
        connect(s, (struct sockaddr *)&to, sizeof to) == 0)
        return s;
    close(s);
    return -1;
}

/* Sends what there is room for; the other side may have had enough. */
static void send_case(int s, const network_case *c)
{
    size_t at = 0;
    for (unsigned i = 0; i <= c->cut_count; i++) {
        size_t end = i < c->cut_count ? c->cuts[i] : c->size;
        if (end > c->size) end = c->size;
        if (end <= at) continue;
        ssize_t sent = send(s, c->bytes + at, end - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < (ssize_t)(end - at)) return;
        at = end;
    }
    if (c->half_close) shutdown(s, SHUT_WR);
}

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
static void drain(int s, answers *a)
{
    static uint8_t bytes[1 << 20];
    size_t size = 0;
    ssize_t got;
    while (size < sizeof bytes &&
           (got = recv(s, bytes + size, sizeof bytes - size, MSG_DONTWAIT)) > 0)
        size += (size_t)got;
    count_answers(bytes, size, a);
}

/* /health over a connection of its own. Returns the frames of the loop; less than 0: no answer. */
static double ask_health(const options *o, const delays *machine, double *seconds)
{
    static const char request[] =
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char text[8192];
    size_t size = 0;
    double started = now(), before = read_delays(machine), frames = -1;
    int s = open_from(o->port, 0);
    if (s < 0) return -1;
    if (send(s, request, sizeof request - 1, MSG_NOSIGNAL) == sizeof request - 1)
        while (size + 1 < sizeof text) {
            double left = PATIENCE_S - (now() - started);
            struct pollfd ready = {.fd = s, .events = POLLIN};
            if (left <= 0 || poll(&ready, 1, (int)(left * 1000) + 1) <= 0) break;
            ssize_t got = recv(s, text + size, sizeof text - 1 - size, 0);
            if (got <= 0) break;
            size += (size_t)got;
        }
    close(s);
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
static void send_batch(const options *o, run *r, int sockets[BATCH])
{
    static network_case c;
    r->kinds[0] = 0;
    for (int i = 0; i < BATCH; i++, r->number++) {
        network_make_case(&c, o->seed, r->number, o->scene);
        size_t used = strlen(r->kinds);
        if (!strstr(r->kinds, c.kind))
            snprintf(r->kinds + used, sizeof r->kinds - used, "%s%s", used ? ", " : "", c.kind);
        sockets[i] = open_from(o->port, 1 + (uint32_t)(r->number * 7 % ADDRESSES));
        if (sockets[i] < 0) continue;
        r->connections++;
        send_case(sockets[i], &c);
        r->messages += c.messages;
        if (c.reads) continue;
        close(sockets[i]);
        sockets[i] = -1;
    }
}

/* /health was answered after what was sent before it: whatever answers there are have come. */
static void end_batch(run *r, const int sockets[BATCH])
{
    for (int i = 0; i < BATCH; i++) {
        if (sockets[i] < 0) continue;
        drain(sockets[i], &r->answers);
        close(sockets[i]);
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
    other.port = o.port;
    other.pid = o.pid;
    run r = {.number = o.first, .frames = -1, .machine = open_delays(o.pid)};
    double started = now();
    if (pthread_create(&other.thread, NULL, run_ordinary, &other) != 0) return 2;
    const char *why = NULL;
    uint64_t batch = o.first;
    while (!why && now() - started < 60 * o.minutes &&
           (r.connections < o.connections || r.messages < o.messages)) {
        batch = r.number;
        atomic_store(&other.number, batch);
        int sockets[BATCH];
        send_batch(&o, &r, sockets);
        why = check(&o, &r, &other);
        end_batch(&r, sockets);
    }
    atomic_store(&other.stop, true);
    pthread_join(other.thread, NULL);
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
