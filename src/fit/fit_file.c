/* fits as files, and the cache of them
 *
 * A file is a header and the block of memory that a fit consists of, each with its hash. Whatever is read is checked to
 * the last index before anybody follows one: files may be damaged, or made to do damage. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit_file.h"

void flr_fit_fill_header(const flr_fit *fit, flr_fit_header *h)
{
    memset(h, 0, sizeof *h);
    memcpy(h->magic, FLR_FIT_MAGIC, sizeof h->magic);
    h->version = FLR_FIT_VERSION;
    h->solid = fit->info.solid;
    h->counts = fit->counts;
    h->mesh = fit->info.mesh;
    h->asked_spacing = fit->asked_spacing;
    h->spacing = fit->info.spacing;
    h->area = fit->info.area;
    h->bounds = fit->info.bounds;
    h->content = flr_hash_bytes(fit->memory, fit->size);
    h->self = flr_hash_bytes(h, offsetof(flr_fit_header, self));
}

flr_result flr_fit_write(flr_env *env, const char *path, const flr_fit *fit, flr_error *error)
{
    flr_fit_header h;
    flr_output *output;
    flr_fit_fill_header(fit, &h);
    flr_result result =
        flr_output_begin_with(env, path, FLR_OPEN_PRIVATE | FLR_OPEN_NO_LINK, &output, error);
    if (result != FLR_OK) return result;
    result = flr_output_write(output, &h, sizeof h, error);
    if (result == FLR_OK) result = flr_output_write(output, fit->memory, fit->size, error);
    if (result == FLR_OK) return flr_output_commit(output, error);
    flr_output_abandon(output);
    return result;
}

/* ---- reading ---- */

static bool finite_box(flr_box3 b)
{
    return flr_vec3_is_finite(b.low) && flr_vec3_is_finite(b.high) && b.low.x <= b.high.x &&
           b.low.y <= b.high.y && b.low.z <= b.high.z;
}

static bool sound_header(const flr_fit_header *h)
{
    const flr_fit_counts *c = &h->counts;
    return c->triangles && c->vertices && c->samples && c->patches && c->shells &&
           c->patches <= c->triangles && c->shells <= c->triangles && finite_box(h->bounds) &&
           isfinite(h->spacing) && isfinite(h->area) && h->solid <= 1;
}

static bool sound_mesh(const flr_fit *fit)
{
    const flr_fit_counts *c = &fit->counts;
    for (uint32_t i = 0; i < c->vertices; i++)
        if (!flr_vec3_is_finite(fit->vertices[i])) return false;
    for (uint32_t i = 0; i < c->triangles; i++) {
        for (int k = 0; k < 3; k++)
            if (fit->triangles[i].v[k] >= c->vertices) return false;
        if (fit->faces[i].triangle >= c->triangles) return false;
    }
    for (uint32_t i = 0; i < c->shells; i++)
        if (fit->shells[i] >= c->vertices) return false;
    for (uint32_t i = 0; i < c->borders; i++) {
        const flr_fit_border *b = &fit->borders[i];
        if (b->from >= c->vertices || b->to >= c->vertices || b->times == INT32_MIN) return false;
    }
    for (uint32_t i = 0; i < c->samples; i++) {
        const flr_fit_sample *s = &fit->samples[i];
        if (!flr_vec3_is_finite(s->point) || !isfinite(s->area) || !isfinite(s->radius) ||
            s->triangle >= c->triangles || (s->vertex >= c->vertices && s->vertex != FLR_NONE))
            return false;
    }
    return true;
}

/* Patches share out all faces and samples, in order. */
static bool sound_patches(const flr_fit *fit)
{
    uint64_t faces = 0, samples = 0;
    for (uint32_t i = 0; i < fit->counts.patches; i++) {
        const flr_fit_patch *p = &fit->patches[i];
        if (p->first_face != faces || p->first_sample != samples || !p->faces ||
            p->faces > FLR_FIT_LANES || !flr_vec3_is_finite(p->centre) || !(p->radius >= 0))
            return false;
        faces += p->faces;
        samples += p->samples;
        if (faces > fit->counts.triangles || samples > fit->counts.samples) return false;
        for (uint32_t k = 0; k < FLR_FIT_LANES; k++)
            if ((p->corners[k] != 0) != (k < p->faces)) return false;
    }
    return faces == fit->counts.triangles && samples == fit->counts.samples;
}

/* Boxes lead to what is there, and to all of it. */
static bool sound_levels(const flr_fit *fit)
{
    uint64_t below = fit->counts.patches;
    for (uint32_t level = 0; level < fit->levels; level++) {
        const uint64_t count = (below + FLR_FIT_WIDE - 1) / FLR_FIT_WIDE;
        for (uint64_t i = 0; i < count * FLR_FIT_WIDE; i++) {
            const flr_fit_boxes *b = &fit->level[level][i / FLR_FIT_WIDE];
            for (int k = 0; k < 3; k++) {
                const float low = b->low[k][i % FLR_FIT_WIDE], high = b->high[k][i % FLR_FIT_WIDE];
                /* no box is to meet one that is not used */
                if (i < below ? !(low <= high) : !(low == INFINITY && high == -INFINITY))
                    return false;
            }
        }
        below = count;
    }
    return true;
}

flr_result flr_fit_parse(const void *bytes, size_t size, flr_fit **fit, flr_error *error)
{
    flr_fit_header h;
    if (size < sizeof h) return flr_fail(error, FLR_BAD_INPUT, "not a fit: too short");
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, FLR_FIT_MAGIC, sizeof h.magic))
        return flr_fail(error, FLR_BAD_INPUT, "not a fit");
    if (h.version != FLR_FIT_VERSION)
        return flr_fail(error, FLR_BAD_INPUT, "a fit of version %u; this is version %d", h.version,
                        FLR_FIT_VERSION);
    if (!flr_hash_equal(h.self, flr_hash_bytes(&h, offsetof(flr_fit_header, self))) ||
        !sound_header(&h) || flr_fit_size(h.counts) != size - sizeof h)
        return flr_fail(error, FLR_BAD_INPUT, "a damaged fit: its header is wrong");
    flr_fit *made = calloc(1, sizeof *made);
    if (!made || !flr_fit_lay_out(made, h.counts)) {
        free(made);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory for a fit");
    }
    memcpy(made->memory, (const char *)bytes + sizeof h, made->size);
    if (!flr_hash_equal(h.content, flr_hash_bytes(made->memory, made->size)) || !sound_mesh(made) ||
        !sound_patches(made) || !sound_levels(made)) {
        flr_fit_destroy(made);
        return flr_fail(error, FLR_BAD_INPUT, "a damaged fit: its content is wrong");
    }
    made->asked_spacing = h.asked_spacing;
    made->info = (flr_fit_info){.triangles = h.counts.triangles,
                                .vertices = h.counts.vertices,
                                .samples = h.counts.samples,
                                .patches = h.counts.patches,
                                .spacing = h.spacing,
                                .area = h.area,
                                .size = flr_vec3_distance(h.bounds.low, h.bounds.high),
                                .bounds = h.bounds,
                                .solid = h.solid,
                                .bytes = sizeof *made + made->size,
                                .mesh = h.mesh};
    *fit = made;
    return FLR_OK;
}

flr_result flr_fit_read(flr_env *env, const char *path, flr_fit **fit, flr_error *error)
{
    flr_blob blob;
    flr_error why;
    flr_result result = flr_file_read_all(env, path, FLR_FIT_MAX_FILE, &blob, error);
    if (result != FLR_OK) return result;
    result = flr_fit_parse(blob.bytes, blob.size, fit, &why);
    flr_blob_free(&blob);
    return result == FLR_OK ? FLR_OK : flr_fail(error, result, "%s: %s", path, why.message);
}

/* ---- the cache ---- */

static flr_result path_of(const flr_cache *cache, const flr_mesh *mesh, const flr_fit_def *def,
                          char path[FLR_CACHE_PATH_SIZE], flr_error *error)
{
    struct {
        uint64_t version;
        flr_hash mesh;
        double spacing;
    } key = {FLR_FIT_VERSION, flr_mesh_hash(mesh), def->spacing};
    char text[FLR_HASH_TEXT_SIZE];
    const int length = snprintf(path, FLR_CACHE_PATH_SIZE, "%s/%s.flrfit", cache->folder,
                                flr_hash_print(flr_hash_bytes(&key, sizeof key), text));
    if (length > 0 && length < FLR_CACHE_PATH_SIZE) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT, "the name of the cache's folder is too long");
}

flr_result flr_fit_open(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                        const flr_fit_def *def, flr_fit **fit, flr_fit_report *report,
                        flr_error *error)
{
    const flr_fit_def asked = def ? *def : flr_default_fit_def();
    flr_fit_report told = {.found = false};
    char path[FLR_CACHE_PATH_SIZE];
    flr_error why;
    flr_result result = FLR_OK;
    if (!cache || !cache->folder) {
        result = flr_fit_build(mesh, &asked, fit, error);
        if (report) *report = told;
        return result;
    }
    result = path_of(cache, mesh, &asked, path, error);
    if (result != FLR_OK) return result;
    flr_fit *made = NULL;
    const flr_hash hash = flr_mesh_hash(mesh);
    result = flr_fit_read(env, path, &made, &why);
    if (result == FLR_OK &&
        (!flr_hash_equal(made->info.mesh, hash) || made->asked_spacing != asked.spacing)) {
        flr_fit_destroy(made);
        made = NULL;
        result = flr_fail(&why, FLR_BAD_INPUT, "%s: belongs to another mesh", path);
    }
    told.found = result == FLR_OK;
    if (!told.found) {
        if (result != FLR_NOT_FOUND)
            snprintf(told.broken, sizeof told.broken, "%.480s", why.message);
        result = flr_fit_build(mesh, &asked, &made, error);
        if (result != FLR_OK) return result;
        if (!cache->read_only && flr_cache_make_folder(env, cache->folder, &why) == FLR_OK) {
            told.stored = flr_fit_write(env, path, made, &why) == FLR_OK;
            uint64_t files, bytes;
            if (told.stored && cache->limit)
                flr_cache_prune(env, cache->folder, cache->limit, &files, &bytes, NULL);
        }
        if (!told.stored && !cache->read_only)
            snprintf(told.not_stored, sizeof told.not_stored, "%.480s", why.message);
    }
    *fit = made;
    if (report) *report = told;
    return FLR_OK;
}
