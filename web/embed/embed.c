/* flr_embed: turns a folder of built page files into one C file that the service links
 *
 *     flr_embed FOLDER OUT.c
 *
 * writes the table flr_assets of server/page_assets.h: every file below FOLDER with its path, content type, bytes, the
 * same bytes compressed (where that is shorter) and an etag made from the content. The table is sorted by path, so that
 * the same files give the same bytes. Maps and hidden files are left out. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { MOST_FILES = 4096, PATH_SIZE = 4096 };

typedef struct entry {
    char *path; /* below the folder, begins with "/" */
} entry;

static entry entries[MOST_FILES];
static size_t entry_count;

static void die(const char *what, const char *about)
{
    fprintf(stderr, "flr_embed: %s: %s\n", about, what);
    exit(1);
}

static void *or_die(void *memory)
{
    if (!memory) die("not enough memory", "embedding");
    return memory;
}

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".wasm", "application/wasm"},
        {".woff2", "font/woff2"},
        {".txt", "text/plain; charset=utf-8"},
    };
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t end = strlen(types[i][0]);
        if (size > end && !strcmp(path + size - end, types[i][0])) return types[i][1];
    }
    return "application/octet-stream";
}

static void collect(const char *root, const char *below)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s", root, below);
    DIR *folder = opendir(path);
    if (!folder) die("cannot be opened", path);
    for (struct dirent *item; (item = readdir(folder));) {
        size_t size = strlen(item->d_name);
        if (item->d_name[0] == '.') continue;
        if (size > 4 && !strcmp(item->d_name + size - 4, ".map")) continue;
        char name[PATH_SIZE], full[2 * PATH_SIZE];
        snprintf(name, sizeof name, "%s/%s", below, item->d_name);
        snprintf(full, sizeof full, "%s%s", root, name);
        struct stat info;
        if (stat(full, &info) != 0) die("cannot be looked at", full);
        if (S_ISDIR(info.st_mode)) {
            collect(root, name);
        } else if (S_ISREG(info.st_mode)) {
            if (entry_count == MOST_FILES) die("too many files", root);
            entries[entry_count++].path = or_die(strdup(name));
        }
    }
    closedir(folder);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->path, ((const entry *)b)->path);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) die("cannot be read", path);
    size_t capacity = 65536, count = 0;
    uint8_t *bytes = or_die(malloc(capacity));
    for (size_t got; (got = fread(bytes + count, 1, capacity - count, file)) > 0;) {
        count += got;
        if (count == capacity) bytes = or_die(realloc(bytes, capacity *= 2));
    }
    if (ferror(file)) die("cannot be read to its end", path);
    fclose(file);
    *size = count;
    return bytes;
}

/* as a gzip file without name and time; NULL: not shorter */
static uint8_t *compress_bytes(const uint8_t *bytes, size_t size, size_t *packed)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        die("zlib does not begin", "embedding");
    size_t bound = deflateBound(&stream, (uLong)size);
    uint8_t *out = or_die(malloc(bound));
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)bound;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) die("zlib does not end", "embedding");
    *packed = stream.total_out;
    deflateEnd(&stream);
    if (*packed < size) return out;
    free(out);
    return NULL;
}

static void write_bytes(FILE *out, const char *name, size_t number, const uint8_t *bytes,
                        size_t size)
{
    fprintf(out, "static const unsigned char %s_%zu[] = {", name, number);
    for (size_t i = 0; i < size; i++) fprintf(out, "%s%u,", i % 32 ? "" : "\n", bytes[i]);
    fprintf(out, "%s};\n", size ? "" : "0");
}

/* FNV-1a, 64 bits: names the content, guards nothing */
static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

/* a path as a C string; what could break out of it is refused */
static void check_path(const char *path)
{
    for (const char *c = path; *c; c++) {
        bool fine = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                    (*c >= '0' && *c <= '9') || strchr("/._-", *c);
        if (!fine) die("a name may have letters, digits and . _ - only", path);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: flr_embed FOLDER OUT.c\n");
        return 2;
    }
    collect(argv[1], "");
    qsort(entries, entry_count, sizeof *entries, by_path);
    FILE *out = fopen(argv[2], "wb");
    if (!out) die("cannot be written", argv[2]);
    fprintf(out, "/* written by flr_embed */\n#include \"server/page_assets.h\"\n");
    char(*rows)[2 * PATH_SIZE] = or_die(calloc(entry_count + 1, sizeof *rows));
    for (size_t i = 0; i < entry_count; i++) {
        char path[2 * PATH_SIZE];
        snprintf(path, sizeof path, "%s%s", argv[1], entries[i].path);
        check_path(entries[i].path);
        size_t size, packed = 0;
        uint8_t *bytes = read_file(path, &size);
        uint8_t *gzip = compress_bytes(bytes, size, &packed);
        write_bytes(out, "plain", i, bytes, size);
        if (gzip) write_bytes(out, "gzip", i, gzip, packed);
        char name[32] = "0";
        if (gzip) snprintf(name, sizeof name, "gzip_%zu", i);
        snprintf(rows[i], sizeof rows[i],
                 "    {\"%s\", \"%s\", \"%016llx\", plain_%zu, %zu, %s, %zu},\n", entries[i].path,
                 type_of(entries[i].path), (unsigned long long)hash_of(bytes, size), i, size, name,
                 gzip ? packed : 0);
        free(bytes);
        free(gzip);
    }
    fprintf(out, "const flr_asset flr_assets[] = {\n");
    for (size_t i = 0; i < entry_count; i++) fputs(rows[i], out);
    fprintf(out, "    {0, 0, 0, 0, 0, 0, 0},\n};\n");
    if (fclose(out) != 0) die("cannot be written to its end", argv[2]);
    for (size_t i = 0; i < entry_count; i++) free(entries[i].path);
    free(rows);
    return 0;
}
