/* suggest.h: "did you mean": the known word nearest to a mistyped one. Thread: any. */
#ifndef FLR_BASE_SUGGEST_H
#define FLR_BASE_SUGGEST_H

#include <stddef.h>

/* The first of `known` (`count` words, NULL entries are skipped) that is near enough to `word`
 * to be a slip of the hand: at most one wrong, missing, extra or swapped letter in short words,
 * two in longer ones; case does not count. NULL when there is none. Borrowed from `known`. */
const char *flr_suggest(const char *word, const char *const *known, size_t count);

#endif
