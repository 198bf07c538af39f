/* the nearest known word, by the number of slips between two words */
#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { WORD_MAX = 48 }; /* longer words are not compared */

static int lower(char c) { return tolower((unsigned char)c); }

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* letters to replace, insert, delete or swap with their neighbour until a is b */
static unsigned slips(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][WORD_MAX + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];
    for (unsigned j = 0; j <= b_length; j++) above[j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        unsigned *oldest = before;
        before = above, above = row, row = oldest;
    }
    return above[b_length];
}

const char *flr_suggest(const char *word, const char *const *known, size_t count)
{
    size_t length = strlen(word);
    if (!length || length > WORD_MAX) return NULL;
    const char *best = NULL;
    unsigned best_slips = length < 5 ? 2 : 3;
    for (size_t i = 0; i < count; i++) {
        size_t known_length = known[i] ? strlen(known[i]) : 0;
        if (!known_length || known_length > WORD_MAX) continue;
        unsigned here = slips(word, length, known[i], known_length);
        if (here < best_slips && here < known_length) best = known[i], best_slips = here;
    }
    return best;
}
