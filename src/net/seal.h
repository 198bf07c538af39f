/* seal.h: keys, and packets that only those who have them can read or make
 *
 * All cryptography of the connections is here, on top of libsodium: BLAKE2b for keys, X25519 for what two sides agree on,
 * XChaCha20-Poly1305 with nonces by chance for the few packets of a handshake, ChaCha20-Poly1305 with the packet's number as
 * nonce for the rest. docs/collaboration.md has the packets.
 *
 *     token ── flr_seal_make_token() ──> three keys for the handshake
 *     ephemeral keys of both sides + what was said ── flr_seal_agree() ──> a key for each direction, a key for WELCOME
 *     one direction: flr_seal_close_packet() / flr_seal_open_packet(), with a new key every FLR_SEAL_EPOCH packets
 *
 * Randomness comes from the env, so that a simulation can be repeated.
 *
 * Thread: any, one at a time for each object. */
#ifndef FLR_NET_SEAL_H
#define FLR_NET_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"

enum {
    FLR_SEAL_KEY = 32,
    FLR_SEAL_TAG = 16,   /* bytes that a seal adds to what it closes */
    FLR_SEAL_NONCE = 24, /* … and in a handshake so many before */
    FLR_SEAL_COOKIE = 40
};

/* Packets sealed with one key; then the next key is made from it and the last one is forgotten. So a stolen key tells nothing
 * of what was said before, and no number is ever used twice with a key. */
#define FLR_SEAL_EPOCH ((uint64_t)1 << 20)

/* What the token becomes. */
typedef struct flr_seal_token {
    uint8_t hello[FLR_SEAL_KEY];   /* seals HELLO */
    uint8_t answer[FLR_SEAL_KEY];  /* seals COOKIE and the outside of WELCOME */
    uint8_t session[FLR_SEAL_KEY]; /* goes into every session's keys */
} flr_seal_token;

/* Must be called before anything else here; may be called again. FLR_UNSUPPORTED: libsodium does not start. */
flr_result flr_seal_begin(flr_error *error);

void flr_seal_make_token(const char *token, flr_seal_token *keys);

/* ---- handshake ---- */

/* Closes `size` bytes of `plain` to nonce, bytes, tag at `sealed` (size + FLR_SEAL_NONCE + FLR_SEAL_TAG). What is `known` to
 * both is bound to it without being sent. */
void flr_seal_close(flr_env *env, const uint8_t key[FLR_SEAL_KEY], const void *known,
                    size_t known_size, const uint8_t *plain, size_t size, uint8_t *sealed);

/* Opens it again; `size` is that of `sealed`, `plain` takes FLR_SEAL_NONCE + FLR_SEAL_TAG less. False: forged. */
bool flr_seal_open(const uint8_t key[FLR_SEAL_KEY], const void *known, size_t known_size,
                   const uint8_t *sealed, size_t size, uint8_t *plain);

/* A key pair for one handshake. */
typedef struct flr_seal_pair {
    uint8_t secret[FLR_SEAL_KEY], open[FLR_SEAL_KEY];
} flr_seal_pair;

void flr_seal_make_pair(flr_env *env, flr_seal_pair *pair);

/* A proof that its holder could read at `address` at `now`: needs no memory of it here. `about` is bound to it (the initiator's
 * ephemeral key). `secret` is the maker's own. */
void flr_seal_make_cookie(const uint8_t secret[FLR_SEAL_KEY], flr_address address,
                          const uint8_t about[FLR_SEAL_KEY], int64_t now,
                          uint8_t cookie[FLR_SEAL_COOKIE]);

typedef enum flr_seal_answer { FLR_SEAL_GOOD, FLR_SEAL_FORGED, FLR_SEAL_OLD } flr_seal_answer;

/* OLD: right, but made more than `life_ns` before `now`. */
flr_seal_answer flr_seal_check_cookie(const uint8_t secret[FLR_SEAL_KEY], flr_address address,
                                      const uint8_t about[FLR_SEAL_KEY], int64_t now,
                                      int64_t life_ns, const uint8_t cookie[FLR_SEAL_COOKIE]);

/* ---- a session ---- */

/* The keys of one direction. */
typedef struct flr_seal_direction {
    uint8_t key[FLR_SEAL_KEY];  /* of `epoch` */
    uint8_t last[FLR_SEAL_KEY]; /* of the one before, for packets that come late */
    uint64_t epoch;             /* a packet's number / FLR_SEAL_EPOCH */
} flr_seal_direction;

typedef struct flr_seal_session {
    flr_seal_direction there;      /* from the initiator to the responder */
    flr_seal_direction back;       /* from the responder to the initiator */
    uint8_t welcome[FLR_SEAL_KEY]; /* the inside of WELCOME; for one packet */
} flr_seal_session;

/* What two sides share after they exchanged their public keys. `said`: all that was said in the handshake and must be the
 * same on both sides. False: the other's key is no good. */
bool flr_seal_agree(const flr_seal_token *token, const flr_seal_pair *mine,
                    const uint8_t theirs[FLR_SEAL_KEY], const void *said, size_t said_size,
                    flr_seal_session *session);

/* One packet: `number` counts up from 1 and is never used twice. `head` is bound to it. `sealed` takes size + FLR_SEAL_TAG
 * bytes and may be `plain`. */
void flr_seal_close_packet(flr_seal_direction *direction, uint64_t number, const void *head,
                           size_t head_size, const uint8_t *plain, size_t size, uint8_t *sealed);

/* `size` is that of `sealed`; `plain` takes FLR_SEAL_TAG less and may be `sealed`. False: forged, or from another epoch than the
 * last, this and the next; the direction is then as it was. */
bool flr_seal_open_packet(flr_seal_direction *direction, uint64_t number, const void *head,
                          size_t head_size, const uint8_t *sealed, size_t size, uint8_t *plain);

/* Overwrites what must not stay in memory. */
void flr_seal_wipe(void *bytes, size_t size);

#endif
