/* real sockets on loopback: a connection goes on while strangers send 100,000 packets a second to both ends
 *
 * What the flood costs is said as measured. What is required does not depend on how busy the machine is: the connection stays, what
 * is reliable comes whole, every flood packet that was taken was refused, and none was answered. */
#include "net/net_internal.h"

#include <pthread.h>
#include <stdatomic.h>

#include "support/test.h"

static const int64_t ms = 1000000;

typedef struct site {
    flr_connections *connections;
    uint32_t connection;
    uint32_t states, messages;
    bool closed;
} site;

static void begin(site *side)
{
    flr_connections_def def = flr_default_connections_def();
    def.env = flr_env_real();
    def.local = (flr_address){.family = 4, .ip = {127, 0, 0, 1}};
    def.token = "0123456789abcdef0123456789abcdef";
    flr_error error;
    memset(side, 0, sizeof *side);
    assert_ok(flr_connections_create(&def, &side->connections, &error), error);
}

static void step(site *side)
{
    flr_connections_event event;
    while (flr_connections_next(side->connections, &event)) {
        if (event.kind == FLR_CONNECTIONS_OPEN) side->connection = event.connection;
        if (event.kind == FLR_CONNECTIONS_CLOSED) side->closed = true;
        side->states += event.kind == FLR_CONNECTIONS_GOT_STATE;
        side->messages += event.kind == FLR_CONNECTIONS_GOT_MESSAGE;
    }
    flr_connections_service(side->connections);
}

/* a thread that sends what it is given, as fast as it is told, until it is told to stop */
typedef struct torrent {
    flr_address targets[2];
    uint32_t ids[2];   /* of the connections there */
    double per_second; /* to both together */
    atomic_bool stop;
    uint64_t sent;
    double seconds;
    uint64_t answers;
} torrent;

static void *run_flood(void *context)
{
    torrent *flood = context;
    flr_env *env = flr_env_real();
    flr_socket *socket;
    if (flr_udp_open(env, (flr_address){.family = 4, .ip = {127, 0, 0, 1}}, &socket, NULL) !=
        FLR_OK)
        return NULL;
    flr_test_random random = {7};
    uint8_t bytes[FLR_PACKET_MAX_SIZE];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)flr_test_random_u64(&random);
    int64_t begun = flr_clock_ns(env), first = begun;
    static const size_t sizes[] = {FLR_HELLO_SIZE, 64, 300, FLR_WELCOME_SIZE, 40, FLR_COOKIE_SIZE};
    while (!atomic_load(&flood->stop)) {
        double due = (double)(flr_clock_ns(env) - begun) * 1e-9 * flood->per_second;
        // behind by more than a hundredth of a second: let it be, so that a busy machine is not flooded more than is said
        if (due - (double)flood->sent > flood->per_second / 100)
            begun += (int64_t)((due - (double)flood->sent) / flood->per_second * 1e9);
        for (; (double)flood->sent < due; flood->sent++) {
            uint64_t which = flood->sent % 6;
            // calls, packets for the connection with a broken seal, for connections that are none, and plain noise
            if (which != 4)
                flr_packet_head(bytes,
                                which == 0   ? FLR_PACKET_HELLO
                                : which == 3 ? FLR_PACKET_WELCOME
                                : which == 5 ? FLR_PACKET_COOKIE
                                             : FLR_PACKET_SEALED,
                                which == 2 ? 0x12345600 : flood->ids[flood->sent / 6 % 2],
                                1000000 + flood->sent);
            flr_udp_send(socket, flood->targets[flood->sent / 6 % 2], bytes, sizes[which], NULL);
        }
        flr_sleep_until(env, flr_clock_ns(env) + ms / 5);
    }
    flood->seconds = (double)(flr_clock_ns(env) - first) * 1e-9;
    flr_address from;
    size_t size;
    while (flr_udp_receive(socket, &from, bytes, sizeof bytes, &size, NULL) == FLR_OK)
        flood->answers++;
    flr_socket_close(socket);
    return NULL;
}

static uint64_t rejected(const site *side)
{
    flr_connections_rejected r = flr_connections_get_rejected(side->connections);
    return r.malformed + r.unknown + r.forged + r.replayed + r.old + r.flood + r.broken;
}

static void test_flood(void **state)
{
    (void)state;
    flr_env *env = flr_env_real();
    site a, b;
    begin(&a);
    begin(&b);
    flr_connections_connect(a.connections, flr_connections_address(b.connections), NULL, 0);
    for (int64_t end = flr_clock_ns(env) + 300000 * ms;
         (!a.connection || !b.connection) && flr_clock_ns(env) < end;) {
        step(&a);
        step(&b);
        flr_sleep_until(env, flr_clock_ns(env) + ms);
    }
    assert_true(a.connection);
    assert_true(b.connection);

    torrent flood = {
        .targets = {flr_connections_address(a.connections), flr_connections_address(b.connections)},
        .ids = {a.connections->table[0].id, b.connections->table[0].id},
        .per_second = 100000};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_flood, &flood), 0);
    // states a thousand times a second each way and some messages, for a second
    uint32_t sent = 0;
    int64_t begun = flr_clock_ns(env), next = begun, work = 0;
    while (flr_clock_ns(env) < begun + 1000 * ms) {
        int64_t then = flr_clock_ns(env);
        if (then >= next) {
            flr_connections_state(a.connections, a.connection, "state", 5);
            flr_connections_state(b.connections, b.connection, "state", 5);
            if (sent % 10 == 0)
                assert_int_equal(flr_connections_send(a.connections, a.connection, "message", 7),
                                 FLR_OK);
            sent++;
            next += ms;
            if (next < then) next = then;
        }
        step(&a);
        step(&b);
        work += flr_clock_ns(env) - then;
        flr_sleep_until(env, flr_clock_ns(env) + ms / 4);
    }
    atomic_store(&flood.stop, true);
    pthread_join(thread, NULL);
    uint64_t refused = rejected(&a) + rejected(&b);
    // then what is still on its way
    for (int64_t end = flr_clock_ns(env) + 300000 * ms;
         b.messages < (sent + 9) / 10 && flr_clock_ns(env) < end;) {
        step(&a);
        step(&b);
        flr_sleep_until(env, flr_clock_ns(env) + ms);
    }
    print_message(
        "flood of %.0f packets/s, %.0f %% of them taken and refused; %.0f %% of states came; "
        "%.2f us for each packet\n",
        (double)flood.sent / flood.seconds, 100.0 * (double)refused / (double)flood.sent,
        100.0 * (a.states + b.states) / (2.0 * sent),
        (double)work * 1e-3 / (double)(refused + a.states + b.states));
    assert_false(a.closed || b.closed);
    assert_int_equal(b.messages, (sent + 9) / 10);
    assert_gt(refused, 100);
    assert_le(rejected(&a) + rejected(&b), flood.sent);
    assert_int_equal(flood.answers, 0);
    flr_connections_destroy(a.connections);
    flr_connections_destroy(b.connections);
}

/* 10 MB beside states, while each end is looked at only so often: no loss of our own making */
static void run_transfer(double pause_ms)
{
    flr_env *env = flr_env_real();
    site a, b;
    begin(&a);
    begin(&b);
    flr_connections_connect(a.connections, flr_connections_address(b.connections), NULL, 0);
    static uint8_t bytes[FLR_CONNECTIONS_MESSAGE];
    uint32_t sent = 0, states = 0, wanted = 10000000 / FLR_CONNECTIONS_MESSAGE;
    int64_t begun = 0, state_ns = 0, now, end = flr_clock_ns(env) + 600000 * ms;
    while ((now = flr_clock_ns(env)) < end && b.messages < wanted) {
        step(&a);
        while (a.connection && sent < wanted &&
               flr_connections_send(a.connections, a.connection, bytes, sizeof bytes) == FLR_OK)
            sent++;
        if (a.connection && begun == 0) begun = now;
        if (a.connection && now >= state_ns) {
            flr_connections_state(a.connections, a.connection, "state", 5);
            states++;
            state_ns = now + ms;
        }
        flr_connections_service(a.connections);
        step(&b);
        if (pause_ms > 0) flr_sleep_until(env, now + (int64_t)(pause_ms * 1e6));
    }
    double seconds = (double)(flr_clock_ns(env) - begun) * 1e-9;
    flr_connections_info info = {0};
    assert_true(flr_connections_get(a.connections, a.connection, &info));
    print_message(
        "looked at every %.1f ms: %.1f MB/s, %u of %u states came, %llu parts sent again\n",
        pause_ms, 10 / seconds, b.states, states, (unsigned long long)info.resent);
    assert_int_equal(b.messages, wanted);
    assert_ge(b.states * 10, states * 9);
    flr_connections_destroy(a.connections);
    flr_connections_destroy(b.connections);
}

static void test_transfer(void **state)
{
    (void)state;
    run_transfer(0);
    run_transfer(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flood),
                                       cmocka_unit_test(test_transfer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
