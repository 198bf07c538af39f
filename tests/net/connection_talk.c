/* connection_talk: connections between processes, as controllers have them, for the end-to-end tests
 *
 *     connection_talk LOCAL TOKEN SECONDS RATE [ADDRESS...]
 *
 * Opens connections at LOCAL ("10.77.0.1:7000"), calls the addresses, and again when that fails or a connection ends. On each connection that is
 * open it sends RATE states a second and ten numbered messages, and checks those that come: each once, in order. Prints "ready"
 * first, a line of JSON when a connection opens, is refused or ends and after every 25 messages, and one with all that was counted at
 * SIGUSR1. Ends at SIGTERM, or after SECONDS. Exit code 1: a message was missing, came twice or out of order. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "net/connections.h"

enum { ADDRESSES = 8 };

typedef struct talk {
    uint32_t connection; /* 0: none */
    uint64_t sent, came, states, late;
    double age_sum; /* s, of states */
} talk;

static flr_env *env;
static flr_connections *connections;
static talk talks[ADDRESSES];
static flr_address addresses[ADDRESSES];
static uint32_t calls[ADDRESSES]; /* under way or open; 0: call again at… */
static int64_t call_ns[ADDRESSES];
static int address_count;
static uint64_t opened, closed, refused, wrong, messages;
static volatile sig_atomic_t asked, stopped;

static void on_signal(int signal)
{
    if (signal == SIGTERM)
        stopped = 1;
    else
        asked = 1;
}

static talk *find(uint32_t connection)
{
    for (int i = 0; i < ADDRESSES; i++) {
        if (talks[i].connection == connection) return &talks[i];
    }
    return NULL;
}

static void gone(uint32_t connection, int64_t now)
{
    for (int i = 0; i < address_count; i++) {
        if (calls[i] != connection) continue;
        calls[i] = 0;
        call_ns[i] = now + 300000000;
    }
}

static void say(const char *what, const flr_connections_event *event)
{
    char text[FLR_ADDRESS_TEXT_SIZE];
    printf("{\"event\": \"%s\", \"with\": \"%s\", \"why\": \"%s\"}\n", what,
           flr_address_print(event->address, text), event->why);
    fflush(stdout);
}

static void hear(const flr_connections_event *event)
{
    // read after the packet came: this thread may be interrupted at any line
    int64_t now = flr_clock_ns(env);
    talk *with = find(event->connection);
    switch (event->kind) {
    case FLR_CONNECTIONS_OPEN:
        opened++;
        say("open", event);
        with = find(0);
        if (with) *with = (talk){.connection = event->connection};
        break;
    case FLR_CONNECTIONS_REFUSED:
        refused++;
        say("refused", event);
        gone(event->connection, now);
        break;
    case FLR_CONNECTIONS_CLOSED:
        closed++;
        say("closed", event);
        gone(event->connection, now);
        if (with) with->connection = 0;
        break;
    case FLR_CONNECTIONS_GOT_STATE:
        if (!with) break;
        with->states++;
        with->late += event->late;
        with->age_sum += (double)(now - event->sent_ns) * 1e-9;
        break;
    case FLR_CONNECTIONS_GOT_MESSAGE:
        if (!with) break;
        if (event->size < 8 || flr_get_u64(event->bytes) != with->came) wrong++;
        with->came++;
        messages++;
        if (messages % 25 == 0) {
            printf("{\"event\": \"messages\", \"count\": %llu}\n", (unsigned long long)messages);
            fflush(stdout);
        }
        break;
    }
}

static void report(void)
{
    printf("{\"event\": \"report\", \"opened\": %llu, \"closed\": %llu, \"refused\": %llu, "
           "\"messages\": %llu, \"wrong\": "
           "%llu, "
           "\"lines\": [",
           (unsigned long long)opened, (unsigned long long)closed, (unsigned long long)refused,
           (unsigned long long)messages, (unsigned long long)wrong);
    bool first = true;
    for (int i = 0; i < ADDRESSES; i++) {
        flr_connections_info info;
        if (!talks[i].connection || !flr_connections_get(connections, talks[i].connection, &info))
            continue;
        char text[FLR_ADDRESS_TEXT_SIZE];
        double states = talks[i].states ? (double)talks[i].states : 1;
        printf(
            "%s{\"with\": \"%s\", \"rtt_ms\": %.2f, \"least_ms\": %.2f, \"loss_in\": %.3f, "
            "\"loss_out\": %.3f, \"offset_ms\": %.3f, \"offset_wrong_ms\": %.3f, \"states\": %llu, "
            "\"late\": %.3f, \"age_ms\": %.2f, \"sent\": %llu, \"came\": %llu, \"resent\": %llu, "
            "\"bytes_out\": %.0f}",
            first ? "" : ", ", flr_address_print(info.address, text), info.rtt * 1e3,
            info.rtt_least * 1e3, info.loss_in, info.loss_out, (double)info.offset_ns * 1e-6,
            (double)info.offset_wrong_ns * 1e-6, (unsigned long long)talks[i].states,
            (double)talks[i].late / states, talks[i].age_sum / states * 1e3,
            (unsigned long long)talks[i].sent, (unsigned long long)talks[i].came,
            (unsigned long long)info.resent, info.bytes_out);
        first = false;
    }
    printf("]}\n");
    fflush(stdout);
}

static void speak(bool state, bool message)
{
    uint8_t bytes[300] = {0};
    for (int i = 0; i < ADDRESSES; i++) {
        talk *with = &talks[i];
        if (!with->connection) continue;
        if (state) flr_connections_state(connections, with->connection, bytes, 200);
        flr_put_u64(bytes, with->sent);
        if (message &&
            flr_connections_send(connections, with->connection, bytes, sizeof bytes) == FLR_OK)
            with->sent++;
    }
}

static void run(double seconds, double rate)
{
    int64_t now = flr_clock_ns(env), end = now + (int64_t)(seconds * 1e9), state_ns = now,
            message_ns = now, wake = now;
    while (!stopped && (now = flr_clock_ns(env)) < end) {
        flr_connections_event event;
        while (flr_connections_next(connections, &event)) hear(&event);
        for (int i = 0; i < address_count; i++) {
            if (!calls[i] && now >= call_ns[i])
                calls[i] = flr_connections_connect(connections, addresses[i], NULL, 0);
        }
        bool state = now >= state_ns, message = now >= message_ns;
        speak(state, message);
        if (state) state_ns = now + (int64_t)(1e9 / rate);
        if (message) message_ns = now + 100000000;
        wake = flr_connections_service(connections);
        if (state_ns < wake) wake = state_ns;
        if (message_ns < wake) wake = message_ns;
        if (wake > now + 50000000) wake = now + 50000000;
        flr_wait wait = {.socket = flr_connections_socket(connections), .wanted = FLR_WAIT_READ};
        flr_env_wait(env, &wait, 1, wake, NULL);
        if (asked) report();
        asked = 0;
    }
}

int main(int count, char **arguments)
{
    env = flr_env_real();
    flr_connections_def def = flr_default_connections_def();
    def.env = env;
    flr_error error = {.message = "usage: connection_talk LOCAL TOKEN SECONDS RATE [ADDRESS...]"};
    bool good = count >= 5 && count - 5 <= ADDRESSES &&
                flr_address_parse(arguments[1], 0, &def.local, &error) == FLR_OK;
    for (int i = 5; good && i < count; i++)
        good = flr_address_parse(arguments[i], 0, &addresses[address_count++], &error) == FLR_OK;
    def.token = good ? arguments[2] : NULL;
    double seconds = good ? strtod(arguments[3], NULL) : 0,
           rate = good ? strtod(arguments[4], NULL) : 0;
    if (!good || !(rate >= 1) || flr_connections_create(&def, &connections, &error) != FLR_OK) {
        fprintf(stderr, "connection_talk: %s\n", error.message);
        return 2;
    }
    signal(SIGTERM, on_signal);
    signal(SIGUSR1, on_signal);
    printf("ready\n");
    fflush(stdout);
    run(seconds, rate);
    flr_connections_destroy(connections);
    return wrong ? 1 : 0;
}
