/* exact signs by expansions */
#include "probe/exact_segment.h"

#include <float.h>

/* An expansion: a sum of components that do not overlap, the smallest first, zeros left out. */
enum { MAX_TERMS = 192 };
typedef struct expansion {
    long double part[MAX_TERMS];
    int count;
} expansion;

/* a + b = *high + *low, exactly */
static inline void two_sum(long double a, long double b, long double *high, long double *low)
{
    long double sum = a + b, from_b = sum - a, from_a = sum - from_b;
    *low = (a - from_a) + (b - from_b);
    *high = sum;
}

/* a b = *high + *low: both are cut in halves whose products are exact */
static inline void two_product(long double a, long double b, long double *high, long double *low)
{
    const long double cut = (long double)(1ull << ((LDBL_MANT_DIG + 1) / 2)) + 1;
    long double ca = cut * a, cb = cut * b;
    long double a1 = ca - (ca - a), b1 = cb - (cb - b), a2 = a - a1, b2 = b - b1;
    long double product = a * b;
    *low = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2);
    *high = product;
}

/* e += b */
static void add_one(expansion *e, long double b)
{
    int kept = 0;
    for (int i = 0; i < e->count; i++) {
        long double low;
        two_sum(b, e->part[i], &b, &low);
        if (low != 0) e->part[kept++] = low;
    }
    if (b != 0) e->part[kept++] = b;
    e->count = kept;
}

/* e += sign f */
static void add(expansion *e, const expansion *f, long double sign)
{
    for (int i = 0; i < f->count; i++) add_one(e, sign * f->part[i]);
}

/* *result = e f; neither may be the result */
static void multiply(expansion *result, const expansion *e, const expansion *f)
{
    result->count = 0;
    for (int i = 0; i < e->count; i++)
        for (int k = 0; k < f->count; k++) {
            long double high, low;
            two_product(e->part[i], f->part[k], &high, &low);
            if (low != 0) add_one(result, low);
            add_one(result, high);
        }
}

static void difference(expansion *result, double a, double b)
{
    long double high, low;
    result->count = 0;
    two_sum((long double)a, -(long double)b, &high, &low);
    if (low != 0) result->part[result->count++] = low;
    if (high != 0) result->part[result->count++] = high;
}

/* a d - b c */
static void minor_of(expansion *result, const expansion *a, const expansion *b, const expansion *c,
                     const expansion *d)
{
    expansion other;
    multiply(result, a, d);
    multiply(&other, b, c);
    add(result, &other, -1);
}

static long double rounded(const expansion *e)
{
    long double sum = 0;
    for (int i = 0; i < e->count; i++) sum += e->part[i];
    return sum;
}

static inline double axis_of(flr_vec3 p, int axis)
{
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

long double flr_exact_area(flr_vec3 p, flr_vec3 q, flr_vec3 r, int u, int v)
{
    expansion a, b, c, d, result;
    difference(&a, axis_of(p, u), axis_of(r, u));
    difference(&b, axis_of(p, v), axis_of(r, v));
    difference(&c, axis_of(q, u), axis_of(r, u));
    difference(&d, axis_of(q, v), axis_of(r, v));
    minor_of(&result, &a, &b, &c, &d);
    return rounded(&result);
}

long double flr_exact_volume(flr_vec3 p, flr_vec3 q, flr_vec3 r, flr_vec3 d)
{
    expansion from_d[3][3], side, term, total;
    const flr_vec3 corners[3] = {p, q, r};
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++)
            difference(&from_d[i][axis], axis_of(corners[i], axis), axis_of(d, axis));
    total.count = 0;
    for (int axis = 0; axis < 3; axis++) {
        int u = (axis + 1) % 3, v = (axis + 2) % 3;
        minor_of(&side, &from_d[1][u], &from_d[1][v], &from_d[2][u], &from_d[2][v]);
        multiply(&term, &side, &from_d[0][axis]);
        add(&total, &term, 1);
    }
    return rounded(&total);
}
