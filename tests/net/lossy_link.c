/* lossy_link: machines that are none, joined by a network that is bad on purpose
 *
 *     lossy_link SIDES [delay MS] [jitter MS] [loss SHARE] [duplicate SHARE] [reorder SHARE] [hold MS]
 *                [rate BYTES/S] [queue MS] [seed N] [seconds S]
 *
 * Makes SIDES network namespaces (2 to 8), each with a loopback and one interface at 10.77.0.1, 10.77.0.2, …, and carries IP
 * packets between these in user space: late by `delay` and up to `jitter` more, some lost, some twice, some held back, no
 * faster than `rate` in each direction between two sides (what would wait longer than `queue` is dropped). Chance comes from
 * `seed`, for each direction by itself. Needs root; nothing outside the namespaces is touched, and there is no way out of them.
 *
 * Prints for each side "side N ADDRESS PID": commands run there by  nsenter --net=/proc/PID/ns/net COMMAND.  Then "ready".
 * Reads orders from standard input, a line each: the words above with their values, "cut N" (nothing to or from side N),
 * "heal", "stats", "drain" (waits until no packet is under way). Prints "done" after each line, when it is in force. Ends at "quit", at the end of its input, after `seconds` (120), or by a signal; prints what it counted as one
 * line of JSON. With it the namespaces end: they are held by children that die with it.
 *
 * Exit codes: 0 ok, 2 usage, 77 may not make namespaces or interfaces here. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIDES = 8, PACKET = 2048, WAITING = 65536, SKIP = 77, MTU = 1500, QUEUE = 100000 };

/* ---- what the network does ---- */

typedef struct conditions {
    double delay, jitter, hold, queue; /* ms */
    double loss, duplicate, reorder;   /* share */
    double rate;                       /* bytes/s; 0: no bound */
    double seed, seconds;
} conditions;

static const struct {
    const char *name;
    size_t place;
    double most;
} words[] = {
    {"delay", offsetof(conditions, delay), 60000},
    {"jitter", offsetof(conditions, jitter), 60000},
    {"hold", offsetof(conditions, hold), 60000},
    {"queue", offsetof(conditions, queue), 60000},
    {"loss", offsetof(conditions, loss), 1},
    {"duplicate", offsetof(conditions, duplicate), 1},
    {"reorder", offsetof(conditions, reorder), 1},
    {"rate", offsetof(conditions, rate), 1e12},
    {"seed", offsetof(conditions, seed), 9e15},
    {"seconds", offsetof(conditions, seconds), 100000},
};

/* one word with its value; false: it is none */
static bool set(conditions *now, const char *word, const char *value)
{
    char *rest;
    double number = value ? strtod(value, &rest) : 0;
    for (size_t i = 0; value && i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, word) != 0) continue;
        if (*rest || !(number >= 0) || number > words[i].most) return false;
        memcpy((char *)now + words[i].place, &number, sizeof number);
        return true;
    }
    return false;
}

typedef struct waiting {
    int64_t due_ns;
    uint64_t order; /* of those due at the same time */
    uint64_t index; /* in its direction, as it came */
    int from, to;
    size_t size;
    uint8_t *bytes;
} waiting;

typedef struct direction {
    uint64_t random;
    int64_t free_ns; /* when the last packet is through at this rate */
    uint64_t came;   /* packets so far */
    uint64_t newest; /* highest index delivered */
} direction;

static conditions net = {.hold = 20, .queue = 500, .seed = 1, .seconds = 120};
static int tuns[SIDES];
static pid_t holders[SIDES];
static int sides;
static bool is_cut[SIDES];
static direction ways[SIDES][SIDES];
static waiting heap[WAITING];
static size_t heap_count;
static uint64_t orders;
static struct {
    uint64_t sent, delivered, lost, duplicated, held, overtaken, overflowed, cut, other;
} counts;
static volatile sig_atomic_t stopped;
static bool draining; /* "done" is printed when nothing is under way any more */

static int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* evenly in [0, 1); splitmix64 */
static double chance(direction *way)
{
    uint64_t z = (way->random += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* ---- packets on their way: a heap by time ---- */

static bool before(const waiting *a, const waiting *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static bool push(waiting item)
{
    if (heap_count == WAITING) return false;
    size_t at = heap_count++;
    while (at > 0 && before(&item, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = item;
    return true;
}

static waiting pop(void)
{
    waiting first = heap[0], last = heap[--heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap_count; at = child) {
        if (child + 1 < heap_count && before(&heap[child + 1], &heap[child])) child++;
        if (!before(&heap[child], &last)) break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return first;
}

static void put_on_way(int from, int to, const uint8_t *bytes, size_t size, int64_t now)
{
    direction *way = &ways[from][to];
    // each packet takes the same number of draws, so that one condition does not shift the chance of another
    double lost = chance(way), twice = chance(way), held = chance(way), late[2];
    late[0] = chance(way), late[1] = chance(way);
    way->came++;
    counts.sent++;
    if (lost < net.loss) {
        counts.lost++;
        return;
    }
    int copies = twice < net.duplicate ? 2 : 1;
    counts.duplicated += copies == 2;
    counts.held += held < net.reorder;
    for (int i = 0; i < copies; i++) {
        int64_t leaves = now;
        if (net.rate > 0) {
            if (way->free_ns < now) way->free_ns = now;
            if ((double)(way->free_ns - now) > net.queue * 1e6) {
                counts.overflowed++;
                continue;
            }
            way->free_ns += (int64_t)((double)size / net.rate * 1e9);
            leaves = way->free_ns;
        }
        double ms = net.delay + late[i] * net.jitter + (held < net.reorder ? net.hold : 0);
        waiting item = {.due_ns = leaves + (int64_t)(ms * 1e6),
                        .order = orders++,
                        .index = way->came,
                        .from = from,
                        .to = to,
                        .size = size,
                        .bytes = malloc(size)};
        if (!item.bytes) abort();
        memcpy(item.bytes, bytes, size);
        if (!push(item)) {
            free(item.bytes);
            counts.overflowed++;
        }
    }
}

static void deliver(int64_t now)
{
    while (heap_count > 0 && heap[0].due_ns <= now) {
        waiting item = pop();
        direction *way = &ways[item.from][item.to];
        if (is_cut[item.from] || is_cut[item.to]) {
            counts.cut++;
        } else if (write(tuns[item.to], item.bytes, item.size) == (ssize_t)item.size) {
            counts.delivered++;
            counts.overtaken += item.index < way->newest;
            if (item.index > way->newest) way->newest = item.index;
        } else {
            counts.overflowed++;
        }
        free(item.bytes);
    }
}

/* what a side sent: IPv4 to another side; all else is dropped */
static void take_from(int side)
{
    uint8_t bytes[PACKET];
    for (int i = 0; i < 64; i++) {
        ssize_t size = read(tuns[side], bytes, sizeof bytes);
        if (size <= 0) return;
        bool ours = size >= 20 && bytes[0] >> 4 == 4 && bytes[16] == 10 && bytes[17] == 77 &&
                    bytes[18] == 0 && bytes[19] >= 1 && bytes[19] <= sides && bytes[19] != side + 1;
        if (!ours)
            counts.other++;
        else if (is_cut[side] || is_cut[bytes[19] - 1])
            counts.cut++;
        else
            // by the clock of now: where this process was interrupted since the last packet, an older time shortens the way
            put_on_way(side, bytes[19] - 1, bytes, (size_t)size, clock_ns());
    }
}

/* ---- the namespaces ---- */

static bool set_up(int socket, const char *name)
{
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    return ioctl(socket, SIOCSIFFLAGS, &request) == 0;
}

static bool set_address(int socket, unsigned long what, uint32_t address)
{
    struct ifreq request = {.ifr_name = "link"};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(address)}};
    memcpy(&request.ifr_addr, &in, sizeof in);
    return ioctl(socket, what, &request) == 0;
}

/* a new namespace with its interface; returns the side of the interface that is ours, -1: may not */
static int make_interface(int side)
{
    if (unshare(CLONE_NEWNET) != 0) return -1;
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "link", .ifr_flags = IFF_TUN | IFF_NO_PI};
    struct ifreq mtu = {.ifr_name = "link", .ifr_mtu = MTU};
    // a busy machine must not lose what we did not lose
    struct ifreq queue = {.ifr_name = "link", .ifr_qlen = QUEUE};
    bool good = tun >= 0 && socket_fd >= 0 && ioctl(tun, TUNSETIFF, &request) == 0 &&
                ioctl(socket_fd, SIOCSIFMTU, &mtu) == 0 &&
                ioctl(socket_fd, SIOCSIFTXQLEN, &queue) == 0 &&
                set_address(socket_fd, SIOCSIFADDR, 0x0a4d0001u + (uint32_t)side) &&
                set_address(socket_fd, SIOCSIFNETMASK, 0xffffff00u) && set_up(socket_fd, "link") &&
                set_up(socket_fd, "lo");
    if (socket_fd >= 0) close(socket_fd);
    if (good) return tun;
    if (tun >= 0) close(tun);
    return -1;
}

/* hands a descriptor to the parent */
static bool hand_over(int socket, int fd)
{
    char byte = fd >= 0, space[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec content = {&byte, 1};
    struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = space, message.msg_controllen = sizeof space;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    return sendmsg(socket, &message, 0) == 1;
}

static int take_over(int socket)
{
    char byte, space[CMSG_SPACE(sizeof(int))];
    struct iovec content = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &content, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    int fd = -1;
    if (head && head->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

/* a child that makes a namespace, hands the interface over, and holds the namespace as long as we live */
static bool make_side(int side)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        signal(SIGINT, SIG_IGN); // of a terminal's whole group: the parent says when
        int tun = make_interface(side);
        bool done = hand_over(pair[1], tun) && tun >= 0;
        close(pair[1]);
        close(0), close(1), close(2); // who waits for the end of our output must not wait for this
        while (done) pause();
        _exit(1);
    }
    close(pair[1]);
    holders[side] = child;
    tuns[side] = child > 0 ? take_over(pair[0]) : -1;
    close(pair[0]);
    return tuns[side] >= 0;
}

static void end_sides(void)
{
    for (int i = 0; i < sides; i++) {
        if (holders[i] > 0) {
            kill(holders[i], SIGKILL);
            waitpid(holders[i], NULL, 0);
        }
    }
}

/* ---- orders ---- */

static void print_counts(void)
{
    printf("{\"sent\": %llu, \"delivered\": %llu, \"lost\": %llu, \"duplicated\": %llu, \"held\": "
           "%llu, "
           "\"overtaken\": %llu, \"overflowed\": %llu, \"cut\": %llu, \"other\": %llu}\n",
           (unsigned long long)counts.sent, (unsigned long long)counts.delivered,
           (unsigned long long)counts.lost, (unsigned long long)counts.duplicated,
           (unsigned long long)counts.held, (unsigned long long)counts.overtaken,
           (unsigned long long)counts.overflowed, (unsigned long long)counts.cut,
           (unsigned long long)counts.other);
    fflush(stdout);
}

static void acknowledge(void)
{
    printf("done\n");
    fflush(stdout);
}

static void obey(char *line)
{
    char *place, *word = strtok_r(line, " \t", &place);
    while (word) {
        char *value = NULL;
        if (!strcmp(word, "quit")) {
            stopped = 1;
        } else if (!strcmp(word, "heal")) {
            memset(is_cut, 0, sizeof is_cut);
        } else if (!strcmp(word, "stats")) {
            print_counts();
        } else if (!strcmp(word, "drain")) {
            draining = true;
        } else if (value = strtok_r(NULL, " \t", &place), !strcmp(word, "cut")) {
            int side = value ? atoi(value) : 0;
            if (side >= 1 && side <= sides) is_cut[side - 1] = true;
        } else if (!set(&net, word, value)) {
            fprintf(stderr, "lossy_link: not understood: %s %s\n", word, value ? value : "");
        }
        word = strtok_r(NULL, " \t", &place);
    }
    if (!draining) acknowledge();
}

/* false: the input has ended */
static bool read_orders(void)
{
    static char text[4096];
    static size_t count;
    ssize_t got = read(0, text + count, sizeof text - 1 - count);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    count += (size_t)got;
    text[count] = 0;
    for (char *end; (end = strchr(text, '\n'));) {
        *end = 0;
        obey(text);
        count -= (size_t)(end + 1 - text);
        memmove(text, end + 1, count + 1);
    }
    if (count == sizeof text - 1) count = 0; // no order is that long
    return true;
}

static void on_signal(int signal)
{
    (void)signal;
    stopped = 1;
}

static void carry(void)
{
    int64_t end = clock_ns() + (int64_t)(net.seconds * 1e9);
    struct pollfd polls[SIDES + 1];
    for (int i = 0; i < sides; i++) polls[i] = (struct pollfd){tuns[i], POLLIN, 0};
    polls[sides] = (struct pollfd){0, POLLIN, 0};
    for (int64_t now; !stopped && (now = clock_ns()) < end;) {
        deliver(now);
        int64_t next = heap_count > 0 && heap[0].due_ns < end ? heap[0].due_ns : end;
        int64_t wait = next > now ? next - now : 0;
        struct timespec pause = {wait / 1000000000, wait % 1000000000};
        // drained: nothing waits here, and nothing new is found on the way in
        if (draining && heap_count == 0) pause = (struct timespec){0};
        int found = ppoll(polls, (nfds_t)sides + 1, &pause, NULL);
        if (found == 0 && draining && heap_count == 0) {
            draining = false;
            acknowledge();
        }
        if (found <= 0) continue;
        for (int i = 0; i < sides; i++) {
            if (polls[i].revents) take_from(i);
        }
        if (polls[sides].revents && !read_orders()) break;
    }
}

int main(int count, char **arguments)
{
    sides = count > 1 ? atoi(arguments[1]) : 0;
    bool good = sides >= 2 && sides <= SIDES && count % 2 == 0;
    for (int i = 2; good && i < count; i += 2) good = set(&net, arguments[i], arguments[i + 1]);
    if (!good) {
        fprintf(stderr,
                "usage: lossy_link SIDES [delay MS] [jitter MS] [loss SHARE] [duplicate SHARE] "
                "[reorder SHARE] [hold MS] [rate BYTES/S] [queue MS] [seed N] [seconds S]\n");
        return 2;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < sides && good; i++) good = make_side(i);
    if (!good) {
        fprintf(stderr, "lossy_link: may not make network namespaces or interfaces here: %s\n",
                geteuid() ? "it needs root" : strerror(errno));
        end_sides();
        return SKIP;
    }
    for (int i = 0; i < sides; i++) {
        for (int k = 0; k < sides; k++)
            ways[i][k].random = (uint64_t)net.seed * 1000003 + (uint64_t)(i * SIDES + k);
        printf("side %d 10.77.0.%d %d\n", i + 1, i + 1, (int)holders[i]);
    }
    printf("ready\n");
    fflush(stdout);
    carry();
    print_counts();
    end_sides();
    while (heap_count > 0) free(pop().bytes);
    return 0;
}
