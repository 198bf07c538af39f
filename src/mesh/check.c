/* What is wrong with a mesh: the list of findings, and what needs no search. */
#include "feeler/mesh_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "mesh/check_tree.h"
#include "mesh/checking.h"

#define HUGE_SIZE 1e4  /* metres */
#define TINY_SIZE 1e-5 /* metres */
enum { FEW_TRIANGLES = 4, MANY_TRIANGLES = 20000000 };

const char *flr_check_kind_name(flr_check_kind kind)
{
    static const char *const names[FLR_CHECK_KIND_COUNT] = {
        [FLR_CHECK_OPEN_BORDER] = "open-border",
        [FLR_CHECK_NONMANIFOLD_EDGE] = "nonmanifold-edge",
        [FLR_CHECK_NONMANIFOLD_VERTEX] = "nonmanifold-vertex",
        [FLR_CHECK_FLIPPED] = "flipped",
        [FLR_CHECK_INVERTED_COMPONENT] = "inverted-component",
        [FLR_CHECK_NESTING] = "nesting",
        [FLR_CHECK_ZERO_AREA] = "zero-area",
        [FLR_CHECK_SLIVER] = "sliver",
        [FLR_CHECK_DUPLICATE] = "duplicate",
        [FLR_CHECK_OVERLAPPING_COMPONENTS] = "overlapping-components",
        [FLR_CHECK_SELF_INTERSECTION] = "self-intersection",
        [FLR_CHECK_NONFINITE] = "nonfinite",
        [FLR_CHECK_MALFORMED] = "malformed",
        [FLR_CHECK_IGNORED_BYTES] = "ignored-bytes",
        [FLR_CHECK_HUGE] = "huge",
        [FLR_CHECK_TINY] = "tiny",
        [FLR_CHECK_FAR_AWAY] = "far-away",
        [FLR_CHECK_FEW_TRIANGLES] = "few-triangles",
        [FLR_CHECK_MANY_TRIANGLES] = "many-triangles",
    };
    return (unsigned)kind < FLR_CHECK_KIND_COUNT ? names[kind] : "unknown";
}

const char *flr_check_severity_name(flr_check_severity severity)
{
    static const char *const names[] = {"note", "warning", "serious"};
    return (unsigned)severity < 3 ? names[severity] : "unknown";
}

flr_check_options flr_default_check_options(void)
{
    return (flr_check_options){.pair_limit = 60000000};
}

flr_check_severity flr_check_worst(const flr_check_report *report)
{
    /* sorted, so the first is the worst */
    return report->finding_count > 0 ? report->findings[0].severity : FLR_CHECK_NOTE;
}

const flr_check_finding *flr_check_find(const flr_check_report *report, flr_check_kind kind)
{
    for (uint32_t i = 0; i < report->finding_count; i++)
        if (report->findings[i].kind == kind) return report->findings + i;
    return NULL;
}

/* ---- shared by the parts ---- */

flr_check_finding *flr_checking_add(flr_checking *c, flr_check_kind kind,
                                    flr_check_severity severity, uint64_t count)
{
    FLR_ASSERT(c->report->finding_count < FLR_CHECK_KIND_COUNT);
    flr_check_finding *finding = c->report->findings + c->report->finding_count++;
    *finding = (flr_check_finding){.kind = kind,
                                   .severity = severity,
                                   .matters = severity == FLR_CHECK_SERIOUS,
                                   .count = count,
                                   .triangle = FLR_NONE};
    return finding;
}

void flr_checking_place(flr_check_finding *finding, uint32_t triangle, flr_vec3 place,
                        double extent)
{
    finding->triangle = triangle;
    finding->has_place = true;
    finding->place = place;
    finding->extent = extent;
}

void flr_checking_say(flr_check_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->sentence, sizeof finding->sentence, format, arguments);
    va_end(arguments);
}

void flr_checking_effect(flr_check_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->effect, sizeof finding->effect, format, arguments);
    va_end(arguments);
}

flr_result flr_checking_progress(flr_checking *c, double done)
{
    if (!c->options.progress || c->options.progress(c->options.context, done)) return FLR_OK;
    return flr_fail(c->error, FLR_CANCELLED, "the check was stopped");
}

const char *flr_length_print(double metres, char text[FLR_SIZE_TEXT_SIZE])
{
    if (metres == 0) {
        snprintf(text, FLR_SIZE_TEXT_SIZE, "0");
        return text;
    }
    const double power = pow(10, floor(log10(fabs(metres))) - 3);
    return flr_size_print(round(metres / power) * power, text);
}

const char *flr_place_print(flr_vec3 place, char text[FLR_PLACE_TEXT_SIZE])
{
    double v[3] = {place.x, place.y, place.z};
    const double dust = 1e-9 * fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));
    for (int i = 0; i < 3; i++)
        if (fabs(v[i]) <= dust) v[i] = 0;
    snprintf(text, FLR_PLACE_TEXT_SIZE, "(%s, %s, %s)", FLR_LENGTH_TEXT(v[0]),
             FLR_LENGTH_TEXT(v[1]), FLR_LENGTH_TEXT(v[2]));
    return text;
}

flr_result flr_checking_no_memory(flr_checking *c)
{
    return flr_fail(c->error, FLR_NO_MEMORY, "no memory to check %u triangles",
                    c->mesh->triangle_count);
}

uint32_t *flr_singletons(uint32_t count)
{
    uint32_t *parent = malloc((size_t)count * sizeof *parent);
    for (uint32_t i = 0; parent && i < count; i++) parent[i] = i;
    return parent;
}

/* ---- what the reader saw ---- */

static void check_reading(flr_checking *c)
{
    const flr_mesh_report *read = c->read;
    if (!read) return;
    /* the first trouble may be of either kind: the caller has it in `read` and shows it once */
    if (read->dropped_nonfinite > 0) {
        flr_check_finding *f =
            flr_checking_add(c, FLR_CHECK_NONFINITE, FLR_CHECK_WARNING, read->dropped_nonfinite);
        flr_checking_say(f,
                         "%llu triangle%s left out because a coordinate is not a number, "
                         "infinite or absurdly large.",
                         (unsigned long long)f->count, flr_noun(f->count, "", "s"));
        f->matters = true;
        flr_checking_effect(f, "Matters where they were: each leaves a hole, shown as an open "
                               "border. Export the part again.");
    }
    if (read->dropped_malformed > 0) {
        flr_check_finding *f =
            flr_checking_add(c, FLR_CHECK_MALFORMED, FLR_CHECK_WARNING, read->dropped_malformed);
        flr_checking_say(f, "%llu face%s left out because the file makes no sense there.",
                         (unsigned long long)f->count, flr_noun(f->count, "", "s"));
        f->matters = true;
        flr_checking_effect(f, "Matters where they were: each leaves a hole, shown as an open "
                               "border. Export the part again.");
    }
    if (read->ignored_bytes > 0) {
        flr_check_finding *f =
            flr_checking_add(c, FLR_CHECK_IGNORED_BYTES, FLR_CHECK_NOTE, read->ignored_bytes);
        flr_checking_say(
            f, "The file goes on for %llu byte%s after its last facet; they were ignored.",
            (unsigned long long)f->count, flr_noun(f->count, "", "s"));
        flr_checking_effect(f, "Does not matter for voxels if the part is complete; if something "
                               "is missing, the file's facet count is wrong.");
    }
}

/* ---- size, place, number ---- */

static void check_size(flr_checking *c)
{
    char size[FLR_SIZE_TEXT_SIZE];
    flr_length_print(c->size, size);
    const flr_vec3 middle = flr_vec3_lerp(c->mesh->bounds.low, c->mesh->bounds.high, 0.5);
    if (c->size > HUGE_SIZE) {
        flr_check_finding *f = flr_checking_add(c, FLR_CHECK_HUGE, FLR_CHECK_SERIOUS, 1);
        flr_checking_place(f, FLR_NONE, middle, c->size);
        flr_checking_say(f, "The mesh is %s large.", size);
        flr_checking_effect(f, "The unit is probably wrong: voxels that fit such a size are no "
                               "use. Read it in millimetres or micrometres.");
    }
    if (c->size < TINY_SIZE) {
        flr_check_finding *f = flr_checking_add(c, FLR_CHECK_TINY, FLR_CHECK_SERIOUS, 1);
        flr_checking_place(f, FLR_NONE, middle, c->size);
        flr_checking_say(f, "The mesh is only %s large.", size);
        flr_checking_effect(f, "The unit is probably wrong: it is smaller than any voxel. Read "
                               "it in metres or inches.");
    }
}

/* 32-bit coordinates have 24 bits: far from the origin the steps between them grow */
static void check_distance(flr_checking *c)
{
    const flr_box3 box = c->mesh->bounds;
    const double far =
        fmax(fmax(fmax(fabs(box.low.x), fabs(box.high.x)), fmax(fabs(box.low.y), fabs(box.high.y))),
             fmax(fabs(box.low.z), fabs(box.high.z)));
    const double step = far * 0x1p-23;
    const bool coarse =
        c->options.voxel > 0 ? step > 0.1 * c->options.voxel : step > 1e-4 * c->size;
    if (!coarse || !(c->size > 0)) return;
    flr_check_finding *f = flr_checking_add(c, FLR_CHECK_FAR_AWAY, FLR_CHECK_WARNING, 1);
    flr_checking_place(f, FLR_NONE, flr_vec3_lerp(box.low, box.high, 0.5), far);
    flr_checking_say(f, "The mesh is %s large but lies up to %s from the origin.",
                     FLR_LENGTH_TEXT(c->size), FLR_LENGTH_TEXT(far));
    f->matters = true;
    flr_checking_effect(f,
                        "Matters if the file has 32-bit coordinates, as STL does: there they come "
                        "in steps of %s. Export the part in its own frame, near the origin.",
                        FLR_LENGTH_TEXT(step));
}

static void check_number(flr_checking *c)
{
    const uint32_t count = c->mesh->triangle_count;
    if (count < FEW_TRIANGLES) {
        flr_check_finding *f =
            flr_checking_add(c, FLR_CHECK_FEW_TRIANGLES, FLR_CHECK_WARNING, count);
        flr_checking_say(f, "The mesh has only %u triangle%s.", count, flr_noun(count, "", "s"));
        f->matters = true;
        flr_checking_effect(f, "Gives surface voxels but no inside: it takes four triangles to "
                               "enclose a volume.");
    }
    if (count > MANY_TRIANGLES) {
        flr_check_finding *f = flr_checking_add(c, FLR_CHECK_MANY_TRIANGLES, FLR_CHECK_NOTE, count);
        flr_checking_say(f, "The mesh has %u triangles.", count);
        flr_checking_effect(f, "Does not matter for the voxels, only for time and memory; a "
                               "coarser export gives the same voxels where its error stays under "
                               "half a voxel.");
    }
}

/* ---- all ---- */

static double largest_coordinate(flr_box3 box)
{
    const flr_vec3 far = flr_vec3_max(flr_vec3_neg(box.low), box.high);
    return fmax(fmax(far.x, far.y), fmax(far.z, 0));
}

static void sort_findings(flr_check_report *report)
{
    for (uint32_t i = 1; i < report->finding_count; i++) {
        const flr_check_finding f = report->findings[i];
        uint32_t k = i;
        for (; k > 0; k--) {
            const flr_check_finding *before = report->findings + k - 1;
            if (before->severity > f.severity ||
                (before->severity == f.severity && before->kind < f.kind))
                break;
            report->findings[k] = *before;
        }
        report->findings[k] = f;
    }
}

static flr_result run_search(flr_checking *c)
{
    flr_check_tree tree = {0};
    flr_result result = FLR_OK;
    if (!flr_check_tree_build(c, &tree)) result = flr_checking_no_memory(c);
    if (result == FLR_OK) result = flr_check_components(c, &tree);
    if (result == FLR_OK) result = flr_checking_progress(c, 0.3);
    if (result == FLR_OK && !c->options.skip_crossings) result = flr_check_crossings(c, &tree);
    flr_check_tree_free(&tree);
    return result;
}

static flr_result run(flr_checking *c)
{
    check_reading(c);
    check_size(c);
    check_distance(c);
    check_number(c);
    flr_result result = flr_checking_progress(c, 0.1);
    if (result == FLR_OK) result = flr_check_borders(c);
    if (result == FLR_OK) result = flr_check_edges(c);
    if (result == FLR_OK) result = flr_checking_progress(c, 0.2);
    if (result == FLR_OK) flr_check_faces(c);
    if (result == FLR_OK) result = run_search(c);
    if (result == FLR_OK) result = flr_checking_progress(c, 1);
    if (result == FLR_OK) sort_findings(c->report);
    return result;
}

flr_result flr_check_mesh(const flr_mesh *mesh, const flr_mesh_report *read,
                          const flr_check_options *options, flr_check_report *report,
                          flr_error *error)
{
    FLR_ASSERT(mesh && report);
    flr_check_report out;
    memset(&out, 0, sizeof out);
    flr_checking c = {.mesh = mesh,
                      .read = read,
                      .options = options ? *options : flr_default_check_options(),
                      .report = &out,
                      .error = error};
    if (!(c.options.voxel >= 0 && isfinite(c.options.voxel)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a voxel size of %g m: it must be positive",
                        c.options.voxel);
    if (!(c.options.tolerance >= 0 && isfinite(c.options.tolerance)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a tolerance of %g m: it must not be negative",
                        c.options.tolerance);
    const flr_vec3 sides = flr_vec3_sub(mesh->bounds.high, mesh->bounds.low);
    c.size = fmax(fmax(sides.x, sides.y), sides.z);
    c.far = largest_coordinate(mesh->bounds);

    flr_adjacency *adjacency = NULL;
    flr_result result = flr_adjacency_create(mesh, &adjacency, error);
    if (result != FLR_OK) return result;
    c.adjacency = adjacency;
    out.component_count = adjacency->component_count;
    result = run(&c);
    flr_adjacency_destroy(adjacency);
    if (result == FLR_OK) *report = out;
    return result;
}
