/* keys and seals, by libsodium */
#include "net/seal.h"

#include <sodium.h>
#include <string.h>

#include "base/bytes.h"

_Static_assert((int)FLR_SEAL_KEY == crypto_scalarmult_BYTES, "keys of X25519");
_Static_assert((int)FLR_SEAL_KEY == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "keys of seals");
_Static_assert((int)FLR_SEAL_NONCE == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "nonces");
_Static_assert((int)FLR_SEAL_TAG == crypto_aead_xchacha20poly1305_ietf_ABYTES, "tags");

/* keeps these keys apart from any others that are made from the same token. The same in every version of the protocol, or two
 * could not tell each other that theirs differ */
static const uint8_t purpose[] = "feeler lines 1: token to keys";
static const char context[crypto_kdf_CONTEXTBYTES + 1] = "flrlines";

flr_result flr_seal_begin(flr_error *error)
{
    if (sodium_init() >= 0) return FLR_OK;
    return flr_fail(error, FLR_UNSUPPORTED,
                    "libsodium does not start on this machine: it finds no source of randomness");
}

void flr_seal_make_token(const char *token, flr_seal_token *keys)
{
    uint8_t root[FLR_SEAL_KEY];
    crypto_generichash(root, sizeof root, (const uint8_t *)token, strlen(token), purpose,
                       sizeof purpose - 1);
    crypto_kdf_derive_from_key(keys->hello, sizeof keys->hello, 1, context, root);
    crypto_kdf_derive_from_key(keys->answer, sizeof keys->answer, 2, context, root);
    crypto_kdf_derive_from_key(keys->session, sizeof keys->session, 3, context, root);
    sodium_memzero(root, sizeof root);
}

/* ---- handshake ---- */

void flr_seal_close(flr_env *env, const uint8_t key[FLR_SEAL_KEY], const void *known,
                    size_t known_size, const uint8_t *plain, size_t size, uint8_t *sealed)
{
    flr_random_bytes(env, sealed, FLR_SEAL_NONCE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + FLR_SEAL_NONCE, NULL, plain, size, known,
                                               known_size, NULL, sealed, key);
}

bool flr_seal_open(const uint8_t key[FLR_SEAL_KEY], const void *known, size_t known_size,
                   const uint8_t *sealed, size_t size, uint8_t *plain)
{
    if (size < FLR_SEAL_NONCE + FLR_SEAL_TAG) return false;
    return crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, sealed + FLR_SEAL_NONCE,
                                                      size - FLR_SEAL_NONCE, known, known_size,
                                                      sealed, key) == 0;
}

void flr_seal_make_pair(flr_env *env, flr_seal_pair *pair)
{
    flr_random_bytes(env, pair->secret, sizeof pair->secret);
    crypto_scalarmult_base(pair->open, pair->secret);
}

/* cookie: time (8 bytes), then a keyed hash of time, address and key */
static void cookie_proof(const uint8_t secret[FLR_SEAL_KEY], flr_address address,
                         const uint8_t about[FLR_SEAL_KEY], const uint8_t time[8],
                         uint8_t proof[FLR_SEAL_COOKIE - 8])
{
    uint8_t said[8 + 1 + 16 + 2 + FLR_SEAL_KEY] = {0};
    memcpy(said, time, 8);
    said[8] = address.family;
    memcpy(said + 9, address.ip, address.family == 4 ? 4 : 16);
    flr_put_u16(said + 25, address.port);
    memcpy(said + 27, about, FLR_SEAL_KEY);
    crypto_generichash(proof, FLR_SEAL_COOKIE - 8, said, sizeof said, secret, FLR_SEAL_KEY);
}

void flr_seal_make_cookie(const uint8_t secret[FLR_SEAL_KEY], flr_address address,
                          const uint8_t about[FLR_SEAL_KEY], int64_t now,
                          uint8_t cookie[FLR_SEAL_COOKIE])
{
    flr_put_u64(cookie, (uint64_t)now);
    cookie_proof(secret, address, about, cookie, cookie + 8);
}

flr_seal_answer flr_seal_check_cookie(const uint8_t secret[FLR_SEAL_KEY], flr_address address,
                                      const uint8_t about[FLR_SEAL_KEY], int64_t now,
                                      int64_t life_ns, const uint8_t cookie[FLR_SEAL_COOKIE])
{
    uint8_t proof[FLR_SEAL_COOKIE - 8];
    cookie_proof(secret, address, about, cookie, proof);
    if (sodium_memcmp(proof, cookie + 8, sizeof proof)) return FLR_SEAL_FORGED;
    int64_t made = (int64_t)flr_get_u64(cookie); // ours: the proof is right
    return now - made > life_ns ? FLR_SEAL_OLD : FLR_SEAL_GOOD;
}

/* ---- a session ---- */

bool flr_seal_agree(const flr_seal_token *token, const flr_seal_pair *mine,
                    const uint8_t theirs[FLR_SEAL_KEY], const void *said, size_t said_size,
                    flr_seal_session *session)
{
    uint8_t shared[FLR_SEAL_KEY], root[FLR_SEAL_KEY];
    if (crypto_scalarmult(shared, mine->secret, theirs)) return false;
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, token->session, sizeof token->session, sizeof root);
    crypto_generichash_update(&hash, shared, sizeof shared);
    crypto_generichash_update(&hash, said, said_size);
    crypto_generichash_final(&hash, root, sizeof root);
    memset(session, 0, sizeof *session);
    crypto_kdf_derive_from_key(session->there.key, FLR_SEAL_KEY, 1, context, root);
    crypto_kdf_derive_from_key(session->back.key, FLR_SEAL_KEY, 2, context, root);
    crypto_kdf_derive_from_key(session->welcome, FLR_SEAL_KEY, 3, context, root);
    sodium_memzero(shared, sizeof shared);
    sodium_memzero(root, sizeof root);
    sodium_memzero(&hash, sizeof hash);
    return true;
}

/* the key that follows */
static void next_key(const uint8_t key[FLR_SEAL_KEY], uint8_t next[FLR_SEAL_KEY])
{
    crypto_kdf_derive_from_key(next, FLR_SEAL_KEY, 4, context, key);
}

static void go_on(flr_seal_direction *direction, const uint8_t next[FLR_SEAL_KEY])
{
    memcpy(direction->last, direction->key, FLR_SEAL_KEY);
    memcpy(direction->key, next, FLR_SEAL_KEY);
    direction->epoch++;
}

static void packet_nonce(uint64_t number,
                         uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES])
{
    memset(nonce, 0, crypto_aead_chacha20poly1305_ietf_NPUBBYTES);
    flr_put_u64(nonce + 4, number);
}

void flr_seal_close_packet(flr_seal_direction *direction, uint64_t number, const void *head,
                           size_t head_size, const uint8_t *plain, size_t size, uint8_t *sealed)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES], next[FLR_SEAL_KEY];
    if (number / FLR_SEAL_EPOCH > direction->epoch) {
        next_key(direction->key, next);
        go_on(direction, next);
        sodium_memzero(direction->last, sizeof direction->last); // a sender never goes back
        sodium_memzero(next, sizeof next);
    }
    packet_nonce(number, nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(sealed, NULL, plain, size, head, head_size, NULL,
                                              nonce, direction->key);
}

bool flr_seal_open_packet(flr_seal_direction *direction, uint64_t number, const void *head,
                          size_t head_size, const uint8_t *sealed, size_t size, uint8_t *plain)
{
    if (size < FLR_SEAL_TAG) return false;
    uint64_t epoch = number / FLR_SEAL_EPOCH;
    uint8_t next[FLR_SEAL_KEY];
    const uint8_t *key = direction->key;
    if (epoch == direction->epoch + 1) {
        next_key(direction->key, next);
        key = next;
    } else if (epoch + 1 == direction->epoch) {
        key = direction->last;
    } else if (epoch != direction->epoch) {
        return false;
    }
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    packet_nonce(number, nonce);
    bool good = crypto_aead_chacha20poly1305_ietf_decrypt(plain, NULL, NULL, sealed, size, head,
                                                          head_size, nonce, key) == 0;
    // only what is authentic moves the keys on
    if (key == next) {
        if (good) go_on(direction, next);
        sodium_memzero(next, sizeof next);
    }
    return good;
}

void flr_seal_wipe(void *bytes, size_t size) { sodium_memzero(bytes, size); }
