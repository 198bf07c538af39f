/* what a JSON text will take as a tree */
#include "scene/cost.h"

#include <string.h>

#include "scene/scene.h"

/* Of jansson 2.14 with the C library's allocator: sizes rounded up, with 8 bytes of its own for each block, and both tables while
 * one grows. What fuzz_scene measures stays below. */
enum {
    OBJECT = 240,     /* with its first table */
    ARRAY = 128,      /* with its first table */
    COST_NUMBER = 32, /* true, false and null take nothing, but are rare */
    STRING = 80,      /* beside its bytes; that of a member's key is freed, and a copy kept */
    MEMBER = 56,      /* what a member takes beside its key */
    SEPARATOR = 24,   /* the place in an array */
    BUFFER_FACTOR = 4 /* bytes for one of the longest string, while it is read */
};

/* what an element of "parts", "joints" or "paths" takes beside the tree: itself, its name and its place */
enum {
    ELEMENT = (sizeof(flr_scene_joint) > sizeof(flr_scene_part) ? sizeof(flr_scene_joint)
                                                                : sizeof(flr_scene_part)) +
              48
};

/* what acts on a part is kept beside it, where one of these is given */
enum { ACTS = sizeof(flr_world_constraint) + 16 };
static const char *const acting[] = {"\"locked\"", "\"force\"", "\"torque\"", "\"spring\"", NULL};

static bool acts(const char *string, size_t size)
{
    for (size_t i = 0; acting[i]; i++)
        if (strlen(acting[i]) == size && memcmp(acting[i], string, size) == 0) return true;
    return false;
}

uint64_t flr_scene_memory_limit(size_t size)
{
    uint64_t limit = (uint64_t)FLR_SCENE_MEMORY_FACTOR * size + FLR_SCENE_MEMORY_BESIDE;
    return limit < FLR_SCENE_MAX_MEMORY ? limit : FLR_SCENE_MAX_MEMORY;
}

/* behind the string that begins at `at` */
static size_t string_end(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++)
        if (text[at] == '\\') at++;
    return at < size ? at + 1 : size;
}

static size_t word_end(const char *text, size_t size, size_t at)
{
    while (at < size && !strchr(",:[]{}\" \t\r\n", text[at])) at++;
    return at;
}

uint64_t flr_scene_cost(const char *text, size_t size, uint64_t limit, flr_json_position *where)
{
    uint64_t cost = 0, longest = 0;
    char last = 0; /* the punctuation mark before */
    size_t at = 0;
    while (at < size && cost + BUFFER_FACTOR * longest <= limit) {
        char c = text[at];
        size_t next = at + 1;
        if (c == '{') {
            cost += last == ':' ? OBJECT : OBJECT + ELEMENT;
        } else if (c == '[') {
            cost += ARRAY;
        } else if (c == ':') {
            cost += MEMBER;
        } else if (c == ',') {
            cost += SEPARATOR;
        } else if (c == '"') {
            next = string_end(text, size, at);
            cost += STRING + (next - at) + (acts(text + at, next - at) ? ACTS : 0);
            if (next - at > longest) longest = next - at;
        } else if (c && !strchr("]} \t\r\n", c)) {
            next = word_end(text, size, next);
            cost += COST_NUMBER;
            if (next - at > longest) longest = next - at;
        }
        if (c && strchr("{[:,]}", c)) last = c;
        at = next;
    }
    cost += BUFFER_FACTOR * longest;
    if (cost > limit) *where = flr_json_position_of(text, at < size ? at : size);
    return cost;
}
