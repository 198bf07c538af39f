/* others in a shared session who are not as usual; TOKEN is in the environment:
 *
 *   odd_peer crowd ADDRESS N        N members without a scene; prints a line when all are in, and stays
 *   odd_peer version ADDRESS        passes packets on to there, from the address that it prints, and back, as if each side
 *                                   ran another version than the other */
#include <stdio.h>
#include <stdlib.h>

#include "session/session.h"
#include "support/version.h"

static const int64_t ms = 1000000;
static flr_env *env;
static const char *token;

static flr_address any_port(flr_address like)
{
    flr_address local = {.family = like.family};
    if (like.family == 4) memcpy(local.ip, (uint8_t[]){127, 0, 0, 1}, 4);
    local.ip[15] = like.family == 6;
    return local;
}

static int crowd(flr_address host, uint32_t count)
{
    flr_session *sessions[FLR_SESSION_MEMBERS];
    flr_error error;
    bool told = false;
    if (count > FLR_SESSION_MEMBERS) return 2;
    for (uint32_t i = 0; i < count; i++) {
        flr_session_def def = flr_default_session_def();
        def.env = env;
        def.local = any_port(host);
        def.token = token;
        def.name = "one of many";
        if (flr_session_create(&def, &sessions[i], &error) != FLR_OK) {
            fprintf(stderr, "odd_peer: %s\n", error.message);
            return 1;
        }
        flr_session_join(sessions[i], host);
    }
    for (;;) {
        uint32_t in = 0;
        flr_session_event event;
        for (uint32_t i = 0; i < count; i++) {
            while (flr_session_next(sessions[i], &event)) {
                if (event.kind == FLR_SESSION_REFUSED)
                    fprintf(stderr, "odd_peer: %s\n", event.sentence);
            }
            (void)flr_session_service(sessions[i]);
            in += flr_session_is_in(sessions[i]);
        }
        if (in == count && !told) {
            told = true;
            printf("all are in\n");
            fflush(stdout);
        }
        flr_sleep_until(env, flr_clock_ns(env) + 5 * ms);
    }
}

static int other_version(flr_address host)
{
    flr_socket *front, *back;
    flr_seal_token keys;
    flr_address caller = {0}, from;
    uint8_t packet[FLR_PACKET_MAX_SIZE], key[FLR_SEAL_KEY] = {0};
    char text[FLR_ADDRESS_TEXT_SIZE];
    size_t size;
    if (flr_udp_open(env, any_port(host), &front, NULL) != FLR_OK ||
        flr_udp_open(env, any_port(host), &back, NULL) != FLR_OK || flr_seal_begin(NULL) != FLR_OK)
        return 1;
    flr_seal_make_token(token, &keys);
    printf("%s\n", flr_address_print(flr_socket_local(front), text));
    fflush(stdout);
    for (;;) {
        flr_wait waits[2] = {{.socket = front, .wanted = FLR_WAIT_READ},
                             {.socket = back, .wanted = FLR_WAIT_READ}};
        (void)flr_env_wait(env, waits, 2, flr_clock_ns(env) + 100 * ms, NULL);
        while (flr_udp_receive(front, &caller, packet, sizeof packet, &size, NULL) == FLR_OK)
            if (size > 1 &&
                flr_test_other_version(env, &keys, FLR_PACKET_VERSION + 1, packet, size, key))
                (void)flr_udp_send(back, host, packet, size, NULL);
        while (flr_udp_receive(back, &from, packet, sizeof packet, &size, NULL) == FLR_OK)
            if (size > 1 &&
                flr_test_other_version(env, &keys, FLR_PACKET_VERSION + 1, packet, size, key))
                (void)flr_udp_send(front, caller, packet, size, NULL);
    }
}

int main(int count, char **words)
{
    flr_address host;
    env = flr_env_real();
    token = getenv("TOKEN");
    if (count < 3 || !token || flr_address_parse(words[2], 0, &host, NULL) != FLR_OK) return 2;
    if (strcmp(words[1], "crowd") == 0 && count == 4) return crowd(host, (uint32_t)atoi(words[3]));
    if (strcmp(words[1], "version") == 0) return other_version(host);
    return 2;
}
