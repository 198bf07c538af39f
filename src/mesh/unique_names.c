/* names that tell parts apart */
#include "mesh/unique_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 24, MAX_NUMBERINGS = 8 };

typedef struct numbered {
    const char *name;
    size_t index;
} numbered;

static int by_name(const void *a, const void *b)
{
    const numbered *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : left->index < right->index ? -1 : left->index > right->index;
}

/* writes the names again, numbered where they are equal; true if some were */
static bool number_equal(numbered *order, size_t count, char *block, const char **unique)
{
    bool any = false;
    qsort(order, count, sizeof *order, by_name);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && !strcmp(order[first].name, order[next].name);)
            ++next;
        bool alone = next - first == 1 || !order[first].name[0];
        any |= !alone;
        for (size_t i = first; i < next; ++i) {
            unique[order[i].index] = block;
            block += alone ? sprintf(block, "%s", order[i].name)
                           : sprintf(block, "%s:%zu", order[i].name, i - first + 1);
            ++block;
        }
    }
    return any;
}

char *flr_unique_names(const char *const *names, size_t count, const char *unnamed,
                       const char **unique)
{
    numbered *order = calloc(count + 1, sizeof *order);
    char *block = NULL;
    if (!order) return NULL;
    for (size_t i = 0; i < count; ++i) unique[i] = names[i][0] || !unnamed ? names[i] : unnamed;
    // a number may make a name that another has already: then both get one more
    bool again = true;
    for (int round = 0; again && round < MAX_NUMBERINGS; ++round) {
        size_t size = 1;
        for (size_t i = 0; i < count; ++i) {
            order[i] = (numbered){unique[i], i};
            size += strlen(unique[i]) + NUMBER_SIZE;
        }
        char *made = malloc(size);
        if (!made) {
            free(block);
            block = NULL;
            break;
        }
        again = number_equal(order, count, made, unique);
        free(block);
        block = made;
    }
    free(order);
    return block;
}
