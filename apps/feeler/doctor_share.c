/* doctor: can a session be shared from here: is the port free, where do others reach it, what may stand between? */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "output.h"
#include "serve.h"

/* An address of this machine that others may know; false: there is none. The old kind is preferred: more networks carry it. */
static bool find_address(char text[INET6_ADDRSTRLEN])
{
    struct ifaddrs *all = NULL;
    bool found = false, old = false;
    if (getifaddrs(&all) != 0) return false;
    for (const struct ifaddrs *at = all; at && !old; at = at->ifa_next) {
        if (!at->ifa_addr || !(at->ifa_flags & IFF_UP) || at->ifa_flags & IFF_LOOPBACK) continue;
        if (at->ifa_addr->sa_family == AF_INET) {
            const struct sockaddr_in *in = (const void *)at->ifa_addr;
            inet_ntop(AF_INET, &in->sin_addr, text, INET6_ADDRSTRLEN);
            found = old = true;
        } else if (at->ifa_addr->sa_family == AF_INET6 && !found) {
            const struct sockaddr_in6 *in = (const void *)at->ifa_addr;
            if (IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr)) continue;
            inet_ntop(AF_INET6, &in->sin6_addr, text, INET6_ADDRSTRLEN);
            found = true;
        }
    }
    freeifaddrs(all);
    return found;
}

/* What a firewall must allow that is on here; NULL: none is known. Rules themselves only root may read. */
static const char *find_firewall(void)
{
    if (access("/run/firewalld", F_OK) == 0)
        return "firewalld is on: sudo firewall-cmd --add-port=7879/udp lets others in";
    FILE *file = fopen("/etc/ufw/ufw.conf", "r");
    char line[256];
    bool on = false;
    while (file && fgets(line, sizeof line, file)) on = on || strncmp(line, "ENABLED=yes", 11) == 0;
    if (file) fclose(file);
    return on ? "ufw is on: sudo ufw allow 7879/udp lets others in" : NULL;
}

void flr_doctor_share(flr_doctor *doctor, flr_env *env)
{
    _Static_assert(FLR_SHARE_PORT == 7879, "the advice names the port");
    flr_socket *socket = NULL;
    flr_error error = {0};
    flr_address everywhere = {.family = 4, .port = FLR_SHARE_PORT};
    bool is_free = flr_udp_open(env, everywhere, &socket, &error) == FLR_OK;
    flr_socket_close(socket);
    char address[INET6_ADDRSTRLEN] = "", value[200];
    bool reachable = find_address(address);
    const char *firewall = find_firewall();
    if (!is_free)
        snprintf(value, sizeof value, "UDP port %d cannot be had: %.120s", FLR_SHARE_PORT,
                 error.message);
    else if (!reachable)
        snprintf(value, sizeof value, "UDP port %d is free; this machine has no address for others",
                 FLR_SHARE_PORT);
    else
        snprintf(value, sizeof value, "UDP port %d is free; others reach this machine at %s",
                 FLR_SHARE_PORT, address);
    const char *advice = !is_free     ? "end what has it, or share by feeler serve --share-port N"
                         : !reachable ? "connect it to a network to share sessions with others"
                         : firewall   ? firewall
                                      : "";
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "port", flr_json_count(FLR_SHARE_PORT));
    flr_json_set(numbers, "free", json_boolean(is_free));
    flr_json_set(numbers, "address", reachable ? flr_json_text(address) : json_null());
    flr_json_set(numbers, "firewall", json_boolean(firewall != NULL));
    flr_doctor_say(doctor, "sharing", is_free && reachable && !firewall, value, advice, numbers);
}
