/* search.h: search in what is sorted. Thread: any; RT safe. */
#ifndef FLR_BASE_SEARCH_H
#define FLR_BASE_SEARCH_H

/* Sets `index`, a variable, to the first of [0, count) at which `below`, an expression with `index`, does not hold; to `count`
 * where it holds everywhere. Where it holds comes first. */
#define FLR_BISECT(index, count, below)                                                            \
    do {                                                                                           \
        __typeof__(index) from_ = 0, end_ = (count);                                               \
        while (from_ < end_) {                                                                     \
            index = from_ + (end_ - from_) / 2;                                                    \
            if (below)                                                                             \
                from_ = index + 1;                                                                 \
            else                                                                                   \
                end_ = index;                                                                      \
        }                                                                                          \
        index = from_;                                                                             \
    } while (0)

#endif
