/* the controller and clients without manners: junk, floods, silence, too many of them. The loop goes on. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/server.h"

/* seconds after which a wait counts as hung: the machine may be busy */
enum { PATIENCE = 300 };

static flr_test_server server;

static void strict(flr_service_def *def)
{
    memcpy(def->access.token, "a-token-of-24-characters", 25);
    def->stall_seconds = 0.5;
    def->limits.clients = 24;
    def->limits.hello_seconds = 3; // longer than a busy machine takes to say hello
}

static int begin(void **state)
{
    (void)state;
    flr_test_server_begin(&server, strict);
    return 0;
}

static int end(void **state)
{
    (void)state;
    flr_test_server_end(&server);
    return 0;
}

static void join(flr_test_ws *ws)
{
    assert_true(flr_test_ws_open(ws, server.port, NULL, NULL));
    flr_test_ws_hello(ws, FLR_WIRE_ROLE_VIEWER, UINT32_MAX, "a-token-of-24-characters");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_token(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "b-token-of-24-characters", "a-token"};
    for (size_t i = 0; i < 3; i++) {
        flr_test_ws ws;
        flr_message hello = {.id = FLR_MSG_HELLO}, message;
        hello.as.hello.token = flr_wire_text_of(wrong[i]);
        assert_true(flr_test_ws_open(&ws, server.port, NULL, NULL));
        assert_true(flr_test_ws_send_message(&ws, &hello));
        assert_true(flr_test_ws_receive(&ws, PATIENCE, &message));
        assert_int_equal(message.id, FLR_MSG_ERROR);
        assert_int_equal(message.as.error.code, FLR_WIRE_RESULT_DENIED);
        assert_false(flr_test_ws_receive(&ws, PATIENCE, &message));
        flr_test_ws_close(&ws);
    }
    char *answer = flr_test_get(server.port, "/health");
    assert_non_null(strstr(answer, "HTTP/1.1 401"));
    free(answer);
    answer = flr_test_get(server.port, "/health?token=a-token-of-24-characters");
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    free(answer);
    answer = flr_test_http(server.port, "GET /health HTTP/1.1\r\nHost: localhost\r\n"
                                        "Authorization: Bearer a-token-of-24-characters\r\n\r\n");
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    free(answer);
    /* the page itself holds no secret */
    answer = flr_test_get(server.port, "/");
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    free(answer);
}

/* Sends until all is gone or the other side has enough; never waits for answers. Bytes sent. */
static size_t pour(int socket, const uint8_t *bytes, size_t size, double seconds)
{
    size_t at = 0;
    for (double until = now() + seconds; at < size && now() < until;) {
        ssize_t sent = send(socket, bytes + at, size - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0)
            at += (size_t)sent;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            usleep(1000);
        else
            break;
    }
    return at;
}

static void test_junk(void **state)
{
    (void)state;
    enum { FRAMES = 5000, CONNECTIONS = 20, SIZE = 6 + 24 };
    flr_test_random random = flr_test_random_begin("test_junk");
    uint8_t *junk = malloc((size_t)FRAMES * SIZE);
    for (int c = 0; c < CONNECTIONS; c++) {
        for (size_t i = 0; i < FRAMES; i++) {
            uint8_t *frame = junk + i * SIZE;
            frame[0] = 0x82, frame[1] = 0x80 | 24;
            memset(frame + 2, 0, 4);
            for (int k = 0; k < 3; k++) {
                uint64_t chance = flr_test_random_u64(&random);
                memcpy(frame + 6 + 8 * k, &chance, 8);
            }
            /* half of them with a head that is nearly right */
            if (i % 2) memcpy(frame + 6, "\x18\0\0\0\x40\0\x01\0", 8), frame[6 + 4] = (uint8_t)i;
        }
        flr_test_ws ws;
        join(&ws);
        pour(ws.socket, junk, (size_t)FRAMES * SIZE, PATIENCE);
        /* it gets the reason, if it still listens, and is dropped */
        flr_message message;
        bool bye = false;
        while (flr_test_ws_receive(&ws, PATIENCE, &message)) bye = bye || message.id == FLR_MSG_BYE;

        flr_test_ws_close(&ws);
    }
    free(junk);
    flr_test_ws ws;
    join(&ws);
    flr_test_ws_close(&ws);
}

static void test_malformed_is_told(void **state)
{
    (void)state;
    flr_test_ws ws;
    flr_message message;
    join(&ws);
    uint8_t frame[16] = {16, 0, 0, 0, FLR_MSG_GRAB, 0, FLR_PROTOCOL_MAJOR, 0, 7};
    for (int i = 0; i < 16; i++) assert_true(flr_test_ws_send(&ws, frame, sizeof frame));
    bool bye = false;
    while (flr_test_ws_receive(&ws, PATIENCE, &message)) {
        bye =
            bye || (message.id == FLR_MSG_BYE && message.as.bye.code == FLR_WIRE_RESULT_BAD_INPUT);
    }
    assert_true(bye);
    assert_gt(ws.close_code, 0);
    flr_test_ws_close(&ws);
}

static void test_oversize(void **state)
{
    (void)state;
    flr_test_ws ws;
    flr_message message;
    /* a frame that says it has a terabyte */
    static const uint8_t terabyte[] = {0x82, 0x80 | 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    join(&ws);
    assert_int_equal(send(ws.socket, terabyte, sizeof terabyte, MSG_NOSIGNAL), sizeof terabyte);
    uint8_t *zeros = calloc(1, 4 << 20);
    pour(ws.socket, zeros, 4 << 20, 2);
    while (flr_test_ws_receive(&ws, PATIENCE, &message)) {}
    flr_test_ws_close(&ws);
    /* a message that is longer than its kind may be */
    join(&ws);
    uint32_t size = 1 << 20;
    memcpy(zeros, &size, 4);
    zeros[4] = FLR_MSG_GRAB, zeros[6] = FLR_PROTOCOL_MAJOR, zeros[8] = 1;
    flr_test_ws_send(&ws, zeros, size);
    bool bye = false;
    while (flr_test_ws_receive(&ws, PATIENCE, &message))
        bye =
            bye || (message.id == FLR_MSG_BYE && message.as.bye.code == FLR_WIRE_RESULT_TOO_LARGE);
    assert_true(bye);
    free(zeros);
    flr_test_ws_close(&ws);
}

static void test_silent_one_is_dropped(void **state)
{
    (void)state;
    flr_test_ws ws;
    flr_message message;
    assert_true(flr_test_ws_open(&ws, server.port, NULL, NULL));
    assert_true(flr_test_ws_receive(&ws, PATIENCE, &message));
    assert_int_equal(message.id, FLR_MSG_ERROR);
    assert_int_equal(message.as.error.code, FLR_WIRE_RESULT_TIMEOUT);
    flr_test_ws_close(&ws);
}

/* Twenty look, one of them does not read what it asks for. */
static void test_stalled_among_twenty(void **state)
{
    (void)state;
    enum { CLIENTS = 20, FLOOD = 60000 };
    flr_test_ws clients[CLIENTS], stalled;
    flr_message watch = {.id = FLR_MSG_WATCH, .request = 1}, message;
    watch.as.watch.wants = FLR_WIRE_WANT_STATE | FLR_WIRE_WANT_CONTACTS;
    watch.as.watch.state_rate = 60;
    for (int i = 0; i < CLIENTS; i++) {
        join(&clients[i]);
        assert_true(flr_test_ws_send_message(&clients[i], &watch));
        flr_test_ws_expect(&clients[i], FLR_MSG_STATE, &message);
    }
    join(&stalled);
    watch.as.watch.state_rate = 1000;
    assert_true(flr_test_ws_send_message(&stalled, &watch));
    /* asks and asks, and takes no answer */
    uint8_t frame[6 + 16] = {
        0x82, 0x80 | 16,          0, 0, 0, 0, 16, 0, 0, 0, FLR_MSG_PARAMETERS_ASK,
        0,    FLR_PROTOCOL_MAJOR, 0, 1};
    uint8_t *flood = malloc(FLOOD * sizeof frame);
    for (size_t i = 0; i < FLOOD; i++) memcpy(flood + i * sizeof frame, frame, sizeof frame);
    size_t sent = pour(stalled.socket, flood, FLOOD * sizeof frame, 0.3);
    assert_gt(sent, 0);
    free(flood);
    /* the others get their states all the same: what waits is read first, then each gets ten more */
    for (int i = 0; i < CLIENTS; i++)
        while (flr_test_ws_receive(&clients[i], 0.001, &message)) {}
    for (int i = 0; i < CLIENTS; i++) {
        int states = 0;
        for (double until = now() + PATIENCE; states < 10 && now() < until;)
            if (flr_test_ws_receive(&clients[i], 1, &message))
                states += message.id == FLR_MSG_STATE;
        assert_int_equal(states, 10);
    }
    /* the stalled one is dropped soon */
    bool dropped = false;
    char byte;
    for (double until = now() + PATIENCE; !dropped && now() < until;) {
        dropped = send(stalled.socket, "", 0, MSG_NOSIGNAL) < 0;
        ssize_t got = recv(stalled.socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
        int trouble = 0;
        socklen_t size = sizeof trouble;
        getsockopt(stalled.socket, SOL_SOCKET, SO_ERROR, &trouble, &size);
        dropped = dropped || got == 0 || trouble != 0 ||
                  flr_hub_clients(flr_service_hub(server.service)) <= CLIENTS;
        usleep(10000);
    }
    assert_true(dropped);
    flr_test_ws_close(&stalled);
    for (int i = 0; i < CLIENTS; i++) flr_test_ws_close(&clients[i]);
}

/* The controller's end of a connection; -1: not found. */
static int other_end(int socket)
{
    struct sockaddr_in own, peer;
    socklen_t size = sizeof own;
    assert_int_equal(getsockname(socket, (struct sockaddr *)&own, &size), 0);
    for (int fd = 3; fd < 1024; fd++) {
        size = sizeof peer;
        if (fd != socket && getpeername(fd, (struct sockaddr *)&peer, &size) == 0 &&
            peer.sin_family == AF_INET && peer.sin_port == own.sin_port)
            return fd;
    }
    return -1;
}

/* What waits in the kernel for a client that reads slowly is bounded: it gets fewer states, not old ones. */
static void test_slow_reader(void **state)
{
    (void)state;
    flr_test_ws ws;
    join(&ws);
    int fd = other_end(ws.socket), unsent = 0;
    socklen_t size = sizeof unsent;
    assert_gt(fd, 2);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, &size), 0);
    assert_int_equal(unsent, 65536);
    flr_test_ws_close(&ws);
}

static void test_too_many(void **state)
{
    (void)state;
    enum { MAX_CLIENTS = 24 };
    flr_test_ws clients[MAX_CLIENTS], more;
    for (double until = now() + PATIENCE;
         flr_hub_clients(flr_service_hub(server.service)) > 0 && now() < until;)
        usleep(10000);
    for (int i = 0; i < MAX_CLIENTS; i++) join(&clients[i]);
    flr_message hello = {.id = FLR_MSG_HELLO}, message;
    hello.as.hello.token = flr_wire_text_of("a-token-of-24-characters");
    assert_true(flr_test_ws_open(&more, server.port, NULL, NULL));
    assert_true(flr_test_ws_send_message(&more, &hello));
    assert_true(flr_test_ws_receive(&more, PATIENCE, &message));
    assert_int_equal(message.id, FLR_MSG_ERROR);
    assert_int_equal(message.as.error.code, FLR_WIRE_RESULT_AGAIN);
    flr_test_ws_close(&more);
    for (int i = 0; i < MAX_CLIENTS; i++) flr_test_ws_close(&clients[i]);
}

static void test_port_in_use(void **state)
{
    (void)state;
    flr_service_def def = flr_default_service_def();
    def.address.port = server.port;
    flr_service *second = NULL;
    flr_error error;
    assert_int_equal(flr_service_create(&def, &second, &error), FLR_DENIED);
    char text[32];
    snprintf(text, sizeof text, "127.0.0.1:%u", server.port);
    assert_non_null(strstr(error.message, text));
    assert_non_null(strstr(error.message, "--port"));
    /* where others can reach it, a token must be */
    def.address = (flr_address){.family = 4};
    assert_int_equal(flr_service_create(&def, &second, &error), FLR_DENIED);
    assert_non_null(strstr(error.message, "token"));
    def = flr_default_service_def();
    def.address.port = 0;
    def.certificate = "/nowhere/cert.pem", def.key = "/nowhere/key.pem";
    assert_int_equal(flr_service_create(&def, &second, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "/nowhere/cert.pem"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_junk),
        cmocka_unit_test(test_malformed_is_told),
        cmocka_unit_test(test_oversize),
        cmocka_unit_test(test_silent_one_is_dropped),
        cmocka_unit_test(test_stalled_among_twenty),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_port_in_use),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
