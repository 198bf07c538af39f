/* members of a ZIP file: found in its directory, stored or deflated */
#include "zip.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "collect.h"

typedef struct zip_member {
    const char *name; /* not terminated */
    size_t name_length, offset, packed, unpacked;
    uint32_t check;
} zip_member;

static uint32_t get(const uint8_t *bytes, int count)
{
    uint32_t value = 0;
    for (int i = count - 1; i >= 0; --i) value = value << 8 | bytes[i];
    return value;
}

/* Unpacks a member, at most `room` bytes; returns how many. */
static size_t unpack(const uint8_t *zip, size_t size, const zip_member *member, char *to,
                     size_t room)
{
    const size_t offset = member->offset;
    if (offset > size || size - offset < 30 || get(zip + offset, 4) != 0x04034b50) return 0;
    size_t start = offset + 30 + get(zip + offset + 26, 2) + get(zip + offset + 28, 2);
    if (start >= size) return 0;
    uint32_t method = get(zip + offset + 8, 2);
    if (method == 0) {
        size_t count = size - start < member->packed ? size - start : member->packed;
        if (count > room) count = room;
        memcpy(to, zip + start, count);
        return count;
    }
    z_stream stream = {0};
    if (method != 8 || inflateInit2(&stream, -MAX_WBITS) != Z_OK) return 0;
    size_t left = size - start;
    stream.next_in = (Bytef *)(uintptr_t)(zip + start);
    stream.avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
    stream.next_out = (Bytef *)to;
    stream.avail_out = room > UINT32_MAX ? UINT32_MAX : (uInt)room;
    inflate(&stream, Z_SYNC_FLUSH);
    size_t got = (size_t)stream.total_out;
    inflateEnd(&stream);
    return got;
}

/* where the directory begins; its entries are counted in `*count`. SIZE_MAX: this is no ZIP file */
static size_t find_directory(const uint8_t *zip, size_t size, uint32_t *count)
{
    // its place stands at the end, before a comment of at most 64 KiB
    if (size < 22) return SIZE_MAX;
    size_t last = size - 22, first = last > 65535 ? last - 65535 : 0, at = last;
    while (get(zip + at, 4) != 0x06054b50) {
        if (at == first) return SIZE_MAX;
        --at;
    }
    *count = get(zip + at + 10, 2);
    return get(zip + at + 16, 4);
}

/* the entry at `*at`, and `*at` behind it */
static bool next_member(const uint8_t *zip, size_t size, size_t *at, zip_member *member)
{
    const size_t entry = *at;
    if (entry > size || size - entry < 46 || get(zip + entry, 4) != 0x02014b50) return false;
    *member = (zip_member){.name = (const char *)zip + entry + 46,
                           .name_length = get(zip + entry + 28, 2),
                           .offset = get(zip + entry + 42, 4),
                           .packed = get(zip + entry + 20, 4),
                           .unpacked = get(zip + entry + 24, 4),
                           .check = get(zip + entry + 16, 4)};
    *at = entry + 46 + member->name_length + get(zip + entry + 30, 2) + get(zip + entry + 32, 2);
    return *at <= size;
}

size_t flr_zip_peek(const uint8_t *zip, size_t size, const char *ending, char *to, size_t room)
{
    uint32_t count = 0;
    size_t at = find_directory(zip, size, &count), length = strlen(ending);
    zip_member member;
    for (uint32_t i = 0; i < count && next_member(zip, size, &at, &member); ++i)
        if (member.name_length >= length &&
            strncasecmp(member.name + member.name_length - length, ending, length) == 0)
            return unpack(zip, size, &member, to, room);
    return 0;
}

char *flr_zip_read(const uint8_t *zip, size_t size, const char *name, size_t *length)
{
    uint32_t count = 0;
    size_t at = find_directory(zip, size, &count), wanted = strlen(name);
    zip_member member;
    for (uint32_t i = 0; i < count && next_member(zip, size, &at, &member); ++i) {
        if (member.name_length != wanted || strncasecmp(member.name, name, wanted) != 0) continue;
        // deflate packs a thousand to one at best
        if (member.unpacked / 1100 > size || member.unpacked == UINT32_MAX) return NULL;
        size_t room = 0;
        char *text = flr_collect_grow(NULL, &room, member.unpacked + 1, 1);
        *length = unpack(zip, size, &member, text, member.unpacked);
        text[*length] = 0;
        if (*length == member.unpacked && crc32_z(0, (const Bytef *)text, *length) == member.check)
            return text;
        free(text);
        return NULL;
    }
    return NULL;
}
