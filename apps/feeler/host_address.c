/* the address of another controller, by name or number */
#include "host_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

flr_result flr_host_address(const char *text, flr_address *address, flr_error *error)
{
    if (!text[0])
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the name of the host is empty; give HOST or HOST:PORT, as shown where "
                        "the session was started");
    if (flr_address_parse(text, FLR_SHARE_PORT, address, NULL) == FLR_OK) return FLR_OK;
    char host[256];
    const char *colon = strrchr(text, ':');
    size_t size = colon ? (size_t)(colon - text) : strlen(text);
    char *end = NULL;
    long port = colon ? strtol(colon + 1, &end, 10) : FLR_SHARE_PORT;
    if (size == 0 || size >= sizeof host || port < 1 || port > 65535 || (end && *end))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: not HOST or HOST:PORT with a port from 1 to 65535", text);
    memcpy(host, text, size);
    host[size] = 0;
    /* the old kind of number first: more networks carry it */
    struct addrinfo *found = NULL, hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    bool known = getaddrinfo(host, NULL, &hints, &found) == 0 && found;
    hints.ai_family = AF_INET6;
    if (!known && (getaddrinfo(host, NULL, &hints, &found) != 0 || !found))
        return flr_fail(error, FLR_NOT_FOUND,
                        "no machine is known by the name %s; is it spelled right? Its number, "
                        "such as 192.168.1.20, will do, too",
                        host);
    *address = (flr_address){.family = known ? 4 : 6, .port = (uint16_t)port};
    if (known)
        memcpy(address->ip, &((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr, 4);
    else
        memcpy(address->ip, &((struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_addr, 16);
    freeaddrinfo(found);
    return FLR_OK;
}
