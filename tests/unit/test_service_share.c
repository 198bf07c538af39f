/* shared sessions as clients of a controller see them: people, hands and parts of others, what is refused, what /health tells */
#include <math.h>

#include "support/server.h"

static const char token[] = "a-token-of-24-characters";

static flr_share_def share_def(const flr_test_server *host)
{
    flr_share_def def = flr_default_share_def();
    def.local = (flr_address){.family = 4, .ip = {127, 0, 0, 1}};
    def.token = token;
    def.name = host ? "Bob" : "Ada";
    def.join = host;
    if (host) def.host = flr_share_address(flr_service_share(host->service));
    return def;
}

/* A client that gets everything; the movable part. */
static uint32_t watch(const flr_test_server *server, flr_test_ws *ws)
{
    flr_message message, ask = {.id = FLR_MSG_WATCH, .request = 1};
    uint32_t part = FLR_ENGINE_NONE;
    flr_test_server_join(server, ws);
    for (int i = 0; i < 2; i++) {
        flr_test_ws_expect(ws, FLR_MSG_PART, &message);
        if (message.as.part.kind == FLR_WIRE_PART_MOVABLE) part = message.as.part.part;
    }
    ask.as.watch.wants = FLR_WIRE_WANT_STATE | FLR_WIRE_WANT_EVENTS;
    ask.as.watch.state_rate = 100;
    assert_true(flr_test_ws_send_message(ws, &ask));
    return part;
}

static bool is_called(const flr_message *m, const char *name)
{
    const flr_wire_text *text = &m->as.person.name;
    return text->size == strlen(name) && memcmp(text->bytes, name, text->size) == 0;
}

/* Until this person is told of with these bits and without those. */
static flr_msg_person expect_person(flr_test_ws *ws, const char *name, uint32_t with,
                                    uint32_t without)
{
    flr_message message;
    for (int i = 0; i < 500; i++) {
        flr_test_ws_expect(ws, FLR_MSG_PERSON, &message);
        uint32_t bits = message.as.person.bits;
        bool gone = bits & FLR_WIRE_PERSON_GONE; /* then there is no name any more */
        if ((gone || is_called(&message, name)) && (bits & with) == with && !(bits & without))
            return message.as.person;
    }
    fail_msg("%s is not told of with %#x", name, with);
    return message.as.person;
}

static void expect_refused(flr_test_ws *ws, flr_message ask, const char *part)
{
    flr_message message;
    static uint32_t request = 100;
    ask.request = ++request;
    assert_true(flr_test_ws_send_message(ws, &ask));
    flr_test_ws_expect(ws, FLR_MSG_ERROR, &message);
    assert_int_equal(message.request, ask.request);
    assert_int_equal(message.as.error.code, FLR_WIRE_RESULT_DENIED);
    if (!strstr(message.as.error.sentence.bytes, part))
        fail_msg("'%s' is not in: %s", part, message.as.error.sentence.bytes);
}

static void send_hand(flr_test_ws *ws, double z)
{
    flr_message input = {.id = FLR_MSG_HAND_INPUT};
    input.as.hand_input.T_world_hand = flr_pose_identity();
    input.as.hand_input.T_world_hand.p.z = z;
    assert_true(flr_test_ws_send_message(ws, &input));
}

static void test_two(void **state)
{
    (void)state;
    flr_test_server ada, bob;
    flr_test_ws a, b;
    flr_message message;
    flr_share_def def = share_def(NULL);
    def.rate = 1000;
    flr_test_server_begin_shared(&ada, &def);
    def = share_def(&ada);
    flr_test_server_begin_shared(&bob, &def);
    uint32_t part = watch(&ada, &a);
    assert_int_equal(watch(&bob, &b), part);
    // who is there
    flr_msg_person person = expect_person(&a, "Bob", FLR_WIRE_PERSON_READY, FLR_WIRE_PERSON_SELF);
    assert_le(person.colour, 0xFFFFFF);
    assert_ne(person.member, 0);
    uint16_t bob_number = person.member;
    expect_person(&a, "Ada", FLR_WIRE_PERSON_SELF | FLR_WIRE_PERSON_LEADER, FLR_WIRE_PERSON_AWAY);
    expect_person(&b, "Ada", FLR_WIRE_PERSON_LEADER, FLR_WIRE_PERSON_SELF);
    // parts neither come nor go; the rest may be done
    expect_refused(&a, (flr_message){.id = FLR_MSG_REMOVE, .as.remove = {.part = part}}, "shared");
    expect_refused(
        &b, (flr_message){.id = FLR_MSG_VOXELIZE, .as.voxelize = {.part = part, .voxel = 0.002f}},
        "shared");
    // Bob takes the block and lifts it: Ada is told of his hand and what it holds, and sees the block there
    double at = 0;
    for (int i = 0; i < 500 && fabs(at - 0.05) > 1e-9; i++) {
        send_hand(&b, 0.05);
        flr_test_ws_expect(&b, FLR_MSG_STATE, &message);
        if (message.as.state.hands_count) at = message.as.state.hands[0].T_world_hand.p.z;
    }
    flr_message grab = {.id = FLR_MSG_GRAB,
                        .request = 7,
                        .as.grab = {.hand = 0, .part = part, .T_world_hand = flr_pose_identity()}};
    assert_true(flr_test_ws_send_message(&b, &grab));
    flr_test_ws_expect(&b, FLR_MSG_DONE, &message);
    bool seen = false;
    double hand = 0, block = 0;
    for (int i = 0;
         i < 1000 && !(seen && fabs(hand - 0.055) < 0.001 && fabs(block - 0.055) < 0.001); i++) {
        send_hand(&b, 0.055);
        assert_true(flr_test_ws_receive(&a, 300, &message));
        if (message.id == FLR_MSG_STATE)
            for (uint32_t k = 0; k < message.as.state.parts_count; k++)
                if (message.as.state.parts[k].part == part)
                    block = message.as.state.parts[k].T_world_part.p.z;
        if (message.id != FLR_MSG_GUESTS) continue;
        const flr_msg_guests *g = &message.as.guests;
        for (uint32_t k = 0; k < g->hands_count; k++)
            if (g->hands[k].member == bob_number && g->hands[k].held == part)
                hand = g->hands[k].T_world_hand.p.z;
        for (uint32_t k = 0; k < g->parts_count; k++)
            seen = seen || (g->parts[k].member == bob_number && g->parts[k].part == part);
    }
    assert_true(seen);
    assert_lt(fabs(hand - 0.055), 0.001);
    assert_lt(fabs(block - 0.055), 0.001);
    // Ada resets: what Bob holds stays with him, and that is said
    flr_message reset = {.id = FLR_MSG_RESET, .request = 8};
    assert_true(flr_test_ws_send_message(&a, &reset));
    do flr_test_ws_expect(&a, FLR_MSG_EVENT, &message);
    while (!strstr(message.as.event.sentence.bytes, "Bob holds it"));
    assert_int_equal(message.as.event.part, part);
    // how one document reports it
    char *health = flr_test_get(ada.port, "/health");
    assert_non_null(strstr(health, "\"members\": 2"));
    assert_non_null(strstr(health, "\"rejected\""));
    assert_null(strstr(health, token));
    free(health);
    // he goes: his leaving is reported once, and nothing of him is left
    flr_test_ws_close(&b);
    flr_test_server_end(&bob);
    person = expect_person(&a, "", FLR_WIRE_PERSON_GONE, 0);
    assert_int_equal(person.member, bob_number);
    bool left = true;
    for (int i = 0; i < 1000 && left; i++) {
        assert_true(flr_test_ws_receive(&a, 300, &message));
        if (message.id == FLR_MSG_GUESTS) left = message.as.guests.hands_count > 0;
    }
    assert_false(left);
    flr_test_ws_close(&a);
    flr_test_server_end(&ada);
}

static void test_watcher(void **state)
{
    (void)state;
    flr_test_server ada, bob;
    flr_test_ws b;
    flr_message message;
    flr_share_def def = share_def(NULL);
    flr_test_server_begin_shared(&ada, &def);
    def = share_def(&ada);
    def.watcher = true;
    flr_test_server_begin_shared(&bob, &def);
    uint32_t part = watch(&bob, &b);
    expect_person(&b, "Bob", FLR_WIRE_PERSON_SELF | FLR_WIRE_PERSON_WATCHER, FLR_WIRE_PERSON_AWAY);
    flr_message grab = {.id = FLR_MSG_GRAB,
                        .as.grab = {.hand = 0, .part = part, .T_world_hand = flr_pose_identity()}};
    expect_refused(&b, grab, "only watches");
    expect_refused(&b, (flr_message){.id = FLR_MSG_RESET}, "only watches");
    // looking about is no journal entry
    flr_message ask = {.id = FLR_MSG_HEALTH_ASK, .request = 9};
    assert_true(flr_test_ws_send_message(&b, &ask));
    flr_test_ws_expect(&b, FLR_MSG_HEALTH, &message);
    flr_test_ws_close(&b);
    flr_test_server_end(&bob);
    flr_test_server_end(&ada);
}

/* A session that cannot be begun leaves the controller as it was. */
static void test_refused(void **state)
{
    (void)state;
    flr_error error;
    flr_service_def service = flr_default_service_def();
    flr_service *made;
    service.address.port = 0;
    service.engine.priority = 0;
    service.engine.lock_memory = false;
    assert_ok(flr_service_create(&service, &made, &error), error);
    flr_share_def def = share_def(NULL);
    def.token = "short";
    assert_int_equal(flr_service_set_share(made, &def, &error), FLR_BAD_ARGUMENT);
    assert_null(strstr(error.message, "short"));
    assert_null(flr_service_share(made));
    def.token = token;
    def.rate = 5000;
    assert_int_equal(flr_service_set_share(made, &def, &error), FLR_BAD_ARGUMENT);
    // its folder goes with it, whether somebody came or not
    char *folder = flr_test_folder();
    flr_path_info info;
    def.rate = 100;
    def.folder = folder;
    assert_ok(flr_service_set_share(made, &def, &error), error);
    flr_share_def second = share_def(NULL);
    second.local = flr_share_address(flr_service_share(made));
    flr_service *other;
    assert_ok(flr_service_create(&service, &other, &error), error);
    assert_int_not_equal(flr_service_set_share(other, &second, &error), FLR_OK);
    assert_non_null(strstr(error.message, "127.0.0.1:"));
    flr_service_destroy(other);
    flr_service_destroy(made);
    assert_ok(flr_path_look(flr_env_real(), folder, &info, &error), error);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_watcher),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
