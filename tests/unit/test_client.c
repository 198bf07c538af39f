/* the client of host applications, against a controller that is played by this test */
#include "feeler/client.h"

#include <libwebsockets.h>
#include <math.h>
#include <pthread.h>

#include "feeler/env.h"
#include "protocol/codec.h"
#include "support/test.h"

/* ---- the fake controller ---- */

static const char secret[] = "secret-token-0123";

typedef enum trick { NO_TRICK, JUNK, SILENT, BYE } trick;

static struct fake {
    struct lws_context *context;
    pthread_t thread;
    _Atomic int stop, drop, trick;
    int port;
    // what came
    _Atomic int hellos, hands, vertices, indices, closed;
    // waiting to be sent, FIFO
    unsigned char *queue[256];
    size_t sizes[256];
    unsigned first, last;
    flr_pose T;
    unsigned char in[1 << 22];
    size_t in_size;
} fake;

static void reply(const flr_message *message)
{
    unsigned char *bytes = malloc(LWS_PRE + 300000);
    flr_error error;
    size_t size;
    if (flr_protocol_encode(message, FLR_PROTOCOL_MINOR, bytes + LWS_PRE, 300000, &size, &error) !=
        FLR_OK) {
        fprintf(stderr, "fake: %s\n", error.message);
        abort();
    }
    fake.queue[fake.last % 256] = bytes;
    fake.sizes[fake.last++ % 256] = size;
}

static void done(uint32_t request, flr_result code, uint32_t value, const char *sentence)
{
    flr_message m = {.id = FLR_MSG_DONE, .request = request};
    m.as.done.code = (uint8_t)code;
    m.as.done.value = value;
    m.as.done.sentence = flr_wire_text_of(sentence);
    reply(&m);
}

static void send_part(uint32_t number, const char *name, bool ready)
{
    flr_message m = {.id = FLR_MSG_PART};
    m.as.part.part = number;
    m.as.part.kind = FLR_WIRE_PART_MOVABLE;
    m.as.part.ready = ready;
    m.as.part.voxel = 0.001;
    m.as.part.T_world_part = flr_pose_identity();
    m.as.part.name = flr_wire_text_of(name);
    reply(&m);
}

static void send_state(void)
{
    flr_wire_hand_state hand = {.held = 1,
                                .touched = UINT32_MAX,
                                .T_world_hand = fake.T,
                                .T_world_ghost = fake.T,
                                .wrench = {.force = {0, 0, 2}}};
    flr_wire_part_state part = {1, FLR_WIRE_LOOK_COLLIDING, fake.T};
    flr_wire_contact contact = {{0.5f, 0, 0}, {0, 0, 2}, 0.25f, 1, 0};
    static uint64_t frame;
    flr_message m = {.id = FLR_MSG_STATE};
    m.as.state.frame = ++frame;
    m.as.state.scene = 1;
    m.as.state.contact_count = 1;
    m.as.state.lower = 0.002;
    m.as.state.upper = INFINITY;
    m.as.state.rate_held = true;
    m.as.state.whole = true;
    m.as.state.hands = &hand, m.as.state.hands_count = 1;
    m.as.state.parts = &part, m.as.state.parts_count = 1;
    m.as.state.contacts = &contact, m.as.state.contacts_count = 1;
    reply(&m);
}

static void welcome(const flr_msg_hello *hello)
{
    fake.hellos++;
    if (hello->token.size != strlen(secret) ||
        memcmp(hello->token.bytes, secret, hello->token.size)) {
        flr_message m = {.id = FLR_MSG_ERROR};
        m.as.error.code = FLR_WIRE_RESULT_DENIED;
        m.as.error.about = FLR_MSG_HELLO;
        m.as.error.sentence = flr_wire_text_of("that is not the token");
        reply(&m);
        return;
    }
    flr_message m = {.id = FLR_MSG_WELCOME};
    m.as.welcome.session = 1;
    m.as.welcome.loop_rate = 1000;
    m.as.welcome.name = flr_wire_text_of("fake");
    reply(&m);
    m = (flr_message){.id = FLR_MSG_SCENE};
    m.as.scene.scene = 1;
    m.as.scene.parts = 2;
    m.as.scene.hands = 1;
    m.as.scene.name = flr_wire_text_of("test");
    m.as.scene.unit = flr_wire_text_of("mm");
    reply(&m);
    send_part(0, "bay", true);
    send_part(1, "pump", true);
}

static void send_parameter(uint32_t request, const char *name, double value)
{
    flr_message m = {.id = FLR_MSG_PARAMETER, .request = request};
    m.as.parameter.value = value;
    m.as.parameter.high = 1e6;
    m.as.parameter.name = flr_wire_text_of(name);
    reply(&m);
}

static void send_job(uint32_t number, uint32_t part, int state, flr_result result,
                     const char *sentence)
{
    flr_message m = {.id = FLR_MSG_JOB};
    m.as.job.job = number;
    m.as.job.kind = FLR_WIRE_JOB_VOXELIZE;
    m.as.job.state = (uint8_t)state;
    m.as.job.result = (uint8_t)result;
    m.as.job.part = part;
    m.as.job.sentence = flr_wire_text_of(sentence);
    reply(&m);
}

static void upload_end(const flr_message *m)
{
    static uint32_t job = 8;
    bool bad = m->as.upload_end.voxel == 666;
    done(m->request, FLR_OK, ++job, "");
    send_job(job, UINT32_MAX, FLR_WIRE_JOB_RUNNING, FLR_OK, "making voxels");
    if (!bad) send_part(3, "block", false);
    send_job(job, bad ? UINT32_MAX : 3, FLR_WIRE_JOB_ENDED, bad ? FLR_TOO_LARGE : FLR_OK,
             bad ? "too many voxels; make them larger" : "");
    if (!bad) send_part(3, "block", true);
}

static void fetch(const flr_message *m)
{
    enum { TOTAL = 300000 };
    static unsigned char bytes[262144];
    uint64_t at = m->as.record_fetch.offset;
    uint64_t left = TOTAL - at,
             count = left < m->as.record_fetch.size ? left : m->as.record_fetch.size;
    for (uint64_t i = 0; i < count; i++) bytes[i] = (unsigned char)((at + i) * 7 % 251);
    flr_message data = {.id = FLR_MSG_RECORD_DATA, .request = m->request};
    data.as.record_data.recording = m->as.record_fetch.recording;
    data.as.record_data.offset = at;
    data.as.record_data.total = TOTAL;
    data.as.record_data.bytes = bytes;
    data.as.record_data.bytes_count = (uint32_t)count;
    reply(&data);
}

static void take(const flr_message *m)
{
    if (fake.trick == SILENT && m->id != FLR_MSG_HELLO && m->id != FLR_MSG_WATCH) return;
    switch (m->id) {
    case FLR_MSG_HELLO:
        welcome(&m->as.hello);
        break;
    case FLR_MSG_WATCH:
        send_state();
        break;
    case FLR_MSG_HAND_INPUT:
        fake.hands++;
        fake.T = m->as.hand_input.T_world_hand;
        send_state();
        break;
    case FLR_MSG_GRAB:
        if (m->as.grab.part == 1)
            done(m->request, FLR_OK, 0, "");
        else
            done(m->request, FLR_BAD_ARGUMENT, 0, "part 0 does not move");
        break;
    case FLR_MSG_UPLOAD:
        done(m->request, FLR_OK, 5, "");
        break;
    case FLR_MSG_UPLOAD_TRIANGLES:
        fake.vertices += (int)m->as.upload_triangles.vertices_count / 3;
        fake.indices += (int)m->as.upload_triangles.indices_count;
        done(m->request, FLR_OK, 0, "");
        break;
    case FLR_MSG_UPLOAD_END:
        upload_end(m);
        break;
    case FLR_MSG_PARAMETERS_ASK:
        send_parameter(m->request, "stiffness", 1000);
        send_parameter(m->request, "force_layer", 2);
        done(m->request, FLR_OK, 0, "");
        break;
    case FLR_MSG_CLEARANCE_ASK: {
        flr_message c = {.id = FLR_MSG_CLEARANCE, .request = m->request};
        c.as.clearance.part = m->as.clearance_ask.part;
        c.as.clearance.lower = 0.001;
        c.as.clearance.upper = 0.002;
        c.as.clearance.to.x = 0.5;
        reply(&c);
        break;
    }
    case FLR_MSG_RECORD_FETCH:
        fetch(m);
        break;
    case FLR_MSG_PONG:
        break;
    default:
        done(m->request, FLR_OK, 4, "");
        break;
    }
}

static int serve(struct lws *socket, enum lws_callback_reasons reason, void *user, void *in,
                 size_t size)
{
    (void)user;
    static _Thread_local struct lws *client;
    static unsigned char room[1 << 22];
    switch ((int)reason) {
    case LWS_CALLBACK_ESTABLISHED:
        client = socket;
        fake.in_size = 0;
        break;
    case LWS_CALLBACK_CLOSED:
        if (client == socket) client = NULL;
        fake.closed++;
        while (fake.first != fake.last) free(fake.queue[fake.first++ % 256]);
        break;
    case LWS_CALLBACK_RECEIVE:
        memcpy(fake.in + fake.in_size, in, size);
        fake.in_size += size;
        if (lws_is_final_fragment(socket) && !lws_remaining_packet_payload(socket)) {
            flr_message m;
            flr_error error;
            if (flr_protocol_decode(fake.in, fake.in_size, FLR_TO_CONTROLLER, room, sizeof room, &m,
                                    &error) != FLR_OK) {
                fprintf(stderr, "fake: %s\n", error.message);
                abort();
            }
            fake.in_size = 0;
            take(&m);
        }
        lws_callback_on_writable(socket);
        break;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        if (client) lws_callback_on_writable(client);
        break;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        if (fake.drop) {
            fake.drop = 0;
            return -1;
        }
        if (fake.trick == JUNK) {
            unsigned char junk[LWS_PRE + 64];
            memset(junk, 0xA5, sizeof junk);
            fake.trick = NO_TRICK;
            return lws_write(socket, junk + LWS_PRE, 64, LWS_WRITE_BINARY) < 0 ? -1 : 0;
        }
        if (fake.trick == BYE) {
            fake.trick = NO_TRICK;
            flr_message m = {.id = FLR_MSG_BYE};
            m.as.bye.code = FLR_WIRE_RESULT_CANCELLED;
            m.as.bye.sentence = flr_wire_text_of("shutting down");
            reply(&m);
        }
        if (fake.first != fake.last) {
            unsigned char *bytes = fake.queue[fake.first % 256];
            size_t count = fake.sizes[fake.first++ % 256];
            int sent = lws_write(socket, bytes + LWS_PRE, count, LWS_WRITE_BINARY);
            free(bytes);
            if (sent < 0) return -1;
            lws_callback_on_writable(socket);
        }
        break;
    default:
        break;
    }
    return 0;
}

static const struct lws_protocols protocols[] = {{.name = "feeler", .callback = serve},
                                                 {.name = NULL}};

static void *work(void *context)
{
    while (!fake.stop) lws_service(context, 0);
    return NULL;
}

static void fake_start(int port)
{
    struct lws_context_creation_info info = {0};
    info.port = port;
    info.iface = "lo";
    info.protocols = protocols;
    info.gid = info.uid = -1;
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    lws_set_log_level(0, NULL);
    fake.context = lws_create_context(&info);
    assert_non_null(fake.context);
    struct lws_vhost *vhost = lws_create_vhost(fake.context, &info);
    assert_non_null(vhost);
    fake.port = lws_get_vhost_listen_port(vhost);
    fake.stop = 0;
    pthread_create(&fake.thread, NULL, work, fake.context);
}

static void fake_stop(void)
{
    fake.stop = 1;
    lws_cancel_service(fake.context);
    pthread_join(fake.thread, NULL);
    lws_context_destroy(fake.context);
}

static int begin(void **state)
{
    (void)state;
    fake.trick = NO_TRICK;
    fake.hands = fake.vertices = fake.indices = 0;
    fake.T = flr_pose_identity();
    fake_start(0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fake_stop();
    return 0;
}

/* ---- tests ---- */

static flr_client_def def_of(char address[64])
{
    flr_client_def def = flr_default_client_def();
    snprintf(address, 64, "ws://127.0.0.1:%d", fake.port);
    def.address = address;
    def.token = secret;
    def.timeout = 300; // the machine may be busy
    return def;
}

static flr_client *connect_one(void)
{
    char address[64];
    flr_client_def def = def_of(address);
    flr_client *client = NULL;
    flr_error error;
    assert_ok(flr_client_connect(&def, &client, &error), error);
    return client;
}

static void nap(void) { flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 1000000); }

static void a_session(void **state)
{
    (void)state;
    flr_client *client = connect_one();
    flr_error error;
    assert_true(flr_client_connected(client));
    assert_int_equal(flr_client_part_count(client), 2);
    const flr_part_id pump = flr_client_find(client, "pump"), bay = flr_client_find(client, "bay");
    assert_int_equal(pump.index, 1);
    assert_false(flr_is_part(flr_client_find(client, "nothing")));
    flr_client_part part;
    assert_true(flr_client_part_at(client, 0, &part));
    assert_string_equal(part.name, "bay");
    assert_false(flr_client_part_at(client, 2, &part));

    // hands: what was moved comes back in a frame
    assert_ok(flr_client_grab(client, flr_hand(0), pump, &error), error);
    assert_int_equal(flr_client_grab(client, flr_hand(0), bay, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "does not move"));
    flr_pose T = flr_pose_identity(), got = T;
    T.p.x = 0.25;
    assert_false(flr_client_hand(client, flr_hand(99), T, 0));
    assert_true(flr_client_hand(client, flr_hand(0), T, 1));
    flr_client_frame_state frame;
    for (int i = 0; got.p.x != 0.25 && i < 300000; i++, nap())
        if (flr_client_frame(client, &frame)) flr_client_pose(client, pump, &got);
    assert_eq(got.p.x, 0.25);
    flr_client_frame(client, &frame);
    assert_false(flr_client_frame(client, &frame)); // nothing newer
    assert_int_equal(frame.hand_count, 1);
    assert_true(flr_same_part(frame.hands[0].held, pump));
    assert_eq(frame.hands[0].wrench.force.z, 2);
    assert_eq(frame.lower, 0.002);
    assert_true(isinf(frame.upper));
    flr_client_contact contacts[4];
    assert_int_equal(flr_client_contacts(client, contacts, 4), 1);
    assert_eq(contacts[0].point.x, 0.5);
    assert_eq(contacts[0].depth, 0.25);
    assert_true(flr_same_part(contacts[0].other, bay));
    assert_true(flr_client_part_at(client, 1, &part));
    assert_true(part.colliding);
    assert_true(part.held);
    assert_false(flr_client_pose(client, (flr_part_id){77, pump.generation}, &got));
    assert_ok(flr_client_release(client, flr_hand(0), &error), error);
    assert_ok(flr_client_place(client, pump, T, &error), error);
    assert_ok(flr_client_reset(client, &error), error);
    assert_ok(flr_client_undo(client, 1, &error), error);
    assert_ok(flr_client_remove(client, pump, &error), error);

    // parts of another scene are nobody's, whatever has their index now
    const flr_part_id old = {pump.index, pump.generation + 1};
    assert_false(flr_client_pose(client, old, &got));
    assert_int_equal(flr_client_grab(client, flr_hand(0), old, &error), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, "a scene that is gone"));
    assert_int_equal(flr_client_grab_at(client, flr_hand(0), old, T, &error), FLR_NOT_FOUND);
    assert_int_equal(flr_client_place(client, old, T, &error), FLR_NOT_FOUND);
    assert_int_equal(flr_client_remove(client, old, &error), FLR_NOT_FOUND);
    flr_client_clearance clearance;
    assert_int_equal(flr_client_get_clearance(client, bay, old, true, &clearance, &error),
                     FLR_NOT_FOUND);

    // parameters, clearance
    double value;
    assert_ok(flr_client_get(client, "force_layer", &value, &error), error);
    assert_eq(value, 2);
    assert_int_equal(flr_client_get(client, "colour", &value, &error), FLR_NOT_FOUND);
    assert_ok(flr_client_set(client, "stiffness", 500, &error), error);
    assert_ok(flr_client_get_clearance(client, bay, FLR_NO_PART_ID, true, &clearance, &error),
              error);
    assert_eq(clearance.lower, 0.001);
    assert_eq(clearance.to.x, 0.5);
    assert_true(flr_same_part(clearance.other, bay));
    flr_client_close(client);
    flr_client_close(NULL);
}

static void meshes(void **state)
{
    (void)state;
    flr_client *client = connect_one();
    flr_error error;
    // more than one piece of each
    enum { VERTICES = 70000, TRIANGLES = 140000 };
    float *vertices = calloc(3 * VERTICES, sizeof *vertices);
    uint32_t *indices = calloc(3 * TRIANGLES, sizeof *indices);
    for (uint32_t i = 0; i < 3 * TRIANGLES; i++) indices[i] = i % VERTICES;
    flr_client_mesh mesh = {.name = "block",
                            .vertices = vertices,
                            .vertex_count = VERTICES,
                            .indices = indices,
                            .triangle_count = TRIANGLES,
                            .kind = FLR_CLIENT_MOVABLE,
                            .voxel = 0.001,
                            .T_world_part = flr_pose_identity()};
    flr_part_id part = FLR_NO_PART_ID;
    assert_ok(flr_client_add_mesh(client, &mesh, 5, &part, &error), error);
    assert_int_equal(part.index, 3);
    assert_int_equal(fake.vertices, VERTICES);
    assert_int_equal(fake.indices, 3 * TRIANGLES);
    assert_true(flr_same_part(flr_client_find(client, "block"), part));

    // what a worker could not do, and what is no mesh
    mesh.voxel = 666;
    assert_int_equal(flr_client_add_mesh(client, &mesh, 5, &part, &error), FLR_TOO_LARGE);
    assert_non_null(strstr(error.message, "make them larger"));
    indices[4] = VERTICES;
    assert_int_equal(flr_client_add_mesh(client, &mesh, 5, &part, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "triangle 1 names vertex 70000"));
    mesh.triangle_count = 0;
    assert_int_equal(flr_client_add_mesh(client, &mesh, 5, &part, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(part.index, 3);
    flr_client_close(client);
    free(vertices);
    free(indices);
}

static void recordings(void **state)
{
    (void)state;
    flr_client *client = connect_one();
    flr_error error;
    uint32_t number = 0;
    assert_ok(flr_client_record_start(client, NULL, &number, &error), error);
    assert_int_equal(number, 4);
    assert_ok(flr_client_record_stop(client, &error), error);
    char *folder = flr_test_folder(), path[1100];
    snprintf(path, sizeof path, "%.1000s/a.mcap", folder);
    assert_ok(flr_client_record_fetch(client, number, path, &error), error);
    flr_blob blob;
    assert_ok(flr_file_read_all(flr_env_real(), path, 1 << 20, &blob, &error), error);
    assert_int_equal(blob.size, 300000);
    for (size_t i = 0; i < blob.size; i++) assert_int_equal(blob.bytes[i], i * 7 % 251);
    flr_blob_free(&blob);
    snprintf(path, sizeof path, "%.1000s/no/such/a.mcap", folder);
    assert_int_not_equal(flr_client_record_fetch(client, number, path, &error), FLR_OK);
    flr_test_folder_remove(folder);
    flr_client_close(client);
}

static void refused(void **state)
{
    (void)state;
    char address[64];
    flr_client_def def = def_of(address);
    flr_client *client = NULL;
    flr_error error;
    def.token = "another-token-456";
    assert_int_equal(flr_client_connect(&def, &client, &error), FLR_DENIED);
    assert_non_null(strstr(error.message, "not the token"));
    def.token = secret;
    const char *bad[] = {"", "host:port", "host:99999", "ws://", "host:12x", "wss://:80"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        def.address = bad[i];
        assert_int_equal(flr_client_connect(&def, &client, &error), FLR_BAD_ARGUMENT);
        assert_non_null(strstr(error.message, "host:port"));
    }
    def.address = "127.0.0.1:9"; // nobody there
    assert_int_equal(flr_client_connect(&def, &client, &error), FLR_CLOSED);
    assert_non_null(strstr(error.message, "127.0.0.1:9"));
    def.timeout = -1;
    assert_int_equal(flr_client_connect(&def, &client, &error), FLR_BAD_ARGUMENT);
    assert_null(client);
}

static void wait_connections(flr_client *client, uint32_t count)
{
    for (int i = 0; flr_client_connections(client) < count; i++, nap()) assert_lt(i, 300000);
}

static void lost_and_back(void **state)
{
    (void)state;
    flr_client *client = connect_one();
    flr_error error;
    fake.drop = 1;
    lws_cancel_service(fake.context);
    for (int i = 0; flr_client_connected(client); i++, nap()) assert_lt(i, 300000);
    assert_int_equal(flr_client_reset(client, &error), FLR_CLOSED);
    assert_non_null(strstr(error.message, "tried again"));
    wait_connections(client, 2);
    assert_ok(flr_client_reset(client, &error), error);

    // a peer that talks nonsense is left, and tried again
    fake.trick = JUNK;
    lws_cancel_service(fake.context);
    wait_connections(client, 3);
    fake.trick = BYE;
    lws_cancel_service(fake.context);
    wait_connections(client, 4);
    flr_client_close(client);
}

static void too_slow(void **state)
{
    (void)state;
    char address[64];
    flr_client_def def = def_of(address);
    def.timeout = 3; // what is answered at all comes sooner
    flr_client *client = NULL;
    flr_error error;
    assert_ok(flr_client_connect(&def, &client, &error), error);
    fake.trick = SILENT;
    assert_int_equal(flr_client_reset(client, &error), FLR_TIMEOUT);
    fake.trick = NO_TRICK;
    assert_ok(flr_client_reset(client, &error), error);
    flr_client_close(client);
    // lost while a command waits
    client = connect_one();
    fake.trick = SILENT;
    fake.drop = 1;
    assert_int_equal(flr_client_reset(client, &error), FLR_CLOSED);
    flr_client_close(client);
}

int main(void)
{
#define WITH_FAKE(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_FAKE(a_session), WITH_FAKE(meshes),        WITH_FAKE(recordings),
        WITH_FAKE(refused),   WITH_FAKE(lost_and_back), WITH_FAKE(too_slow),
    };
    return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
