/* the controller by its sockets: pages, handshake, commands, uploads, recordings */
#include <dirent.h>
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

/* ---- HTTP ---- */

static void has(char *answer, const char *text)
{
    if (!strcasestr(answer, text)) fail_msg("'%s' is not in:\n%s", text, answer);
    free(answer);
}

static void lacks(char *answer, const char *text)
{
    if (strcasestr(answer, text)) fail_msg("'%s' is in:\n%s", text, answer);
    free(answer);
}

static void test_pages(void **state)
{
    (void)state;
    has(flr_test_get(server.port, "/"), "HTTP/1.1 200");
    has(flr_test_get(server.port, "/"), "<!doctype html>");
    has(flr_test_get(server.port, "/index.html"), "content-type: text/html");
    has(flr_test_get(server.port, "/"), "content-security-policy: default-src 'none'");
    has(flr_test_get(server.port, "/nothing"), "HTTP/1.1 404");
    has(flr_test_get(server.port, "/../../etc/passwd"), "HTTP/1.1 40");
    has(flr_test_get(server.port, "/health"), "\"rate_held\"");
    has(flr_test_get(server.port, "/health"), "\"heap\": ");
    has(flr_test_get(server.port, "/recordings/99.mcap"), "HTTP/1.1 404");
    has(flr_test_http(server.port,
                      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"),
        "HTTP/1.1 405");
    has(flr_test_http(server.port,
                      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"),
        "HTTP/1.1 413");
    has(flr_test_http(server.port, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "HTTP/1.1 403");
    lacks(flr_test_http(server.port, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "doctype");
}

static void test_page_is_cached(void **state)
{
    (void)state;
    char *answer = flr_test_http(
        server.port, "GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br, gzip\r\n\r\n");
    assert_non_null(strcasestr(answer, "content-encoding: gzip"));
    char *etag = strcasestr(answer, "etag: ");
    assert_non_null(etag);
    char request[512];
    snprintf(request, sizeof request,
             "GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nIf-None-Match: "
             "%.*s\r\n\r\n",
             (int)strcspn(etag + 6, "\r\n"), etag + 6);
    free(answer);
    has(flr_test_http(server.port, request), "HTTP/1.1 304");
}

/* ---- the handshake ---- */

/* The first message is an error of this code, and the connection ends. */
static void expect_refusal(flr_test_ws *ws, uint8_t code, const char *part)
{
    flr_message message;
    assert_true(flr_test_ws_receive(ws, 300, &message));
    assert_int_equal(message.id, FLR_MSG_ERROR);
    assert_int_equal(message.as.error.code, code);
    if (!strstr(message.as.error.sentence.bytes, part))
        fail_msg("'%s' is not in: %s", part, message.as.error.sentence.bytes);
    assert_false(flr_test_ws_receive(ws, 300, &message));
    assert_int_not_equal(ws->close_code, 0);
}

static void test_handshake(void **state)
{
    (void)state;
    flr_test_ws ws;
    flr_message message;
    flr_test_server_join(&server, &ws);
    flr_test_ws_expect(&ws, FLR_MSG_SCENE, &message);
    assert_int_equal(message.as.scene.parts, 2);
    uint32_t mesh = 0, part = 0;
    for (int i = 0; i < 2; i++) {
        flr_test_ws_expect(&ws, FLR_MSG_PART, &message);
        assert_true(message.as.part.ready);
        if (message.as.part.kind == FLR_WIRE_PART_MOVABLE)
            part = message.as.part.part, mesh = message.as.part.mesh;
    }
    flr_message ask = {.id = FLR_MSG_MESH_ASK, .request = 5, .as.mesh_ask = {.mesh = mesh}};
    assert_true(flr_test_ws_send_message(&ws, &ask));
    flr_test_ws_expect(&ws, FLR_MSG_MESH, &message);
    assert_int_equal(message.as.mesh.triangles, 48);
    assert_int_equal(message.as.mesh.chunks, 1);
    assert_int_equal(message.request, 5);
    flr_test_ws_expect(&ws, FLR_MSG_MESH_CHUNK, &message);
    assert_int_equal(message.as.mesh_chunk.vertices_count, 3 * 26);
    assert_int_equal(message.as.mesh_chunk.indices_count, 3 * 48);
    flr_test_ws_expect(&ws, FLR_MSG_DONE, &message);
    /* states come; the first is whole */
    flr_message watch = {.id = FLR_MSG_WATCH, .request = 6};
    watch.as.watch.wants = FLR_WIRE_WANT_STATE | FLR_WIRE_WANT_EVENTS;
    watch.as.watch.state_rate = 200;
    assert_true(flr_test_ws_send_message(&ws, &watch));
    flr_test_ws_expect(&ws, FLR_MSG_STATE, &message);
    assert_true(message.as.state.whole);
    assert_int_equal(message.as.state.parts_count, 1);
    assert_int_equal(message.as.state.parts[0].part, part);
    uint64_t frame = message.as.state.frame;
    flr_test_ws_expect(&ws, FLR_MSG_STATE, &message);
    assert_gt(message.as.state.frame, frame);
    assert_false(message.as.state.whole);
    /* a hand takes the block and moves it */
    flr_message input = {.id = FLR_MSG_HAND_INPUT};
    input.as.hand_input.T_world_hand = flr_pose_identity();
    input.as.hand_input.T_world_hand.p.z = 0.05;
    assert_true(flr_test_ws_send_message(&ws, &input));
    flr_message grab = {.id = FLR_MSG_GRAB,
                        .request = 7,
                        .as.grab = {.hand = 0, .part = part, .T_world_hand = flr_pose_identity()}};
    assert_true(flr_test_ws_send_message(&ws, &grab));
    flr_test_ws_expect(&ws, FLR_MSG_DONE, &message);
    double height = 0;
    for (int i = 0; i < 40000 && height < 0.055; i++) {
        input.as.hand_input.T_world_hand.p.z = 0.05 + 0.0005 * (i < 20 ? i : 20);
        assert_true(flr_test_ws_send_message(&ws, &input));
        flr_test_ws_expect(&ws, FLR_MSG_STATE, &message);
        for (uint32_t k = 0; k < message.as.state.parts_count; k++)
            height = message.as.state.parts[k].T_world_part.p.z;
    }
    assert_ge(height, 0.055);
    flr_test_ws_close(&ws);
}

static void test_bad_hello(void **state)
{
    (void)state;
    flr_test_ws ws;
    flr_message hello = {.id = FLR_MSG_HELLO};
    hello.as.hello.name = flr_wire_text_of("test");
    uint8_t bytes[512];
    size_t size;
    assert_int_equal(
        flr_protocol_encode(&hello, FLR_PROTOCOL_MINOR, bytes, sizeof bytes, &size, NULL), FLR_OK);
    /* another major version */
    assert_true(flr_test_ws_open(&ws, server.port, NULL, NULL));
    bytes[6] = 9;
    assert_true(flr_test_ws_send(&ws, bytes, size));
    expect_refusal(&ws, FLR_WIRE_RESULT_UNSUPPORTED, "version");
    flr_test_ws_close(&ws);
    /* no hello at all */
    flr_message ping = {.id = FLR_MSG_PING, .request = 1};
    assert_true(flr_test_ws_open(&ws, server.port, NULL, NULL));
    assert_true(flr_test_ws_send_message(&ws, &ping));
    expect_refusal(&ws, FLR_WIRE_RESULT_BAD_INPUT, "hello");
    flr_test_ws_close(&ws);
    /* more than a hello can be */
    assert_true(flr_test_ws_open(&ws, server.port, NULL, NULL));
    uint8_t *large = calloc(1, 100000);
    uint32_t said = 100000;
    memcpy(large, &said, sizeof said);
    flr_test_ws_send(&ws, large, 100000);
    free(large);
    expect_refusal(&ws, FLR_WIRE_RESULT_TOO_LARGE, "longer");
    flr_test_ws_close(&ws);
}

static void test_origin(void **state)
{
    (void)state;
    flr_test_ws ws;
    char own[64];
    snprintf(own, sizeof own, "http://localhost:%u", server.port);
    assert_true(flr_test_ws_open(&ws, server.port, NULL, own));
    flr_test_ws_close(&ws);
    static const char *const foreign[] = {"https://evil.example", "null", "http://localhost:1"};
    for (size_t i = 0; i < 3; i++) {
        assert_false(flr_test_ws_open(&ws, server.port, NULL, foreign[i]));
        assert_non_null(strstr(ws.answer, "403"));
        flr_test_ws_close(&ws);
    }
    assert_false(flr_test_ws_open(&ws, server.port, "evil.example", "http://evil.example"));
    flr_test_ws_close(&ws);
}

/* ---- commands ---- */

static void expect_error(flr_test_ws *ws, uint32_t request, uint8_t code)
{
    flr_message message;
    do assert_true(flr_test_ws_receive(ws, 300, &message));
    while (message.request != request);
    assert_int_equal(message.id, FLR_MSG_ERROR);
    assert_int_equal(message.as.error.code, code);
}

static void expect_done(flr_test_ws *ws, uint32_t request, uint32_t *value)
{
    flr_message message;
    do assert_true(flr_test_ws_receive(ws, 300, &message));
    while (message.request != request);
    if (message.id == FLR_MSG_ERROR) fail_msg("%s", message.as.error.sentence.bytes);
    assert_int_equal(message.id, FLR_MSG_DONE);
    if (value) *value = message.as.done.value;
}

static void test_watcher(void **state)
{
    (void)state;
    flr_test_ws ws;
    assert_true(flr_test_ws_open(&ws, server.port, NULL, NULL));
    flr_test_ws_hello(&ws, FLR_WIRE_ROLE_WATCHER, UINT32_MAX, NULL);
    static const uint16_t refused[] = {FLR_MSG_GRAB,         FLR_MSG_RESET, FLR_MSG_RECORD_START,
                                       FLR_MSG_RECORD_FETCH, FLR_MSG_LOAD,  FLR_MSG_REMOVE,
                                       FLR_MSG_PAUSE,        FLR_MSG_SET,   FLR_MSG_CANCEL};
    for (uint32_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        flr_message message = {.id = refused[i], .request = i + 1};
        if (refused[i] == FLR_MSG_GRAB) message.as.grab.T_world_hand = flr_pose_identity();
        assert_true(flr_test_ws_send_message(&ws, &message));
        expect_error(&ws, i + 1, FLR_WIRE_RESULT_DENIED);
    }
    flr_message ask = {.id = FLR_MSG_PARAMETERS_ASK, .request = 99}, message;
    assert_true(flr_test_ws_send_message(&ws, &ask));
    flr_test_ws_expect(&ws, FLR_MSG_PARAMETER, &message);
    flr_test_ws_expect(&ws, FLR_MSG_DONE, &message);
    flr_test_ws_close(&ws);
}

/* Whose hand is used by another does not let go of what that one holds when it leaves. */
static void test_hand_is_whose_used_it_last(void **state)
{
    (void)state;
    flr_test_ws one, two;
    flr_test_server_join(&server, &one);
    flr_test_server_join(&server, &two);
    flr_message message, grab = {.id = FLR_MSG_GRAB,
                                 .request = 1,
                                 .as.grab = {.part = 1, .T_world_hand = flr_pose_identity()}};
    flr_message ask = {.id = FLR_MSG_STATE_ASK, .request = 2};
    assert_true(flr_test_ws_send_message(&one, &grab));
    expect_done(&one, 1, NULL);
    assert_true(flr_test_ws_send_message(&two, &grab));
    expect_done(&two, 1, NULL);
    flr_test_ws_close(&one);
    /* the loop gets to it when it can, and then it stays */
    for (int i = 0, held = 0; held < 25; i++) {
        ask.request++;
        assert_true(flr_test_ws_send_message(&two, &ask));
        do assert_true(flr_test_ws_receive(&two, 300, &message));
        while (message.request != ask.request);
        assert_int_equal(message.id, FLR_MSG_STATE);
        if (held || i > 60000) assert_int_equal(message.as.state.hands[0].held, 1);
        held += message.as.state.hands[0].held == 1;
        usleep(5000);
    }
    flr_message let_go = {.id = FLR_MSG_RELEASE, .request = 9999};
    assert_true(flr_test_ws_send_message(&two, &let_go));
    expect_done(&two, 9999, NULL);
    flr_test_ws_close(&two);
}

static void test_command_needs_a_number(void **state)
{
    (void)state;
    flr_test_ws ws;
    flr_test_server_join(&server, &ws);
    flr_message reset = {.id = FLR_MSG_RESET}, message;
    assert_true(flr_test_ws_send_message(&ws, &reset));
    do assert_true(flr_test_ws_receive(&ws, 300, &message));
    while (message.id != FLR_MSG_ERROR);
    assert_int_equal(message.as.error.about, FLR_MSG_RESET);
    flr_test_ws_close(&ws);
}

static unsigned files_below(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);
    if (!folder) return 0;
    for (struct dirent *item; (item = readdir(folder));) {
        if (item->d_name[0] == '.' || strstr(item->d_name, ".lock")) continue;
        char below[2048];
        snprintf(below, sizeof below, "%.1024s/%s", path, item->d_name);
        count += item->d_type == DT_DIR ? files_below(below) : 1;
    }
    closedir(folder);
    return count;
}

static const char stl[] =
    "solid a\n"
    "facet normal 0 0 0 outer loop\n vertex 0 0 0\n vertex 0 9 0\n vertex 9 0 0\n"
    "endloop endfacet\n"
    "facet normal 0 0 0 outer loop\n vertex 0 0 0\n vertex 9 0 0\n vertex 0 0 9\n"
    "endloop endfacet\n"
    "facet normal 0 0 0 outer loop\n vertex 0 0 0\n vertex 0 0 9\n vertex 0 9 0\n"
    "endloop endfacet\n"
    "facet normal 0 0 0 outer loop\n vertex 9 0 0\n vertex 0 9 0\n vertex 0 0 9\n"
    "endloop endfacet\nendsolid a\n";

static void wait_for_job(flr_test_ws *ws, uint32_t job)
{
    flr_message message;
    do flr_test_ws_expect(ws, FLR_MSG_JOB, &message);
    while (message.as.job.job != job || message.as.job.state != FLR_WIRE_JOB_ENDED);
    if (message.as.job.result != FLR_WIRE_RESULT_OK) fail_msg("%s", message.as.job.sentence.bytes);
}

/* what is no mesh is refused in words about the part, not about a file of the controller's */
static void test_upload_junk(void **state)
{
    (void)state;
    flr_test_ws ws;
    uint32_t number, job;
    flr_test_server_join(&server, &ws);
    flr_message watch = {.id = FLR_MSG_WATCH, .request = 1, .as.watch.wants = FLR_WIRE_WANT_JOBS};
    assert_true(flr_test_ws_send_message(&ws, &watch));
    expect_done(&ws, 1, NULL);
    flr_message upload = {.id = FLR_MSG_UPLOAD, .request = 2};
    upload.as.upload.name = flr_wire_text_of("letter.stl");
    upload.as.upload.unit = 1e-3;
    upload.as.upload.bytes = 4;
    assert_true(flr_test_ws_send_message(&ws, &upload));
    expect_done(&ws, 2, &number);
    flr_message piece = {.id = FLR_MSG_UPLOAD_BYTES, .request = 3};
    piece.as.upload_bytes.upload = number;
    piece.as.upload_bytes.bytes = (const uint8_t *)"dear";
    piece.as.upload_bytes.bytes_count = 4;
    assert_true(flr_test_ws_send_message(&ws, &piece));
    expect_done(&ws, 3, NULL);
    flr_message last = {.id = FLR_MSG_UPLOAD_END, .request = 4};
    last.as.upload_end.upload = number;
    last.as.upload_end.T_world_part = flr_pose_identity();
    assert_true(flr_test_ws_send_message(&ws, &last));
    expect_done(&ws, 4, &job);
    flr_message message;
    do flr_test_ws_expect(&ws, FLR_MSG_JOB, &message);
    while (message.as.job.job != job || message.as.job.state != FLR_WIRE_JOB_ENDED);
    assert_int_not_equal(message.as.job.result, FLR_WIRE_RESULT_OK);
    assert_memory_equal(message.as.job.sentence.bytes, "letter", 6);
    assert_null(strstr(message.as.job.sentence.bytes, "/"));
    assert_int_equal(files_below(server.uploads), 0);
    flr_test_ws_close(&ws);
}

static void test_upload(void **state)
{
    (void)state;
    flr_test_ws ws;
    uint32_t number, job;
    flr_test_server_join(&server, &ws);
    flr_message watch = {.id = FLR_MSG_WATCH, .request = 1, .as.watch.wants = FLR_WIRE_WANT_JOBS};
    assert_true(flr_test_ws_send_message(&ws, &watch));
    expect_done(&ws, 1, NULL);
    /* far too much is refused at once */
    flr_message upload = {.id = FLR_MSG_UPLOAD, .request = 2};
    upload.as.upload.name = flr_wire_text_of("../../corner.stl");
    upload.as.upload.unit = 1e-3;
    upload.as.upload.bytes = 1000000000;
    assert_true(flr_test_ws_send_message(&ws, &upload));
    expect_error(&ws, 2, FLR_WIRE_RESULT_TOO_LARGE);
    /* a small file in two pieces */
    upload.request = 3;
    upload.as.upload.bytes = sizeof stl - 1;
    assert_true(flr_test_ws_send_message(&ws, &upload));
    expect_done(&ws, 3, &number);
    assert_int_equal(files_below(server.uploads), 1);
    for (uint32_t i = 0; i < 2; i++) {
        flr_message piece = {.id = FLR_MSG_UPLOAD_BYTES, .request = 4 + i};
        size_t half = (sizeof stl - 1) / 2;
        piece.as.upload_bytes.upload = number;
        piece.as.upload_bytes.offset = i * half;
        piece.as.upload_bytes.bytes = (const uint8_t *)stl + i * half;
        piece.as.upload_bytes.bytes_count = (uint32_t)(i ? sizeof stl - 1 - half : half);
        assert_true(flr_test_ws_send_message(&ws, &piece));
        expect_done(&ws, 4 + i, NULL);
    }
    flr_message last = {.id = FLR_MSG_UPLOAD_END, .request = 6};
    last.as.upload_end.upload = number;
    last.as.upload_end.kind = FLR_WIRE_PART_MOVABLE;
    last.as.upload_end.voxel = 1e-3;
    last.as.upload_end.T_world_part = flr_pose_identity();
    last.as.upload_end.T_world_part.p.x = 0.2;
    assert_true(flr_test_ws_send_message(&ws, &last));
    expect_done(&ws, 6, &job);
    wait_for_job(&ws, job);
    assert_int_equal(files_below(server.uploads), 0);
    flr_test_ws_close(&ws);

    /* it is there for everybody */
    flr_message message;
    bool found = false;
    flr_test_server_join(&server, &ws);
    flr_test_ws_expect(&ws, FLR_MSG_SCENE, &message);
    for (uint32_t i = message.as.scene.parts; i > 0; i--) {
        flr_test_ws_expect(&ws, FLR_MSG_PART, &message);
        found = found || !strcmp(message.as.part.name.bytes, "corner");
    }
    assert_true(found);
    /* one that is given up leaves nothing */
    upload.request = 7;
    assert_true(flr_test_ws_send_message(&ws, &upload));
    expect_done(&ws, 7, NULL);
    assert_int_equal(files_below(server.uploads), 1);
    flr_test_ws_close(&ws);
    for (int i = 0; i < 30000 && files_below(server.uploads) > 0; i++)
        flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 10000000);
    assert_int_equal(files_below(server.uploads), 0);
}

static void test_upload_triangles(void **state)
{
    (void)state;
    flr_test_ws ws;
    uint32_t number, job;
    flr_test_server_join(&server, &ws);
    flr_message watch = {.id = FLR_MSG_WATCH, .request = 1, .as.watch.wants = FLR_WIRE_WANT_JOBS};
    assert_true(flr_test_ws_send_message(&ws, &watch));
    expect_done(&ws, 1, NULL);
    static const float vertices[] = {0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 9};
    static const uint32_t indices[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    flr_message upload = {.id = FLR_MSG_UPLOAD, .request = 2};
    upload.as.upload.name = flr_wire_text_of("tetrahedron");
    upload.as.upload.unit = 1e-3;
    upload.as.upload.vertices = 4;
    upload.as.upload.triangles = 4;
    assert_true(flr_test_ws_send_message(&ws, &upload));
    expect_done(&ws, 2, &number);
    flr_message piece = {.id = FLR_MSG_UPLOAD_TRIANGLES, .request = 3};
    piece.as.upload_triangles.upload = number;
    piece.as.upload_triangles.vertices = vertices;
    piece.as.upload_triangles.vertices_count = 12;
    piece.as.upload_triangles.indices = indices;
    piece.as.upload_triangles.indices_count = 12;
    assert_true(flr_test_ws_send_message(&ws, &piece));
    expect_done(&ws, 3, NULL);
    /* no more than was announced */
    piece.request = 4;
    piece.as.upload_triangles.first_vertex = 4;
    piece.as.upload_triangles.first_triangle = 4;
    assert_true(flr_test_ws_send_message(&ws, &piece));
    expect_error(&ws, 4, FLR_WIRE_RESULT_TOO_LARGE);
    flr_message last = {.id = FLR_MSG_UPLOAD_END, .request = 5};
    last.as.upload_end.upload = number;
    last.as.upload_end.T_world_part = flr_pose_identity();
    assert_true(flr_test_ws_send_message(&ws, &last));
    expect_error(&ws, 5, FLR_WIRE_RESULT_NOT_FOUND);
    /* again, in order */
    upload.request = 6;
    assert_true(flr_test_ws_send_message(&ws, &upload));
    expect_done(&ws, 6, &number);
    piece.request = 7;
    piece.as.upload_triangles.upload = number;
    piece.as.upload_triangles.first_vertex = piece.as.upload_triangles.first_triangle = 0;
    assert_true(flr_test_ws_send_message(&ws, &piece));
    expect_done(&ws, 7, NULL);
    last.request = 8;
    last.as.upload_end.upload = number;
    last.as.upload_end.T_world_part.p.x = -0.2;
    last.as.upload_end.voxel = 1e-3;
    assert_true(flr_test_ws_send_message(&ws, &last));
    expect_done(&ws, 8, &job);
    wait_for_job(&ws, job);
    flr_test_ws_close(&ws);
}

static void test_recording(void **state)
{
    (void)state;
    flr_test_ws ws;
    flr_message message, begin_it = {.id = FLR_MSG_RECORD_START, .request = 1};
    uint32_t recording;
    flr_test_server_join(&server, &ws);
    begin_it.as.record_start.name = flr_wire_text_of("way out");
    assert_true(flr_test_ws_send_message(&ws, &begin_it));
    expect_done(&ws, 1, &recording);
    flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 100000000);
    flr_message end_it = {.id = FLR_MSG_RECORD_STOP, .request = 2};
    assert_true(flr_test_ws_send_message(&ws, &end_it));
    expect_done(&ws, 2, NULL);
    uint64_t bytes = 0;
    for (uint32_t request = 3; bytes == 0 && request < 30000; request++) {
        flr_message ask = {.id = FLR_MSG_RECORDINGS_ASK, .request = request};
        assert_true(flr_test_ws_send_message(&ws, &ask));
        flr_test_ws_expect(&ws, FLR_MSG_RECORDING, &message);
        assert_int_equal(message.as.recording.recording, recording);
        assert_string_equal(message.as.recording.name.bytes, "way out");
        if (message.as.recording.finished) bytes = message.as.recording.bytes;
        expect_done(&ws, request, NULL);
        flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 10000000);
    }
    assert_gt(bytes, 1000);
    flr_message fetch = {.id = FLR_MSG_RECORD_FETCH, .request = 50000};
    fetch.as.record_fetch.recording = recording;
    fetch.as.record_fetch.size = 262144;
    assert_true(flr_test_ws_send_message(&ws, &fetch));
    flr_test_ws_expect(&ws, FLR_MSG_RECORD_DATA, &message);
    assert_int_equal(message.as.record_data.total, bytes);
    assert_memory_equal(message.as.record_data.bytes, "\x89MCAP0\r\n", 8);
    fetch.as.record_fetch.offset = UINT64_C(1) << 50;
    fetch.request = 50001;
    assert_true(flr_test_ws_send_message(&ws, &fetch));
    flr_test_ws_expect(&ws, FLR_MSG_RECORD_DATA, &message);
    assert_int_equal(message.as.record_data.bytes_count, 0);
    flr_test_ws_close(&ws);
    char path[64], length[64];
    snprintf(path, sizeof path, "/recordings/%u.mcap", recording);
    snprintf(length, sizeof length, "content-length: %llu", (unsigned long long)bytes);
    has(flr_test_get(server.port, path), length);
    has(flr_test_get(server.port, path), "filename=\"way_out.mcap\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_page_is_cached),
        cmocka_unit_test(test_handshake),
        cmocka_unit_test(test_bad_hello),
        cmocka_unit_test(test_origin),
        cmocka_unit_test(test_watcher),
        cmocka_unit_test(test_hand_is_whose_used_it_last),
        cmocka_unit_test(test_command_needs_a_number),
        cmocka_unit_test(test_upload),
        cmocka_unit_test(test_upload_junk),
        cmocka_unit_test(test_upload_triangles),
        cmocka_unit_test(test_recording),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
