/* decimal numbers, correctly rounded
 *
 * Three ways, each exact:
 *   1. mantissa up to 2^53 and power of ten up to 22: both are doubles, so one operation rounds once;
 *   2. up to 19 digits and power of ten up to 27: the mantissa and 5^27 are 64-bit integers, so
 *      128-bit integers hold product or quotient and remainder;
 *   3. the rest, rare: the C library, which is given digits and exponent only. Without a decimal
 *      point in the text the locale has no say.
 * To single precision through double: wrong only when the double lies in the middle between two
 * floats (or floats are subnormal), and then the third way is taken. */
#include "mesh/decimal.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 wide;

enum {
    EXACT_POWER = 27,     /* 5^27 < 2^63 */
    MANTISSA_DIGITS = 19, /* any 19 digits fit 64 bits */
    SLOW_DIGITS = 800     /* 768 decide the rounding of any double; one more tells "and a bit" */
};

static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t fives[EXACT_POWER + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

/* a decimal number as found in the text */
typedef struct decimal {
    const char *first, *end; /* digits and point, without sign and exponent */
    uint64_t mantissa;       /* the first 19 significant digits */
    int64_t power;           /* value = mantissa · 10^power, if not cut */
    bool cut;                /* there are more digits than the mantissa holds */
    bool negative;
} decimal;

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* ---- second way: 128-bit integers ---- */

/* (integer + a bit, if sticky) · 2^exponent, rounded to nearest even. The integer has at least 55
 * bits, and the result is a normal number. */
static double round_to_double(wide integer, bool sticky, int exponent)
{
    uint64_t high = (uint64_t)(integer >> 64);
    int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)integer);
    int shift = bits - 53;
    uint64_t mantissa = (uint64_t)(integer >> shift);
    wide rest = integer - ((wide)mantissa << shift), half = (wide)1 << (shift - 1);
    if (rest > half || (rest == half && (sticky || (mantissa & 1)))) mantissa++;
    return ldexp((double)mantissa, exponent + shift);
}

static double by_integers(uint64_t mantissa, int power)
{
    if (power >= 0) {
        wide product = (wide)mantissa * fives[power];
        // room below, so that there is always something to round
        int lift = product >> 64 ? 0 : 60;
        return round_to_double(product << lift, false, power - lift);
    }
    // both to their full 64 bits: then the quotient has 63 or 64
    int lift_mantissa = __builtin_clzll(mantissa), lift_five = __builtin_clzll(fives[-power]);
    wide dividend = (wide)(mantissa << lift_mantissa) << 63;
    uint64_t divisor = fives[-power] << lift_five;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    bool sticky = (uint64_t)dividend != quotient * divisor;
    return round_to_double(quotient, sticky, power - 63 - lift_mantissa + lift_five);
}

/* ---- third way: the C library ---- */

static double by_library(const decimal *number, flr_precision precision, int64_t exponent)
{
    char text[SLOW_DIGITS + 40];
    size_t count = 0;
    int64_t power = exponent;
    bool point = false, more = false;
    for (const char *c = number->first; c < number->end; c++) {
        if (*c == '.') {
            point = true;
            continue;
        }
        if (point) power--;
        if (count == 0 && *c == '0') continue;
        if (count < SLOW_DIGITS)
            text[count++] = *c;
        else
            more |= *c != '0', power++;
    }
    if (more) text[count++] = '1', power--;
    if (count == 0) return 0;
    if (power > 99999) power = 99999;
    if (power < -99999) power = -99999;
    snprintf(text + count, sizeof text - count, "e%d", (int)power);
    return precision == FLR_SINGLE ? (double)strtof(text, NULL) : strtod(text, NULL);
}

/* ---- from text ---- */

/* nan, inf, infinity; NULL when it is none of them */
static const char *parse_word(const char *text, const char *end, bool negative, double *value)
{
    size_t left = (size_t)(end - text);
    if (left >= 3 && !strncasecmp(text, "nan", 3)) {
        *value = NAN;
        text += 3;
        // what some libraries add: nan(ind)
        const char *close =
            text < end && *text == '(' ? memchr(text, ')', (size_t)(end - text)) : NULL;
        return close && close - text < 16 ? close + 1 : text;
    }
    if (left >= 3 && !strncasecmp(text, "inf", 3)) {
        *value = negative ? -INFINITY : INFINITY;
        return text + (left >= 8 && !strncasecmp(text, "infinity", 8) ? 8 : 3);
    }
    return NULL;
}

/* the exponent after the digits, if there is a whole one */
static const char *parse_exponent(const char *text, const char *end, int64_t *exponent)
{
    const char *c = text;
    if (c == end || (*c | 0x20) != 'e') return text;
    c++;
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+')) c++;
    if (c == end || !is_digit(*c)) return text;
    int64_t sum = 0;
    for (; c < end && is_digit(*c); c++)
        if (sum < INT64_MAX / 100) sum = 10 * sum + (*c - '0');
    *exponent = negative ? -sum : sum;
    return c;
}

/* sign, digits and point; NULL when there is no digit */
static const char *parse_digits(const char *text, const char *end, decimal *number)
{
    const char *c = text;
    uint64_t mantissa = 0;
    int64_t power = 0;
    number->first = c;
    while (c < end && is_digit(*c)) mantissa = 10 * mantissa + (uint64_t)(*c++ - '0');
    ptrdiff_t digits = c - text;
    if (c < end && *c == '.') {
        const char *fraction = ++c;
        while (c < end && is_digit(*c)) mantissa = 10 * mantissa + (uint64_t)(*c++ - '0');
        power = fraction - c;
        digits += c - fraction;
    }
    if (digits == 0) return NULL;
    number->end = c;
    number->cut = false;

    // too many digits for 64 bits, unless they begin with zeros
    if (digits > MANTISSA_DIGITS) {
        const char *zero = text;
        while (zero < c && (*zero == '0' || *zero == '.')) digits -= *zero++ == '0';
        number->cut = digits > MANTISSA_DIGITS;
    }
    number->mantissa = mantissa;
    number->power = power;
    return c;
}

static double convert(const decimal *number, int64_t exponent)
{
    int64_t power = number->power + exponent;
    uint64_t mantissa = number->mantissa;
    if (!number->cut) {
        if (mantissa == 0) return 0;
        if (mantissa <= (uint64_t)1 << 53 && power >= -22 && power <= 22) {
            double m = (double)mantissa;
            return power < 0 ? m / tens[-power] : m * tens[power];
        }
        if (power >= -EXACT_POWER && power <= EXACT_POWER) return by_integers(mantissa, (int)power);
    }
    return by_library(number, FLR_DOUBLE, exponent);
}

/* Is a double that far from any place where two floats meet? */
static bool rounds_safely(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value == 0 || (fabs(value) >= 2 * (double)FLT_MIN && (bits & 0x1FFFFFFF) != 0x10000000);
}

const char *flr_decimal_parse(const char *text, const char *end, flr_precision precision,
                              double *value)
{
    decimal number = {0};
    if (text < end && (*text == '-' || *text == '+')) number.negative = *text++ == '-';
    const char *c = parse_digits(text, end, &number);
    if (!c) return parse_word(text, end, number.negative, value);
    if (c < end && *c == '#') {
        // Microsoft's 1.#QNAN, 1.#INF, 1.#IND00
        while (c < end && (*c == '#' || is_digit(*c) || ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z')))
            c++;
        *value = NAN;
        return c;
    }
    int64_t exponent = 0;
    c = parse_exponent(c, end, &exponent);
    double result = convert(&number, exponent);
    if (precision == FLR_SINGLE)
        result = rounds_safely(result) ? (double)(float)result
                                       : by_library(&number, FLR_SINGLE, exponent);
    *value = number.negative ? -result : result;
    return c;
}

const char *flr_integer_parse(const char *text, const char *end, int64_t *value)
{
    const char *c = text;
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+')) c++;
    const char *first = c;
    int64_t sum = 0;
    for (; c < end && is_digit(*c); c++) {
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *c - '0', &sum))
            return NULL;
    }
    if (c == first) return NULL;
    *value = negative ? -sum : sum;
    return c;
}
