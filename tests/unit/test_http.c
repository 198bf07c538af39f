/* the head of an HTTP request: what is read, what is refused, at any cut */
#include "server/http.h"

#include "support/test.h"

/* Reads a text in pieces of `step` bytes. Returns the status; `*used`: bytes that were taken. */
static unsigned read_all(flr_http_reader *reader, const char *text, size_t step, size_t *used)
{
    size_t size = strlen(text);
    unsigned status = FLR_HTTP_MORE;
    for (*used = 0; *used < size && status == FLR_HTTP_MORE;) {
        size_t count = size - *used < step ? size - *used : step;
        *used += flr_http_read(reader, text + *used, count, &status);
    }
    return status;
}

static unsigned status_of(const char *text)
{
    flr_http_reader reader = {0};
    size_t used;
    unsigned status = read_all(&reader, text, SIZE_MAX, &used);
    flr_http_free(&reader);
    return status;
}

static void test_request(void **state)
{
    (void)state;
    static const char text[] = "\r\nGET /a/b?x=1&token=p%2Bq HTTP/1.1\r\nHOST: localhost:1\r\n"
                               "Connection:  keep-alive,\tUpgrade \r\nX-Other: \r\n\r\nGET ";
    for (size_t step = 1; step <= sizeof text; step++) {
        flr_http_reader reader = {0};
        size_t used;
        char value[16];
        assert_int_equal(read_all(&reader, text, step, &used), FLR_HTTP_DONE);
        assert_int_equal(used, sizeof text - 1 - 4);
        const flr_http_head *head = &reader.head;
        assert_int_equal(head->method, FLR_HTTP_GET);
        assert_string_equal(head->path, "/a/b");
        assert_string_equal(head->header[FLR_HTTP_HOST], "localhost:1");
        assert_true(flr_http_lists(head->header[FLR_HTTP_CONNECTION], "upgrade"));
        assert_false(flr_http_lists(head->header[FLR_HTTP_CONNECTION], "close"));
        assert_null(head->header[FLR_HTTP_ORIGIN]);
        assert_true(head->keep_alive);
        assert_false(head->forwarded);
        assert_true(flr_http_argument(head->query, "token", value, sizeof value));
        assert_string_equal(value, "p+q");
        assert_false(flr_http_argument(head->query, "token", value, 3));
        assert_false(flr_http_argument(head->query, "oken", value, sizeof value));
        flr_http_restart(&reader);
        assert_int_equal(read_all(&reader, "HEAD / HTTP/1.0\r\n\r\n", step, &used), FLR_HTTP_DONE);
        assert_int_equal(reader.head.method, FLR_HTTP_HEAD);
        assert_false(reader.head.keep_alive);
        flr_http_free(&reader);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned status;
    } cases[] = {
        {"PRI * HTTP/2.0\r\n\r\n", 505},
        {"GET / HTTP/1.2\r\n\r\n", 505},
        {"GET /\r\n\r\n", 400},
        {"GET  / HTTP/1.1\r\n\r\n", 400},
        {"GET http://a/ HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\n", 400},
        {"GET / HTTP/1.1\r\rX", 400},
        {"GET / HTTP/1.1\r\nHost\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", 413},
        {"GET / HTTP/1.1\r\nContent-Length: 00\r\n\r\n", FLR_HTTP_DONE},
        {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 413},
        {"POST * HTTP/1.1\r\n\r\n", FLR_HTTP_DONE},
        {"\x16\x03\x01", 400},
        {"GET /\x7F", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (status_of(cases[i].text) != cases[i].status)
            fail_msg("%s: %u, not %u", cases[i].text, status_of(cases[i].text), cases[i].status);
}

/* 8 KiB are read, a byte more is not, whether or not the header is one that is looked at */
static void test_length(void **state)
{
    (void)state;
    static const char begin[] = "GET / HTTP/1.1\r\nX-Unknown: ", end[] = "\r\n\r\n";
    for (int more = 0; more < 2; more++) {
        size_t size = FLR_HTTP_MAX_HEAD + (size_t)more;
        char *text = malloc(size + 1);
        memset(text, 'x', size);
        memcpy(text, begin, sizeof begin - 1);
        memcpy(text + size - 4, end, sizeof end);
        assert_int_equal(status_of(text), more ? 431 : FLR_HTTP_DONE);
        free(text);
    }
}

static void test_forwarded(void **state)
{
    (void)state;
    static const char *const lines[] = {"Forwarded: for=1.2.3.4",
                                        "X-Forwarded-For: 1.2.3.4",
                                        "x-forwarded-proto: https",
                                        "Via: 1.1 proxy",
                                        "X-Real-IP: 1.2.3.4",
                                        "True-Client-IP: 1.2.3.4",
                                        "CF-Connecting-IP: 1.2.3.4",
                                        "X-Client-IP: 1.2.3.4",
                                        "X-Cluster-Client-IP: 1.2.3.4",
                                        "X-Original-Forwarded-For: 1.2.3.4",
                                        "X-Envoy-External-Address: 1.2.3.4"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[128];
        flr_http_reader reader = {0};
        size_t used;
        snprintf(text, sizeof text, "GET / HTTP/1.1\r\n%s\r\n\r\n", lines[i]);
        assert_int_equal(read_all(&reader, text, SIZE_MAX, &used), FLR_HTTP_DONE);
        assert_true(reader.head.forwarded);
        flr_http_free(&reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_forwarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
