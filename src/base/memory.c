/* how much memory this process may take: containers and services are often allowed less than the machine has */
#include "base/memory.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 8192 };

/* The start of a file, as text; false when there is none. Files of /proc have no size. */
static bool read_text(flr_env *env, const char *path, char text[TEXT_SIZE])
{
    flr_file *file;
    if (flr_file_open(env, path, FLR_FILE_READ, &file, NULL) != FLR_OK) return false;
    size_t have = 0, got = 1;
    while (have < TEXT_SIZE - 1 && got > 0)
        if (flr_file_read(file, have, text + have, TEXT_SIZE - 1 - have, &got, NULL) != FLR_OK)
            got = 0;
        else
            have += got;
    flr_file_close(file);
    text[have] = 0;
    return have > 0;
}

/* Lowers the limit to the number in a file; "max" or anything else is none. */
static void lower(flr_env *env, const char *folder, const char *name, uint64_t *limit)
{
    char path[TEXT_SIZE + 64], text[TEXT_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!read_text(env, path, text) || text[0] < '0' || text[0] > '9') return;
    uint64_t bytes = strtoull(text, NULL, 10);
    if (bytes < *limit) *limit = bytes;
}

/* A group's limits and those of all groups above it, up to the root of the hierarchy: each holds for all below. In a
 * container the path may be that of the machine outside; then its folders are not there, and the root is the container's. */
static void lower_by_group(flr_env *env, const char *root, const char *group,
                           const char *const names[2], uint64_t *limit)
{
    char folder[TEXT_SIZE];
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder) return;
    size_t least = strlen(root);
    for (;;) {
        size_t length = strlen(folder);
        while (length > least && folder[length - 1] == '/') folder[--length] = 0;
        for (int i = 0; i < 2 && names[i]; i++) lower(env, folder, names[i], limit);
        if (length <= least) return;
        *strrchr(folder, '/') = 0;
    }
}

static void lower_by_groups(flr_env *env, uint64_t *limit)
{
    static const char *const unified[2] = {"memory.max", "memory.high"};
    static const char *const old[2] = {"memory.limit_in_bytes", NULL};
    char text[TEXT_SIZE], *rest = text, *line;
    if (!read_text(env, "/proc/self/cgroup", text)) return;
    /* "number:controllers:path"; the unified hierarchy has number 0 and no controllers */
    while ((line = strsep(&rest, "\n"))) {
        char *controllers = strchr(line, ':'),
             *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *controllers++ = 0;
        *path++ = 0;
        if (path[0] != '/' || strstr(path, "/../")) continue;
        if (!strcmp(line, "0") && !controllers[0]) {
            lower_by_group(env, "/sys/fs/cgroup", path, unified, limit);
            lower_by_group(env, "/sys/fs/cgroup/unified", path, unified, limit);
            continue;
        }
        char *name;
        while ((name = strsep(&controllers, ",")))
            if (!strcmp(name, "memory"))
                lower_by_group(env, "/sys/fs/cgroup/memory", path, old, limit);
    }
}

flr_memory flr_memory_look(flr_env *env)
{
    flr_memory memory = {.machine = UINT64_C(8) << 30};
    char text[TEXT_SIZE];
    const char *total = read_text(env, "/proc/meminfo", text) ? strstr(text, "MemTotal:") : NULL;
    if (total) memory.machine = strtoull(total + strlen("MemTotal:"), NULL, 10) * 1024;
    memory.limit = memory.machine;
    lower_by_groups(env, &memory.limit);
    return memory;
}

uint64_t flr_memory_heap(void)
{
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return (uint64_t)info.uordblks + info.hblkhd;
#endif
#endif
    return 0;
}

void flr_memory_return_large_blocks(void)
{
#ifdef __GLIBC__
    /* setting one of them ends the library's own adaptation of both */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 2 << 20);
#endif
}
