/* sine, cosine and the angle of a point: the same bits with every C library.
 *
 * C libraries differ in the last bit of these functions. Here the result is computed to about 2^-70 as an unevaluated sum of two
 * doubles and rounded once, so that it is the correctly rounded one but for a few arguments in a million, and always the
 * same one: only additions, products, quotients and comparisons of IEEE 754 take part, no fused operation. Small angles mostly need
 * a tenth of the work, for the same bits. */
#include "feeler/math.h"

/* high + low, with |low| at most half an ulp of high (T. J. Dekker, A floating-point technique for extending the available precision,
 * 1971) */
typedef struct wide {
    double high, low;
} wide;

/* |a| >= |b| */
static wide quick_sum(double a, double b)
{
    const double s = a + b;
    return (wide){s, b - (s - a)};
}

static wide exact_sum(double a, double b)
{
    const double s = a + b, of_b = s - a;
    return (wide){s, (a - (s - of_b)) + (b - of_b)};
}

static wide exact_product(double a, double b)
{
    const double p = a * b, of_a = 134217729.0 * a, of_b = 134217729.0 * b;
    const double a1 = of_a - (of_a - a), a2 = a - a1, b1 = of_b - (of_b - b), b2 = b - b1;
    return (wide){p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

static wide sum(wide a, wide b)
{
    const wide s = exact_sum(a.high, b.high), t = exact_sum(a.low, b.low);
    const wide u = quick_sum(s.high, s.low + t.high);
    return quick_sum(u.high, u.low + t.low);
}

static wide product(wide a, wide b)
{
    const wide p = exact_product(a.high, b.high);
    return quick_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static wide minus(wide a) { return (wide){-a.high, -a.low}; }

/* ---- sine and cosine ---- */

/* Series for arguments up to pi/4. The first terms are wide numbers; the others are below 2^-20 of the sum, and doubles do. */

static wide sine_of(wide r)
{
    static const wide third = {-0x1.5555555555555p-3, -0x1.5555555555555p-57},
                      fifth = {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                      seventh = {-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73};
    const wide x = product(r, r);
    const double z = x.high;
    const double rest =
        1.0 / 362880 +
        z * (-1.0 / 39916800 +
             z * (1.0 / 6227020800 +
                  z * (-1.0 / 1307674368000 +
                       z * (1.0 / 355687428096000 +
                            z * (-1.0 / 121645100408832000 + z / 51090942171709440000.0)))));
    wide s = sum(seventh, (wide){z * rest, 0});
    s = sum(fifth, product(x, s));
    s = sum(third, product(x, s));
    return sum(r, product(product(x, r), s));
}

static wide cosine_of(wide r)
{
    static const wide fourth = {0x1.5555555555555p-5, 0x1.5555555555555p-59},
                      sixth = {-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65},
                      eighth = {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76};
    const wide x = product(r, r);
    const double z = x.high;
    const double rest =
        -1.0 / 3628800 +
        z * (1.0 / 479001600 + z * (-1.0 / 87178291200 +
                                    z * (1.0 / 20922789888000 + z * (-1.0 / 6402373705728000 +
                                                                     z / 2432902008176640000.0))));
    wide s = sum(eighth, (wide){z * rest, 0});
    s = sum(sixth, product(x, s));
    s = sum(fourth, product(x, s));
    s = sum((wide){-0.5, 0}, product(x, s));
    return sum((wide){1, 0}, product(x, s));
}

/* a - k pi/2, at most about pi/4, for |k| below 2^20: pi/2 in pieces of 33 bits, whose multiples are exact, and a rest */
static wide reduce(double a, double k)
{
    wide r = exact_sum(a, -k * 0x1.921fb544p+0);
    r = sum(r, (wide){-k * 0x1.0b4611a6p-34, 0});
    r = sum(r, (wide){-k * 0x1.3198a2ep-69, 0});
    return sum(r, (wide){-k * 0x1.b839a252049c1p-104, 0});
}

enum { FLR_TRIG_LARGE = 1 << 20 };

/* sin(a + turns pi/2), for |a| below FLR_TRIG_LARGE */
static wide sine_turned(double a, int turns)
{
    const double k = floor(a * 0x1.45f306dc9c883p-1 + 0.5);
    const wide r = k == 0 ? (wide){a, 0} : reduce(a, k);
    const int quadrant = ((int)k + turns) & 3;
    const wide s = quadrant & 1 ? cosine_of(r) : sine_of(r);
    return quadrant & 2 ? minus(s) : s;
}

/* The turns of a step are small angles. For these, the first term plus the sum of a few others, both doubles, is off by less than
 * `doubt`, which is twice the largest possible rounding error of these terms. If all numbers within `doubt` are rounded to the same
 * double, so is the sum of wide numbers, which is one of them (A. Ziv, Fast evaluation of elementary mathematical functions with correctly rounded last bit,
 * 1991). */
#define FLR_TRIG_SMALL 0.25

/* high + low, rounded, to `to`; false: in doubt. */
static bool rounded_surely(double high, double low, double doubt, double *to)
{
    *to = high + (low - doubt);
    return *to == high + (low + doubt);
}

static bool small_sine(double a, double *to)
{
    const double z = a * a;
    const double rest =
        -1.0 / 6 +
        z * (1.0 / 120 +
             z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800 + z / 6227020800))));
    return rounded_surely(a, a * (z * rest), fabs(a) * (z * 0x1p-52 + 0x1p-66), to);
}

static bool small_cosine(double a, double *to)
{
    const double z = a * a;
    const double rest =
        -0.5 +
        z * (1.0 / 24 +
             z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 +
                                                       z * (1.0 / 479001600 - z / 87178291200)))));
    return rounded_surely(1, z * rest, z * 0x1p-51 + 0x1p-66, to);
}

double flr_sin(double angle)
{
    double small;
    if (!(fabs(angle) < FLR_TRIG_LARGE)) return sin(angle);
    if (fabs(angle) < 0x1p-27) return angle;
    if (fabs(angle) < FLR_TRIG_SMALL && small_sine(angle, &small)) return small;
    return sine_turned(angle, 0).high;
}

double flr_cos(double angle)
{
    double small;
    if (!(fabs(angle) < FLR_TRIG_LARGE)) return cos(angle);
    if (fabs(angle) < FLR_TRIG_SMALL && small_cosine(angle, &small)) return small;
    return sine_turned(angle, 1).high;
}

/* ---- the angle of a point ---- */

double flr_atan2(double y, double x)
{
    const double guess = atan2(y, x);
    int of_y, of_x;
    if (!(isfinite(x) && isfinite(y)) || y == 0 || x == 0) return guess;
    const double fy = frexp(y, &of_y), fx = frexp(x, &of_x);
    /* so slim that the guess is a quotient or a multiple of pi/2, which all libraries round alike */
    if (of_y - of_x > 60 || of_x - of_y > 60) return of_y < of_x && x > 0 ? y / x : guess;
    const double v = of_y < of_x ? ldexp(fy, of_y - of_x) : fy;
    const double u = of_y < of_x ? fx : ldexp(fx, of_x - of_y);
    /* what the guess lacks: its tangent is the remainder of the point turned back by the guess, divided by its length */
    const wide s = sine_turned(guess, 0), c = sine_turned(guess, 1);
    const wide across = sum(product((wide){v, 0}, c), minus(product((wide){u, 0}, s)));
    const double along = u * c.high + v * s.high;
    return guess + across.high / along;
}
