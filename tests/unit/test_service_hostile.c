/* requests and frames that once crashed the controller, kept it spinning, or passed although they must not */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/server.h"

static flr_test_server server;

static int begin(void **state)
{
    (void)state;
    flr_test_server_begin(&server, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    flr_test_server_end(&server);
    return 0;
}

static void healthy(void)
{
    char *answer = flr_test_get(server.port, "/health");
    assert_non_null(strstr(answer, "\"rate_held\""));
    free(answer);
}

/* Sends, and reads until the other side closes: it must. free(). */
static char *until_closed(const char *request, size_t size)
{
    int s = flr_test_connect(server.port);
    assert_int_equal(send(s, request, size, MSG_NOSIGNAL), size);
    size_t capacity = 1 << 16, got = 0;
    char *text = calloc(1, capacity);
    for (;;) {
        struct pollfd wait = {.fd = s, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, 600000), 1);
        ssize_t count = recv(s, text + got, capacity - 1 - got, 0);
        if (count <= 0) break;
        got += (size_t)count;
    }
    close(s);
    return text;
}

static void refused(const char *request, const char *status)
{
    char *answer = until_closed(request, strlen(request));
    if (!strstr(answer, status))
        fail_msg("%s\nis not answered by %s but\n%s", request, status, answer);
    free(answer);
    healthy();
}

/* Refusing this one used the connection after it was freed. */
static void test_head_of_another_host(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) refused("HEAD / HTTP/1.1\r\nHost: evil\r\n\r\n", "HTTP/1.1 403");
    refused("HEAD / HTTP/1.1\r\n\r\n", "HTTP/1.1 403");
    refused("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 405");
}

/* A body behind a pipelined request kept the control thread busy for ever. */
static void test_bodies(void **state)
{
    (void)state;
#define FIRST "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    static const char *const second[] = {
        FIRST "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
        FIRST "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
        FIRST FIRST "GET / HTTP/1.1\r\nHost: evil\r\nContent-Length: 5\r\n\r\nhello",
        FIRST
        "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
        "0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof second / sizeof second[0]; i++)
        refused(second[i], "HTTP/1.1 413");
}

static void test_upgrades(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++)
        refused("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
                "HTTP/1.1 400");
    refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 505");
    refused(
        "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket, h2c\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        "HTTP/1.1 400");
    refused("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n\r\n",
            "HTTP/1.1 426");
}

/* 20 KB of headers that nobody looks at passed a limit of 8 KiB */
static void test_long_headers(void **state)
{
    (void)state;
    char request[20000];
    memset(request, 'x', sizeof request);
    static const char begins[] = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ";
    memcpy(request, begins, sizeof begins - 1);
    memcpy(request + sizeof request - 5, "\r\n\r\n", 5);
    refused(request, "HTTP/1.1 431");
}

/* The close code that a frame leads to. */
static int code_after(const uint8_t *frame, size_t size)
{
    flr_test_ws ws;
    flr_message message;
    assert_true(flr_test_ws_open(&ws, server.port, NULL, NULL));
    assert_int_equal(send(ws.socket, frame, size, MSG_NOSIGNAL), size);
    while (flr_test_ws_receive(&ws, 600, &message)) {}
    int code = ws.close_code;
    flr_test_ws_close(&ws);
    healthy();
    return code;
}

static void test_frames(void **state)
{
    (void)state;
    static const uint8_t unmasked[] = {0x82, 4, 1, 2, 3, 4}, ping[] = {0x09, 0x80, 0, 0, 0, 0};
    static const uint8_t bye[] = {0x88, 0x82, 0, 0, 0, 0, 0x0F, 0xA1};
    assert_int_equal(code_after(unmasked, sizeof unmasked), 1002);
    assert_int_equal(code_after(ping, sizeof ping), 1002);
    assert_int_equal(code_after(bye, sizeof bye), 4001);
    /* a message without a byte */
    static const uint8_t nothing[] = {0x82, 0x80, 0, 0, 0, 0};
    assert_int_not_equal(code_after(nothing, sizeof nothing), 0);
}

/* How long somebody new waits while many connections are open that say nothing. Seconds. */
static double wait_beside(int *sockets, int count, flr_test_ws *ws)
{
    for (int i = 0; i < count; i++) {
        sockets[i] = flr_test_connect(server.port);
        assert_int_equal(send(sockets[i], "GET / HT", 8, MSG_NOSIGNAL), 8);
    }
    int64_t started = flr_clock_ns(flr_env_real());
    healthy();
    flr_test_server_join(&server, ws);
    return 1e-9 * (double)(flr_clock_ns(flr_env_real()) - started);
}

/* Who says nothing must make way for those who do, long before it would be closed after 10 s. */
static void test_half_open(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    int sockets[COUNT];
    flr_test_ws ws;
    /* a machine may be busy with others for some seconds, but hardly ten times */
    double seconds = wait_beside(sockets, COUNT, &ws);
    for (int i = 0; i < 9 && seconds > 8; i++) {
        flr_test_ws_close(&ws);
        for (int k = 0; k < COUNT; k++) close(sockets[k]);
        seconds = wait_beside(sockets, COUNT, &ws);
    }
    if (seconds > 8) fail_msg("new clients waited %g s", seconds);
    for (int i = 0; i < COUNT; i++) close(sockets[i]);
    /* a client stays, whatever comes */
    for (int i = 0; i < COUNT; i++) sockets[i] = flr_test_connect(server.port);
    flr_message ask = {.id = FLR_MSG_PARAMETERS_ASK, .request = 9}, message;
    assert_true(flr_test_ws_send_message(&ws, &ask));
    flr_test_ws_expect(&ws, FLR_MSG_DONE, &message);
    for (int i = 0; i < COUNT; i++) close(sockets[i]);
    flr_test_ws_close(&ws);
    healthy();
}

/* What a proxy at this machine hands on is not from this machine. */
static void test_proxy(void **state)
{
    (void)state;
    static const struct {
        const char *host; /* and lines behind it, which the client ends */
        bool local;
    } cases[] = {{"localhost", true},
                 {"127.0.0.1:7878", true},
                 {"[::1]:7878", true},
                 {"localhost\r\nOrigin: http://localhost", true},
                 {"localhost\r\nX-Forwarded-For: 203.0.113.7", false},
                 {"localhost\r\nForwarded: for=203.0.113.7", false},
                 {"localhost\r\nVia: 1.1 gate", false},
                 /* a proxy without such a header keeps the name by which clients know it */
                 {"203.0.113.7", false},
                 {"203.0.113.7\r\nOrigin: http://203.0.113.7", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        flr_test_ws ws;
        flr_message hello = {.id = FLR_MSG_HELLO}, welcome;
        assert_true(flr_test_ws_open(&ws, server.port, cases[i].host, NULL));
        hello.as.hello.abilities = UINT32_MAX;
        assert_true(flr_test_ws_send_message(&ws, &hello));
        flr_test_ws_expect(&ws, FLR_MSG_WELCOME, &welcome);
        bool load = welcome.as.welcome.abilities & FLR_WIRE_ABILITY_LOAD;
        if (load != cases[i].local) fail_msg("%s: %d", cases[i].host, load);
        flr_test_ws_close(&ws);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_of_another_host),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_upgrades),
        cmocka_unit_test(test_long_headers),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_half_open),
        cmocka_unit_test(test_proxy),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
