/* reader.h: what the readers of all formats share: the bytes, the options, the mesh in the
 * making, the report, and the sentences about what is wrong and where.
 *
 * Private to src/mesh. */
#ifndef FLR_MESH_READER_H
#define FLR_MESH_READER_H

#include "feeler/mesh.h"
#include "mesh/builder.h"

/* A file may take this many times its size in memory while it is read, not counting the file itself, */
#define FLR_MEMORY_FACTOR 8
/* and this many bytes beside: the first tables, which do not shrink with the file. */
#define FLR_MEMORY_CONSTANT ((size_t)15 << 10)

typedef struct flr_reader {
    const char *name;        /* of the file, for sentences */
    const char *bytes, *end; /* all of it; no zero after it */
    bool tolerant;
    bool binary; /* places are bytes, not lines */
    double unit; /* metres per unit */
    flr_mesh_report *report;
    flr_error *error;
    flr_builder builder;
    bool (*go_on)(void *context); /* as of flr_mesh_options */
    void *context;
    unsigned steps; /* since it was asked */
} flr_reader;

/* Ends the reading: "NAME: line 12: …" (or byte), where `at` points to the place. */
flr_result flr_reader_stop(flr_reader *reader, const char *at, const char *format, ...)
    FLR_PRINTF(3, 4);

/* Something is wrong that a tolerant reader can leave out: strict: as above; tolerant: FLR_OK,
 * and the first one goes into the report. The caller counts. */
flr_result flr_reader_complain(flr_reader *reader, const char *at, const char *format, ...)
    FLR_PRINTF(3, 4);

/* The sentence for a result of the builder. FLR_OK passes, unless the reader is to stop: FLR_CANCELLED. */
flr_result flr_reader_built(flr_reader *reader, flr_result result);

/* Complains about a corner (metres) that is not finite or too far out. The caller counts the
 * triangles that this costs. */
flr_result flr_reader_complain_far(flr_reader *reader, const char *at, flr_vec3 corner);

/* 1868654180 as "1,868,654,180". Returns `text`. */
enum { FLR_COUNT_TEXT_SIZE = 32 };
const char *flr_count_print(uint64_t count, char text[FLR_COUNT_TEXT_SIZE]);
#define FLR_COUNT_TEXT(count) flr_count_print(count, (char[FLR_COUNT_TEXT_SIZE]){0})

/* What stands at `at`, for a sentence: the word there in ASCII, cut if long. Returns `text`. */
enum { FLR_WORD_TEXT_SIZE = 28 };
const char *flr_word_print(const flr_reader *reader, const char *at, char text[FLR_WORD_TEXT_SIZE]);
#define FLR_WORD_TEXT(reader, at) flr_word_print(reader, at, (char[FLR_WORD_TEXT_SIZE]){0})

static inline bool flr_is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
static inline bool flr_is_space(char c) { return flr_is_blank(c) || c == '\n' || c == '\r'; }

/* Is this as long as a binary STL file with its facet count should be? */
bool flr_stl_size_fits(const uint8_t *bytes, size_t size);

/* The readers: fill builder and report. A mesh without triangles is the caller's to refuse. */
flr_result flr_read_stl_binary(flr_reader *reader);
flr_result flr_read_stl_ascii(flr_reader *reader);
flr_result flr_read_obj(flr_reader *reader);
flr_result flr_read_ply(flr_reader *reader);
flr_result flr_read_itri(flr_reader *reader);
flr_result flr_read_vrml(flr_reader *reader);

#endif
