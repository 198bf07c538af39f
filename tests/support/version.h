/* version.h: a call and its answer as they would be in another version of the protocol, by somebody who knows the token */
#ifndef FLR_TEST_VERSION_H
#define FLR_TEST_VERSION_H

#include <string.h>

#include "net/net_internal.h"

/* Changes the version of a HELLO, and of the COOKIE that answers the last one; `key` keeps the caller's between the two. Other
 * packets stay as they are. False: the seal is wrong. */
static inline bool flr_test_other_version(flr_env *env, const flr_seal_token *token,
                                          uint8_t version, uint8_t *packet, size_t size,
                                          uint8_t key[FLR_SEAL_KEY])
{
    bool hello = packet[0] == FLR_PACKET_HELLO && size == FLR_HELLO_SIZE;
    if (!hello && !(packet[0] == FLR_PACKET_COOKIE && size == FLR_COOKIE_SIZE)) return true;
    uint8_t plain[FLR_HELLO_PLAIN], known[FLR_PACKET_HEAD + FLR_SEAL_KEY];
    size_t known_size = hello ? FLR_PACKET_HEAD : sizeof known;
    const uint8_t *seal = hello ? token->hello : token->answer;
    memcpy(known, packet, FLR_PACKET_HEAD);
    memcpy(known + FLR_PACKET_HEAD, key, FLR_SEAL_KEY);
    if (!flr_seal_open(seal, known, known_size, packet + FLR_PACKET_HEAD, size - FLR_PACKET_HEAD,
                       plain))
        return false;
    if (hello) memcpy(key, plain, FLR_SEAL_KEY);
    packet[1] = known[1] = version;
    flr_seal_close(env, seal, known, known_size, plain,
                   size - FLR_PACKET_HEAD - FLR_SEAL_NONCE - FLR_SEAL_TAG,
                   packet + FLR_PACKET_HEAD);
    return true;
}

#endif
