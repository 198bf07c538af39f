/* flr_protocol_gen TEMPLATES TREE: writes the files that follow from messages.def into a source tree
 *
 * Each is a template in which lines @NAME@ are replaced. */
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

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "flr_protocol_gen TEMPLATES TREE\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char from[4096], to[4096];
        snprintf(from, sizeof from, "%s/%s", arguments[1], files[i].from);
        snprintf(to, sizeof to, "%s/%s", arguments[2], files[i].to);
        size_t size = 0;
        char *text = fill(from, &size);
        FILE *out = text ? fopen(to, "w") : NULL;
        bool written = out && fwrite(text, 1, size, out) == size;
        if (out && fclose(out) != 0) written = false;
        free(text);
        if (!written) {
            fprintf(stderr, "flr_protocol_gen: cannot make %s from %s\n", to, from);
            return 1;
        }
    }
    return 0;
}
