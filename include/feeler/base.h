/* feeler/base.h: what everything stands on: results, assertions, hash, units, queues between threads.
 *
 *   api        exported symbols; the thread classes
 *   result     result codes and error messages
 *   assert     assertions on what a caller passes
 *   hash       content hash, the same on every machine
 *   units      lengths as text, such as "0.35mm"
 *   simd       which instruction set the fast loops use
 *   histogram  percentiles of many values
 *   ring       queue from one thread to another
 *   latest     newest value from one thread to another
 */
#ifndef FEELER_BASE_H
#define FEELER_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==== api ==================================================================================== */

/* Which symbols leave the library, and small portability helpers.
 *
 * Included by every other public header; there is nothing here to call.
 *
 * Thread classes, as used in the comments of all public headers:
 *   any      may be called from any thread, and from several at once on different
 *            objects; const objects may be shared
 *   control  only from the thread that owns the object
 *   RT safe  also allowed in the real-time loop: bounded time, no allocation, lock,
 *            system call or log line
 */

#if defined(FLR_BUILD_LIBRARY) && defined(__GNUC__)
#define FLR_API __attribute__((visibility("default")))
#else
#define FLR_API
#endif

#if defined(__GNUC__)
#define FLR_PRINTF(format_index, first_argument)                                                   \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define FLR_PRINTF(format_index, first_argument)
#endif

/* ==== result ================================================================================= */

/* What a function answers when the world may say no.
 *
 * feeler knows three kinds of trouble:
 *
 *   1. a caller's bug (null where null is not allowed, an index out of range):
 *      FLR_ASSERT, see feeler/base.h;
 *   2. the world's trouble (a file, a socket, a device, memory): the function
 *      returns a result code other than FLR_OK, leaves its outputs untouched, and
 *      fills an flr_error with one sentence for a person;
 *   3. trouble inside the real-time loop: clamped, counted, never returned.
 *
 * This header is about the second kind. A function that can fail takes an
 * `flr_error *` as its last argument. It may always be NULL when the caller does
 * not want the sentence. On FLR_OK the error is left untouched.
 *
 *     flr_error error;
 *     if (flr_mesh_read(env, "part.stl", NULL, &mesh, NULL, &error) != FLR_OK)
 *         fprintf(stderr, "%s\n", error.message);
 */

/* What happened. The codes are stable; new ones are added at the end. */
typedef enum flr_result {
    FLR_OK = 0,
    FLR_BAD_INPUT,    /* a file, packet or text from outside is not what it should be */
    FLR_BAD_ARGUMENT, /* a parameter is out of its stated range */
    FLR_NOT_FOUND,    /* no such file, name or address */
    FLR_DENIED,       /* exists, but may not be used */
    FLR_IO,           /* reading or writing failed (disk full, device gone, cut off) */
    FLR_NO_MEMORY,    /* memory could not be had */
    FLR_TOO_LARGE,    /* beyond a stated limit */
    FLR_UNSUPPORTED,  /* a valid request that this build or machine cannot serve */
    FLR_TIMEOUT,      /* did not happen in the time given */
    FLR_AGAIN,        /* nothing to be had now; not an error, try later */
    FLR_CLOSED,       /* the other side is gone */
    FLR_CANCELLED,    /* the caller asked to stop */
    FLR_CRASHED,      /* a helper process died or broke its promises */
    FLR_RESULT_COUNT
} flr_result;

enum { FLR_ERROR_MESSAGE_SIZE = 512 };

/* A result code with one sentence that names file, place or field and says what
 * to do. Plain data: copy it freely; it owns nothing. */
typedef struct flr_error {
    flr_result code;
    char message[FLR_ERROR_MESSAGE_SIZE]; /* clean UTF-8; long paths lack their middle */
} flr_error;

/* Fills `error` (which may be NULL) and returns `code`, so that a failing function
 * can end with `return flr_fail(error, FLR_IO, "%s: cannot read: %s", ...)`.
 * Control characters (C1 and marks of reading direction among them) and bytes that
 * are not UTF-8 are replaced by '?', so that a file name or a file's content cannot
 * drive the user's terminal. A sentence that is too long loses the middle of its
 * longest words, which are paths, then its end. Thread: any; not RT safe. */
FLR_API flr_result flr_fail(flr_error *error, flr_result code, const char *format, ...)
    FLR_PRINTF(3, 4);
/* Fails with FLR_NO_MEMORY and the sentence "out of memory". */
FLR_API flr_result flr_fail_memory(flr_error *error);
FLR_API flr_result flr_fail_va(flr_error *error, flr_result code, const char *format,
                               va_list arguments) FLR_PRINTF(3, 0);

/* A short constant name such as "bad input". Never NULL. Thread: any; RT safe. */
FLR_API const char *flr_result_name(flr_result code);

/* ==== assert ================================================================================= */

/* A caller's bug.
 *
 * FLR_ASSERT(condition) guards what a caller must get right: null where null is not
 * allowed, an index out of range, a call in the wrong order. The checks are cheap and stay
 * in release builds, because a host application is where such bugs are made. What the
 * world does wrong (a file, a socket, memory) is never asserted; see feeler/base.h.
 *
 * Where the condition does not hold, the assert handler is called. The default one prints
 * one line to stderr and aborts. An application may put its own there: write a crash
 * report, bring the forces to zero, leave by longjmp. A handler that
 * returns is followed by abort(): the code behind a broken promise must not run.
 *
 * The handler is the one process-wide variable of the library. It must be one, since an
 * assertion has no object to ask; it is set and read atomically.
 */

/* Called with the text of the condition and the place. All texts are constants. */
typedef void (*flr_assert_handler)(const char *condition, const char *file, int line,
                                   const char *function);

/* Replaces the handler of this process; NULL brings the default back. Returns the one
 * before (NULL: the default). Thread: any. */
FLR_API flr_assert_handler flr_set_assert_handler(flr_assert_handler handler);

/* Calls the handler; does not return. Thread: any. */
#if defined(__GNUC__)
__attribute__((noreturn, cold))
#endif
FLR_API void
flr_assert_failed(const char *condition, const char *file, int line, const char *function);

/* An expression of type void. RT safe while the condition holds. */
#define FLR_ASSERT(condition)                                                                      \
    ((condition) ? (void)0 : flr_assert_failed(#condition, __FILE__, __LINE__, __func__))

/* ==== hash =================================================================================== */

/* A content hash: the same bytes give the same 128 bits on every machine.
 *
 * For cache keys, golden hashes and damage detection. Fast, well mixed, and not made to
 * withstand an attacker: what must not be forged is sealed with libsodium elsewhere.
 *
 * Thread: any; RT safe.
 */

typedef struct flr_hash {
    uint64_t high, low;
} flr_hash;

/* A hash in the making; plain data, on the stack, owns nothing. */
typedef struct flr_hasher {
    uint64_t lanes[4];
    uint64_t total;   /* bytes so far */
    uint8_t tail[32]; /* bytes not yet mixed in */
} flr_hasher;

/* The hash of a run of bytes; `bytes` may be NULL when `size` is 0. */
FLR_API flr_hash flr_hash_bytes(const void *bytes, size_t size);

/* The same in pieces: the split does not matter. */
FLR_API flr_hasher flr_hasher_begin(void);
FLR_API void flr_hasher_add(flr_hasher *hasher, const void *bytes, size_t size);
FLR_API flr_hash flr_hasher_end(const flr_hasher *hasher);

FLR_API bool flr_hash_equal(flr_hash a, flr_hash b);

enum { FLR_HASH_TEXT_SIZE = 33 };

/* 32 lower-case hexadecimal digits and a zero; returns `text`. FLR_HASH_TEXT() and similar macros provide the buffer; the text
 * is valid until the end of the enclosing block. */
FLR_API const char *flr_hash_print(flr_hash hash, char text[FLR_HASH_TEXT_SIZE]);
#define FLR_HASH_TEXT(hash) flr_hash_print(hash, (char[FLR_HASH_TEXT_SIZE]){0})

/* ==== units ================================================================================== */

/* Lengths as people write them: "0.35mm", "2 in", "1e-3 m".
 *
 * Inside feeler every length is in metres. These functions stand where text comes in or
 * goes out: the command line, scene files, reports. They do not depend on the locale: the
 * decimal sign is a point.
 *
 * Thread: any. Nothing here is RT safe.
 */

/* The names of units, smallest first, for help texts: "um, mm, cm, m, in, ft". */
#define FLR_UNIT_NAMES "um, mm, cm, m, in, ft"

/* Metres per unit, for a name (um, mm, cm, m, in, ft; case counts) or a positive number of
 * metres ("0.0254"). FLR_BAD_INPUT, with a sentence that quotes `text`, for anything else. */
FLR_API flr_result flr_unit_parse(const char *text, double *metres, flr_error *error);

/* The name of the unit of exactly this many metres, or NULL when it has none. */
FLR_API const char *flr_unit_name(double metres);

/* Reads a number, then a unit, with or without blanks between. A number alone is taken in
 * `default_unit` (metres per unit); 0: a unit must be given. The result is finite and may be
 * zero or negative: the caller knows what its size may be. */
FLR_API flr_result flr_size_parse(const char *text, double default_unit, double *metres,
                                  flr_error *error);

enum { FLR_SIZE_TEXT_SIZE = 32, FLR_NUMBER_TEXT_SIZE = 32 };

/* For people: up to six digits in um, mm or m, whichever reads best ("0.35 mm", "4.8 m");
 * flr_size_parse() reads it back. Returns `text`. */
FLR_API const char *flr_size_print(double metres, char text[FLR_SIZE_TEXT_SIZE]);
#define FLR_SIZE_TEXT(metres) flr_size_print(metres, (char[FLR_SIZE_TEXT_SIZE]){0})

/* The same without the blank, as a command line takes it: "0.35mm". Returns `text`. */
FLR_API const char *flr_size_print_tight(double metres, char text[FLR_SIZE_TEXT_SIZE]);

/* For files: the fewest digits that read back as the same number ("0.1", "1e-09"); -0 is
 * written as 0. `value` must be finite. Returns `text`. */
FLR_API const char *flr_number_print(double value, char text[FLR_NUMBER_TEXT_SIZE]);
#define FLR_NUMBER_TEXT(value) flr_number_print(value, (char[FLR_NUMBER_TEXT_SIZE]){0})

/* Reads one decimal number, such as "-1.5e3", from the start of `text`, and sets `*end` to what
 * follows. Hexadecimal, "inf" and "nan" are no numbers here. FLR_BAD_INPUT when there is no
 * number or when it is too large for a double. */
FLR_API flr_result flr_number_parse(const char *text, double *value, const char **end,
                                    flr_error *error);

/* ==== simd =================================================================================== */

/* Which instructions the fast loops use.
 *
 * Contact, probe and distance queries have a scalar loop and variants of it: AVX2 and AVX-512 on
 * x86-64, NEON on AArch64. All give the same answer to the last bit; they differ in time only. The choice is made when an engine is
 * created, not at build time.
 *
 * Thread: any; RT safe.
 */

typedef enum flr_simd {
    FLR_SIMD_BEST,
    FLR_SIMD_SCALAR,
    FLR_SIMD_AVX2,
    FLR_SIMD_AVX512,
    FLR_SIMD_NEON
} flr_simd;

/* Does this processor (and this build) have it? BEST and SCALAR: always. */
FLR_API bool flr_simd_has(flr_simd simd);

/* What FLR_SIMD_BEST means here; any other is returned as it is. */
FLR_API flr_simd flr_simd_resolve(flr_simd simd);

/* "best", "scalar", "AVX2", "AVX-512" or "NEON". Never NULL. */
FLR_API const char *flr_simd_name(flr_simd simd);

/* ==== histogram ============================================================================== */

/* How a number is spread, counted while it comes in.
 *
 * A histogram with steps that grow with the number: exact below 32, then 32 steps to each doubling,
 * so that a percentile is right to about 3 %. For times in nanoseconds, points tested, contacts.
 * Its size is fixed; adding takes a few instructions.
 *
 *     flr_histogram_add(&h, nanoseconds);
 *     flr_percentiles p = flr_histogram_percentiles(&h);
 *
 * Thread: add by one thread; reading by any, also meanwhile: it sees some moment during the call,
 * each count whole. RT safe.
 */

enum { FLR_HISTOGRAM_STEPS = 32, FLR_HISTOGRAM_SIZE = 32 * 38 };

/* Plain data, all zero at first; about 10 KB. Numbers of 2^42 and more count as the largest step.
 * */
typedef struct flr_histogram {
    uint64_t counts[FLR_HISTOGRAM_SIZE];
    uint64_t total; /* numbers added */
    uint64_t sum;   /* of them */
    uint64_t max;   /* largest, exactly; 0 when empty */
} flr_histogram;

typedef struct flr_percentiles {
    uint64_t count;
    double mean;
    uint64_t p50, p99, p999; /* at most 1/32 above what they stand for, never above max */
    uint64_t max;
} flr_percentiles;

/* Adds one number. */
FLR_API void flr_histogram_add(flr_histogram *histogram, uint64_t value);

/* Takes everything back. By the adding thread. */
FLR_API void flr_histogram_clear(flr_histogram *histogram);

/* Adds what another holds. By the adding thread. */
FLR_API void flr_histogram_merge(flr_histogram *histogram, const flr_histogram *other);

/* The number that the share `q` (0 … 1) of all does not exceed; 0 when empty. */
FLR_API uint64_t flr_histogram_quantile(const flr_histogram *histogram, double q);

/* The usual ones at once; all zero when empty. */
FLR_API flr_percentiles flr_histogram_percentiles(const flr_histogram *histogram);

/* For those who draw it: which step a number falls into, and the largest number of a step. */
FLR_API unsigned flr_histogram_index(uint64_t value);
FLR_API uint64_t flr_histogram_upper(unsigned index);

/* ==== ring =================================================================================== */

/* From one thread to another, in order.
 *
 * A queue of fixed capacity for elements of fixed size, copied by value, between exactly one
 * producer thread and one consumer thread. Neither ever waits for the other: a push into a
 * full ring fails and is counted, a pop from an empty one fails. Commands go from the
 * control thread to the real-time loop through such a ring, events come back through one.
 * Where only the newest value matters, use feeler/base.h.
 *
 * Thread: push functions and flr_ring_dropped() by the producer (the count may be read by
 * anyone), pop functions by the consumer, flr_ring_count() by both.
 * RT safe, except create and destroy, which happen while no other thread uses the ring.
 */

typedef struct flr_ring flr_ring;

/* A ring for at least `capacity` elements of `element_size` bytes each; the capacity is
 * rounded up to a power of two. Both greater than 0. NULL: no memory. */
FLR_API flr_ring *flr_ring_create(size_t element_size, size_t capacity);
FLR_API void flr_ring_destroy(flr_ring *ring); /* NULL allowed */

/* How many elements fit; how many are in it now (to the other thread: at some moment
 * during the call). */
FLR_API size_t flr_ring_capacity(const flr_ring *ring);
FLR_API size_t flr_ring_count(const flr_ring *ring);

/* Copies one element in. False: full; the element is dropped and counted. */
FLR_API bool flr_ring_push(flr_ring *ring, const void *element);

/* Copies in the first of `count` elements that fit, in one step for the consumer; returns
 * how many. The rest are not counted as dropped: push them later or call
 * flr_ring_drop(). */
FLR_API size_t flr_ring_push_batch(flr_ring *ring, const void *elements, size_t count);

/* Counts elements that the producer gives up on. */
FLR_API void flr_ring_drop(flr_ring *ring, size_t count);

/* Copies the oldest element out. False: empty; `element` is untouched. */
FLR_API bool flr_ring_pop(flr_ring *ring, void *element);

/* Copies up to `count` of the oldest elements out; returns how many. */
FLR_API size_t flr_ring_pop_batch(flr_ring *ring, void *elements, size_t count);

/* Elements dropped so far. */
FLR_API uint64_t flr_ring_dropped(const flr_ring *ring);

/* ==== latest ================================================================================= */

/* From one thread to another, newest only.
 *
 * One writer publishes a value again and again; one reader takes the newest whole value
 * whenever it likes. Values in between are skipped, never mixed. Neither side ever waits,
 * retries or fails: three copies of the value go around, one for the writer, one for the
 * reader, one in between. The real-time loop shows its state to the control thread this way,
 * and takes the device's pose this way.
 *
 *     flr_latest_write(latest, &state);                  // writer, every tick
 *     uint64_t number = flr_latest_read(latest, &copy);  // reader, at will
 *
 * Large values need not be copied: fill flr_latest_begin(), then flr_latest_publish(); and
 * look at flr_latest_view() in place.
 *
 * Thread: begin, write, publish by one writer; read, view by one reader. RT safe, except
 * create and destroy, which happen while no other thread uses the object.
 */

typedef struct flr_latest flr_latest;

/* For values of `size` bytes (greater than 0), each at a 64-byte boundary, all zero at first.
 * NULL: no memory. */
FLR_API flr_latest *flr_latest_create(size_t size);
FLR_API void flr_latest_destroy(flr_latest *latest); /* NULL allowed */

/* Publishes a copy of `value`. */
FLR_API void flr_latest_write(flr_latest *latest, const void *value);

/* The same without the copy: where the writer may put the next value (what is there is an
 * old one, not necessarily the last), and the step that publishes it. */
FLR_API void *flr_latest_begin(flr_latest *latest);
FLR_API void flr_latest_publish(flr_latest *latest);

/* Copies the newest value out. Returns its number: 1 for the first value published, one more
 * for each; 0 (and zeros) as long as there is none. The same number means the same value. */
FLR_API uint64_t flr_latest_read(flr_latest *latest, void *value);

/* The same without the copy: valid until the reader's next read or view. `number` may be
 * NULL. */
FLR_API const void *flr_latest_view(flr_latest *latest, uint64_t *number);

#ifdef __cplusplus
}
#endif
#endif
