/* the simulated network, time and programs; its disk is in test_sim_disk.c */
#include "support/test.h"

#include "feeler/base.h"
#include "feeler/sim.h"

static flr_error error;

static flr_address at(const char *text)
{
    flr_address address;
    assert_ok(flr_address_parse(text, 0, &address, &error), error);
    return address;
}

/* two nodes with a UDP socket each */
typedef struct pair {
    flr_sim *sim;
    flr_env *a, *b;
    flr_socket *from, *to;
} pair;

static pair make_pair(const flr_sim_def *def)
{
    pair p;
    p.sim = flr_sim_create(def);
    assert_non_null(p.sim);
    p.a = flr_sim_node(p.sim, at("10.0.0.1"));
    p.b = flr_sim_node(p.sim, at("10.0.0.2"));
    assert_ok(flr_udp_open(p.a, at("0.0.0.0:100"), &p.from, &error), error);
    assert_ok(flr_udp_open(p.b, at("10.0.0.2:200"), &p.to, &error), error);
    return p;
}

static void free_pair(pair *p)
{
    flr_socket_close(p->from);
    flr_socket_close(p->to);
    flr_sim_destroy(p->sim);
}

static void send_number(flr_socket *from, const char *to, uint32_t number)
{
    assert_ok(flr_udp_send(from, at(to), &number, sizeof number, &error), error);
}

/* the next number, or -1 */
static int64_t receive_number(flr_socket *socket)
{
    uint32_t number;
    size_t got;
    flr_result result = flr_udp_receive(socket, NULL, &number, sizeof number, &got, &error);
    if (result == FLR_AGAIN) return -1;
    assert_ok(result, error);
    assert_int_equal(got, sizeof number);
    return number;
}

/* ---- time ---- */

static void time_is_virtual(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    pair p = make_pair(&def);
    int64_t real = flr_clock_ns(flr_env_real());
    assert_int_equal(flr_clock_ns(p.a), 0);
    flr_sleep_until(p.a, 3600 * FLR_SIM_S);
    assert_int_equal(flr_clock_ns(p.a), 3600 * FLR_SIM_S);
    assert_int_equal(flr_clock_ns(p.b), 3600 * FLR_SIM_S);
    assert_int_equal(flr_clock_wall_ns(p.a), def.wall_ns + 3600 * FLR_SIM_S);
    flr_sleep_until(p.a, 5); // long past
    flr_sim_advance(p.sim, 7);
    assert_int_equal(flr_sim_now(p.sim), 3600 * FLR_SIM_S + 7);
    assert_int_equal(flr_env_wait(p.b, NULL, 0, 3601 * FLR_SIM_S, &error), FLR_TIMEOUT);
    assert_int_equal(flr_sim_now(p.sim), 3601 * FLR_SIM_S);
    assert_lt(flr_clock_ns(flr_env_real()) - real, 5 * FLR_SIM_S);

    // clocks of different machines need not agree; deadlines are by one's own
    flr_sim_set_clock(p.b, 1000);
    assert_int_equal(flr_clock_ns(p.b), flr_clock_ns(p.a) + 1000);
    flr_wait wait = {p.to, FLR_WAIT_READ, 0};
    int64_t deadline = flr_clock_ns(p.b) + 500;
    assert_int_equal(flr_env_wait(p.b, &wait, 1, deadline, &error), FLR_TIMEOUT);
    assert_int_equal(flr_clock_ns(p.b), deadline);

    // a wait for what can never happen does not hang
    assert_int_equal(flr_env_wait(p.b, &wait, 1, INT64_MAX, &error), FLR_IO);
    free_pair(&p);
    flr_sim_destroy(NULL);
}

/* ---- datagrams ---- */

static void datagrams_take_their_time(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = 20 * FLR_SIM_MS;
    pair p = make_pair(&def);
    send_number(p.from, "10.0.0.2:200", 42);
    assert_int_equal(receive_number(p.to), -1);
    flr_sim_advance(p.sim, 20 * FLR_SIM_MS - 1);
    assert_int_equal(receive_number(p.to), -1);
    flr_wait wait = {p.to, FLR_WAIT_READ, 0};
    assert_ok(flr_env_wait(p.b, &wait, 1, FLR_SIM_S, &error), error);
    assert_int_equal(flr_sim_now(p.sim), 20 * FLR_SIM_MS);
    uint32_t number;
    size_t got;
    flr_address from;
    assert_ok(flr_udp_receive(p.to, &from, &number, sizeof number, &got, &error), error);
    assert_int_equal(number, 42);
    assert_true(flr_address_equal(from, at("10.0.0.1:100")));

    // nobody there, no such port, too small a buffer
    send_number(p.from, "10.0.0.9:200", 1);
    send_number(p.from, "10.0.0.2:201", 1);
    send_number(p.from, "10.0.0.2:200", 1);
    flr_sim_advance(p.sim, FLR_SIM_S);
    assert_int_equal(flr_udp_receive(p.to, &from, &number, 2, &got, &error), FLR_AGAIN);
    flr_sim_stats stats = flr_sim_get_stats(p.sim);
    assert_int_equal(stats.sent, 4);
    assert_int_equal(stats.delivered, 2);
    assert_int_equal(stats.cut, 1);
    assert_int_equal(stats.unheard, 1);
    assert_int_equal(stats.overflowed, 1);
    assert_int_equal(flr_udp_dropped(p.to), 1);
    free_pair(&p);
}

static void ports_and_addresses(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    pair p = make_pair(&def);
    flr_socket *socket = NULL;
    assert_int_equal(flr_udp_open(p.b, at("10.0.0.2:200"), &socket, &error), FLR_DENIED);
    assert_int_equal(flr_udp_open(p.b, at("0.0.0.0:200"), &socket, &error), FLR_DENIED);
    assert_int_equal(flr_udp_open(p.b, at("10.0.0.3:300"), &socket, &error), FLR_NOT_FOUND);
    assert_null(socket);
    flr_socket *first, *second;
    assert_ok(flr_udp_open(p.b, at("127.0.0.1:0"), &first, &error), error);
    assert_ok(flr_udp_open(p.b, at("0.0.0.0:0"), &second, &error), error);
    assert_int_not_equal(flr_socket_local(first).port, flr_socket_local(second).port);

    // within a node at once, and never lost
    flr_address target = flr_socket_local(first);
    uint32_t number = 9;
    assert_ok(flr_udp_send(second, target, &number, sizeof number, &error), error);
    assert_int_equal(receive_number(first), 9);
    assert_ptr_equal(flr_sim_node(p.sim, at("10.0.0.2:77")), p.b);
    flr_socket_close(first);
    flr_socket_close(second);
    free_pair(&p);
}

/* sends `count` datagrams 1 ms apart and gives back what came of them */
static flr_sim_stats run_faulty(const flr_sim_network *network, uint64_t seed, uint32_t count,
                                flr_hash *story)
{
    flr_sim_def def = flr_default_sim_def();
    def.seed = seed;
    def.network = *network;
    pair p = make_pair(&def);
    flr_hasher hasher = flr_hasher_begin();
    for (uint32_t i = 0; i < count; i++) {
        send_number(p.from, "10.0.0.2:200", i);
        flr_sim_advance(p.sim, FLR_SIM_MS);
        for (int64_t number; (number = receive_number(p.to)) >= 0;) {
            int64_t now = flr_sim_now(p.sim);
            flr_hasher_add(&hasher, &number, sizeof number);
            flr_hasher_add(&hasher, &now, sizeof now);
        }
    }
    flr_sim_advance(p.sim, 100 * FLR_SIM_S);
    while (receive_number(p.to) >= 0) {}
    flr_sim_stats stats = flr_sim_get_stats(p.sim);
    if (story) *story = flr_hasher_end(&hasher);
    free_pair(&p);
    return stats;
}

static void assert_near(uint64_t count, double expected, double deviations)
{
    // a binomial count; the bound leaves room for one failure in many thousand seeds
    double difference = (double)count - expected;
    if (difference * difference > deviations * deviations * expected)
        fail_msg("%llu where %g was expected", (unsigned long long)count, expected);
}

static void faults_come_at_their_rates(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("faults_come_at_their_rates");
    flr_sim_network network = flr_default_sim_def().network;
    enum { COUNT = 20000 };
    network.loss = 0.1;
    network.duplicate = 0.05;
    flr_sim_stats stats = run_faulty(&network, flr_test_random_u64(&random), COUNT, NULL);
    assert_int_equal(stats.sent, COUNT);
    assert_near(stats.lost, 0.1 * COUNT, 5);
    assert_near(stats.duplicated, 0.05 * 0.9 * COUNT, 5);
    assert_int_equal(stats.delivered, COUNT - stats.lost + stats.duplicated);
    assert_int_equal(stats.reordered, 0);

    // held back by three sending intervals: overtaken unless the next ones are held back too
    network = flr_default_sim_def().network;
    network.reorder = 0.02;
    network.reorder_ns = 3 * FLR_SIM_MS;
    stats = run_faulty(&network, flr_test_random_u64(&random), COUNT, NULL);
    assert_int_equal(stats.delivered, COUNT);
    assert_near(stats.reordered, 0.02 * COUNT, 5);

    // jitter beyond the sending interval reorders too
    network = flr_default_sim_def().network;
    network.jitter_ns = 10 * FLR_SIM_MS;
    stats = run_faulty(&network, flr_test_random_u64(&random), COUNT, NULL);
    assert_int_equal(stats.delivered, COUNT);
    assert_gt(stats.reordered, COUNT / 4);
}

static void same_seed_same_bits(void **state)
{
    (void)state;
    flr_sim_network network = flr_default_sim_def().network;
    network.jitter_ns = 5 * FLR_SIM_MS;
    network.loss = 0.2;
    network.duplicate = 0.1;
    flr_hash first, second, other;
    flr_sim_stats a = run_faulty(&network, 5, 2000, &first);
    flr_sim_stats b = run_faulty(&network, 5, 2000, &second);
    run_faulty(&network, 6, 2000, &other);
    assert_true(flr_hash_equal(first, second));
    assert_memory_equal(&a, &b, sizeof a);
    assert_false(flr_hash_equal(first, other));

    // and over machines and compilers
    char text[FLR_HASH_TEXT_SIZE];
    assert_string_equal(flr_hash_print(first, text), "9b7c4bb81d8a9062cd35697c260c924c");
}

static void random_numbers_are_seeded_per_node(void **state)
{
    (void)state;
    uint8_t bytes[3][2][16];
    for (int i = 0; i < 3; i++) {
        flr_sim_def def = flr_default_sim_def();
        def.seed = i == 2 ? 9 : 8;
        pair p = make_pair(&def);
        flr_random_bytes(p.a, bytes[i][0], 16);
        flr_random_bytes(p.b, bytes[i][1], 16);
        free_pair(&p);
    }
    assert_memory_equal(bytes[0], bytes[1], sizeof bytes[0]);
    assert_memory_not_equal(bytes[0][0], bytes[0][1], 16);
    assert_memory_not_equal(bytes[0][0], bytes[2][0], 16);
}

static void partition_and_heal(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    pair p = make_pair(&def);
    flr_sim_set_group(p.b, 1);
    send_number(p.from, "10.0.0.2:200", 1);
    flr_sim_advance(p.sim, FLR_SIM_S);
    flr_sim_heal(p.sim);
    send_number(p.from, "10.0.0.2:200", 2);
    flr_sim_set_group(p.a, 1); // cut while on its way
    flr_sim_advance(p.sim, FLR_SIM_S);
    flr_sim_set_group(p.b, 1); // both on the same side
    send_number(p.from, "10.0.0.2:200", 3);
    flr_sim_advance(p.sim, FLR_SIM_S);
    assert_int_equal(receive_number(p.to), 3);
    assert_int_equal(receive_number(p.to), -1);
    assert_int_equal(flr_sim_get_stats(p.sim).cut, 2);
    free_pair(&p);
}

static void links_and_bandwidth(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = FLR_SIM_MS;
    pair p = make_pair(&def);
    flr_sim_network slow = def.network;
    slow.bytes_per_second = 1000;
    flr_sim_set_link(p.a, p.b, &slow);
    char bytes[100] = {0};
    for (int i = 0; i < 3; i++)
        assert_ok(flr_udp_send(p.from, at("10.0.0.2:200"), bytes, sizeof bytes, &error), error);
    flr_wait wait = {p.to, FLR_WAIT_READ, 0};
    for (int i = 1; i <= 3; i++) {
        size_t got;
        assert_ok(flr_env_wait(p.b, &wait, 1, FLR_SIM_S, &error), error);
        assert_int_equal(flr_sim_now(p.sim), i * 100 * FLR_SIM_MS + FLR_SIM_MS);
        assert_ok(flr_udp_receive(p.to, NULL, bytes, sizeof bytes, &got, &error), error);
    }
    // the other direction is as fast as before; a full buffer drops
    flr_sim_network narrow = def.network;
    narrow.udp_buffer = 1000;
    flr_sim_set_network(p.sim, &narrow);
    for (int i = 0; i < 20; i++)
        assert_ok(flr_udp_send(p.to, at("10.0.0.1:100"), bytes, sizeof bytes, &error), error);
    int64_t before = flr_sim_now(p.sim);
    wait.socket = p.from;
    assert_ok(flr_env_wait(p.a, &wait, 1, 10 * FLR_SIM_S, &error), error);
    assert_int_equal(flr_sim_now(p.sim), before + FLR_SIM_MS);
    assert_int_equal(flr_sim_get_stats(p.sim).overflowed, 20 - 1000 / 164);
    free_pair(&p);
}

/* ---- listeners ---- */

/* one for each port and address; UDP has ports of its own */
static void listeners_own_their_port(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    pair p = make_pair(&def);
    flr_socket *listener, *other;
    assert_ok(flr_tcp_listen(p.b, at("0.0.0.0:200"), &listener, &error), error);
    assert_int_equal(flr_tcp_listen(p.b, at("10.0.0.2:200"), &other, &error), FLR_DENIED);
    assert_int_equal(flr_tcp_listen(p.b, at("10.0.0.1:201"), &other, &error), FLR_NOT_FOUND);
    flr_wait wait = {listener, FLR_WAIT_READ | FLR_WAIT_WRITE, 0};
    assert_int_equal(flr_env_wait(p.b, &wait, 1, FLR_SIM_S, &error), FLR_TIMEOUT);
    flr_socket_close(listener);
    assert_ok(flr_tcp_listen(p.b, at("10.0.0.2:200"), &listener, &error), error);
    flr_socket_close(listener);
    free_pair(&p);
}

/* ---- crashes ---- */

static void a_crashed_node_is_gone_and_comes_back(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    pair p = make_pair(&def);
    size_t some;
    char bytes[8];
    flr_sim_crash(p.b);
    assert_false(flr_sim_is_up(p.b));
    assert_int_equal(flr_udp_receive(p.to, NULL, bytes, 8, &some, &error), FLR_IO);
    flr_socket *again;
    assert_int_equal(flr_udp_open(p.b, at("10.0.0.2:200"), &again, &error), FLR_IO);
    send_number(p.from, "10.0.0.2:200", 1);
    flr_sim_advance(p.sim, FLR_SIM_S);
    flr_sim_restart(p.b);
    // its ports are free again
    assert_ok(flr_udp_open(p.b, at("10.0.0.2:200"), &again, &error), error);
    send_number(p.from, "10.0.0.2:200", 2);
    flr_sim_advance(p.sim, FLR_SIM_S);
    assert_int_equal(receive_number(again), 2);
    flr_socket_close(again);
    assert_int_equal(flr_sim_get_stats(p.sim).crashes, 1);
    free_pair(&p);
}

/* ---- programs ---- */

typedef struct player {
    flr_socket *socket;
    const char *other;
    int64_t next_ns, last_heard_ns;
    uint32_t heard, beats;
} player;

/* says hello every 100 ms and counts what it hears */
static int64_t play(void *context, flr_env *node)
{
    player *me = context;
    while (receive_number(me->socket) >= 0) {
        me->heard++;
        me->last_heard_ns = flr_clock_ns(node);
    }
    if (flr_clock_ns(node) >= me->next_ns) {
        send_number(me->socket, me->other, me->beats++);
        me->next_ns += 100 * FLR_SIM_MS;
    }
    return me->next_ns;
}

static void programs_run_together(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = 30 * FLR_SIM_MS;
    pair p = make_pair(&def);
    flr_sim_set_clock(p.b, 5 * FLR_SIM_S);
    player a = {p.from, "10.0.0.2:200", 0, 0, 0, 0};
    player b = {p.to, "10.0.0.1:100", 5 * FLR_SIM_S + 50 * FLR_SIM_MS, 0, 0, 0};
    flr_sim_set_program(p.a, play, &a);
    flr_sim_set_program(p.b, play, &b);
    flr_sim_run(p.sim, FLR_SIM_S);
    assert_int_equal(flr_sim_now(p.sim), FLR_SIM_S);
    assert_int_equal(a.beats, 10); // at 0, 100 … 900 ms
    assert_int_equal(b.beats, 10); // at 50, 150 … 950 ms
    assert_int_equal(b.heard, 10);
    assert_int_equal(a.heard, 10);
    assert_int_equal(a.last_heard_ns, 980 * FLR_SIM_MS); // called when it came, not later

    // a dead node's program does not run
    flr_sim_crash(p.b);
    flr_sim_run(p.sim, 2 * FLR_SIM_S);
    assert_int_equal(b.beats, 10);
    assert_int_equal(a.beats, 20);
    flr_sim_set_program(p.a, NULL, NULL);
    flr_sim_run(p.sim, 3 * FLR_SIM_S);
    assert_int_equal(a.beats, 20);
    free_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_virtual),
        cmocka_unit_test(datagrams_take_their_time),
        cmocka_unit_test(ports_and_addresses),
        cmocka_unit_test(faults_come_at_their_rates),
        cmocka_unit_test(same_seed_same_bits),
        cmocka_unit_test(random_numbers_are_seeded_per_node),
        cmocka_unit_test(partition_and_heal),
        cmocka_unit_test(links_and_bandwidth),
        cmocka_unit_test(listeners_own_their_port),
        cmocka_unit_test(a_crashed_node_is_gone_and_comes_back),
        cmocka_unit_test(programs_run_together),
    };
    return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}
