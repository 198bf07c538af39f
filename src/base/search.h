/* search.h: binary search. Thread: any; RT safe. */
#ifndef FLR_BASE_SEARCH_H
#define FLR_BASE_SEARCH_H

/* Sets the variable `index` to the first of [0, count) at which `below`, an expression of `index`, does not hold, or to `count`
 * if it holds everywhere. All indices at which it holds must come before all others. */
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
