/* bytes.h: numbers in files and packets, little-endian */
#ifndef FLR_BASE_BYTES_H
#define FLR_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline void flr_put_u16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)value, to[1] = (uint8_t)(value >> 8);
}

static inline void flr_put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static inline void flr_put_u64(uint8_t *to, uint64_t value)
{
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint16_t flr_get_u16(const uint8_t *from)
{
    return (uint16_t)(from[0] | from[1] << 8);
}

static inline uint32_t flr_get_u32(const uint8_t *from)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) value |= (uint32_t)from[i] << 8 * i;
    return value;
}

static inline uint64_t flr_get_u64(const uint8_t *from)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static inline void flr_put_f32(uint8_t *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    flr_put_u32(to, bits);
}

static inline void flr_put_f64(uint8_t *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    flr_put_u64(to, bits);
}

static inline float flr_get_f32(const uint8_t *from)
{
    const uint32_t bits = flr_get_u32(from);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double flr_get_f64(const uint8_t *from)
{
    const uint64_t bits = flr_get_u64(from);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
