/* flr_protocol_gen TEMPLATES TREE [FOLDER]: writes the files that follow from messages.def into a source tree, or only those in a
 * folder of it
 *
 * Each is a template in which lines @NAME@ are replaced. A file that is there and right stays as it is, also its time. */
#include "protocol/gen/generate.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *mark;
    void (*print)(FILE *out);
} parts[] = {
    {"@MESSAGES@\n", flr_gen_page_messages}, {"@TYPES@\n", flr_gen_page_types},
    {"@TABLE@\n", flr_gen_script_table},     {"@DECLARATIONS@\n", flr_gen_script_types},
    {"@DICTIONARY@\n", flr_gen_dictionary},
};

static const struct {
    const char *from, *to;
} files[] = {
    {"protocol.md.in", "docs/protocol.md"},
    {"protocol.mjs.in", "web/src/protocol.mjs"},
    {"protocol.d.mts.in", "web/src/protocol.d.mts"},
    {"protocol.dict.in", "fuzz/protocol.dict"},
};

/* the template with its marks replaced; NULL when it cannot be read. The caller frees. */
static char *fill(const char *path, size_t *size)
{
    FILE *in = fopen(path, "r");
    if (!in) return NULL;
    char *text = NULL, line[4096];
    FILE *out = open_memstream(&text, size);
    while (out && fgets(line, sizeof line, in)) {
        size_t part = 0, count = sizeof parts / sizeof parts[0];
        while (part < count && strcmp(line, parts[part].mark) != 0) part++;
        if (part < count)
            parts[part].print(out);
        else
            fputs(line, out);
    }
    fclose(in);
    if (out) fclose(out);
    return text;
}

/* is this the text of that file? */
static bool has(const char *path, const char *text, size_t size)
{
    FILE *in = fopen(path, "r");
    if (!in) return false;
    char *there = malloc(size + 1);
    bool same = there && fread(there, 1, size + 1, in) == size && memcmp(there, text, size) == 0;
    free(there);
    fclose(in);
    return same;
}

static bool put(const char *path, const char *text, size_t size)
{
    if (has(path, text, size)) return true;
    FILE *out = fopen(path, "w");
    bool written = out && fwrite(text, 1, size, out) == size;
    if (out && fclose(out) != 0) written = false;
    return written;
}

int main(int count, char **arguments)
{
    if (count != 3 && count != 4) {
        fprintf(stderr, "flr_protocol_gen TEMPLATES TREE [FOLDER]\n");
        return 2;
    }
    const char *folder = count == 4 ? arguments[3] : "";
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strncmp(files[i].to, folder, strlen(folder)) != 0) continue;
        char from[4096], to[4096];
        snprintf(from, sizeof from, "%s/%s", arguments[1], files[i].from);
        snprintf(to, sizeof to, "%s/%s", arguments[2], files[i].to);
        size_t size = 0;
        char *text = fill(from, &size);
        bool written = text && put(to, text, size);
        free(text);
        if (!written) {
            fprintf(stderr, "flr_protocol_gen: cannot make %s from %s\n", to, from);
            return 1;
        }
    }
    return 0;
}
