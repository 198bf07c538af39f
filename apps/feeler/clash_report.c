/* what feeler clash found, as JSON, as a table, as a page with pictures */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clash.h"
#include "files.h"
#include "output.h"
#include "picture/picture.h"
#include "report.h"

enum { MAX_PICTURES = 200, PICTURE_WIDTH = 480, PICTURE_HEIGHT = 320 };

json_t *flr_clash_json(const flr_clash_report *r)
{
    json_t *facts = flr_json_object(), *pairs = flr_json_array(), *states = flr_json_object();
    flr_json_set(facts, "source", flr_json_text(r->source));
    flr_json_set(facts, "parts", flr_json_count(r->count));
    flr_json_set(facts, "clearance", flr_json_number(r->clearance));
    flr_json_set(facts, "least_touch", flr_json_number(r->list.least_touch));
    flr_json_set(facts, "most_touch", flr_json_number(r->list.most_touch));
    flr_json_set(facts, "checked", flr_json_count(r->list.checked));
    flr_json_set(facts, "measured", flr_json_count(r->list.measured));
    flr_json_set(facts, "allowed", flr_json_count(r->list.skipped));
    flr_json_set(facts, "findings", flr_json_count(r->findings));
    flr_json_set(facts, "seconds", flr_json_number(r->seconds));
    for (int i = FLR_CLASH_OVERLAP; i >= FLR_CLASH_NEAR; i--)
        flr_json_set(states, flr_clash_state_name((flr_clash_state)i),
                     flr_json_count(r->by_state[i]));
    flr_json_set(facts, "states", states);
    flr_json_set(facts, "nominal_fits", flr_json_count(r->fits));
    for (size_t i = 0; i < r->list.pair_count; i++) {
        const flr_clash_pair *pair = &r->list.pairs[i];
        json_t *entry = flr_json_object(), *points = flr_json_array();
        flr_json_set(entry, "a", flr_json_text(r->items[pair->a].name));
        flr_json_set(entry, "b", flr_json_text(r->items[pair->b].name));
        flr_json_set(entry, "state", flr_json_text(flr_clash_state_name(pair->state)));
        flr_json_set(entry, "distance", flr_json_number(pair->distance));
        flr_json_set(entry, "depth", flr_json_number(pair->depth));
        flr_json_set(entry, "volume", flr_json_number(pair->volume));
        flr_json_set(entry, "touch", flr_json_number(pair->touch));
        flr_json_set(entry, "facets", flr_json_number(pair->facets));
        flr_json_set(entry, "at", flr_json_vec3(pair->at));
        for (int k = 0; k < 2; k++) flr_json_push(points, flr_json_vec3(pair->point[k]));
        flr_json_set(entry, "points", points);
        flr_json_set(entry, "keep_out", json_boolean(flr_clash_is_zone(r, pair)));
        flr_json_set(entry, "known", json_boolean(r->known[i]));
        flr_json_push(pairs, entry);
    }
    flr_json_set(facts, "pairs", pairs);
    return facts;
}

static flr_result write_text(flr_cli *cli, const char *path, const char *text, size_t size,
                             flr_error *error)
{
    flr_hold_signals();
    flr_result result = flr_file_write_all(cli->env, path, text, size, error);
    flr_release_signals();
    return result;
}

/* ---- findings ---- */

bool flr_clash_is_finding(const flr_clash_report *r, const flr_clash_pair *pair)
{
    if (pair->state == FLR_CLASH_OVERLAP) return true;
    return r->clearance > 0 && pair->state != FLR_CLASH_OK;
}

bool flr_clash_is_zone(const flr_clash_report *r, const flr_clash_pair *pair)
{
    return r->items[pair->a].keep_out || r->items[pair->b].keep_out;
}

void flr_clash_count(flr_clash_report *r)
{
    for (size_t i = 0; i < r->list.pair_count; i++) {
        const flr_clash_pair *p = &r->list.pairs[i];
        r->by_state[p->state]++;
        if (p->facets > 0) r->fits++, r->deepest_fit = fmax(r->deepest_fit, p->depth);
        r->findings += flr_clash_is_finding(r, p) && !r->known[i];
    }
}

/* ---- a table ---- */

/* quoted, and no formula for a spreadsheet */
static void put_cell(FILE *out, const char *text)
{
    fputc('"', out);
    if (text[0] && strchr("=+-@", text[0])) fputc('\'', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"') fputc('"', out);
        fputc(*c, out);
    }
    fputc('"', out);
}

static void put_table(FILE *out, const flr_clash_report *r)
{
    fputs("a,b,state,distance_mm,depth_mm,volume_mm3,x_mm,y_mm,z_mm,known,facets_mm,touch_mm\n",
          out);
    for (size_t i = 0; i < r->list.pair_count; i++) {
        const flr_clash_pair *p = &r->list.pairs[i];
        put_cell(out, r->items[p->a].name);
        fputc(',', out);
        put_cell(out, r->items[p->b].name);
        fprintf(out, ",%s,", flr_clash_state_name(p->state));
        if (isfinite(p->distance)) fprintf(out, "%.9g", 1e3 * p->distance);
        fprintf(out, ",%.9g,%.6g,%.9g,%.9g,%.9g,%s,%.9g,%.9g\n", 1e3 * p->depth, 1e9 * p->volume,
                1e3 * p->at.x, 1e3 * p->at.y, 1e3 * p->at.z, r->known[i] ? "yes" : "no",
                1e3 * p->facets, 1e3 * p->touch);
    }
}

/* what counts as contact: one length, or from the smallest parts to the largest */
static void put_touch(FILE *out, const flr_clash_report *r)
{
    const double least = 1e3 * r->list.least_touch, most = 1e3 * r->list.most_touch;
    if (least < most)
        fprintf(out, "%.3g to %.3g mm, by the size of the parts", least, most);
    else
        fprintf(out, "%.3g mm", most);
}

/* ---- a page ---- */

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;text-align:left;"
    "border-bottom:1px solid #8884}figure{display:inline-block;margin:.5rem;vertical-align:top;"
    "width:30rem;max-width:100%}img{max-width:100%;border-radius:6px}.overlap{color:#c33}"
    ".near,.contact{color:#b70}.soft{opacity:.7}\n";

static flr_colour rgb(uint32_t colour)
{
    return (flr_colour){(float)(colour >> 16 & 255) / 255, (float)(colour >> 8 & 255) / 255,
                        (float)(colour & 255) / 255};
}

/* both parts, cut open where they meet */
static flr_result draw(const flr_clash_report *r, const flr_clash_pair *p, flr_blob *png,
                       flr_error *error)
{
    const flr_clash_item *items[2] = {&r->items[p->a], &r->items[p->b]};
    flr_picture_part parts[2];
    flr_picture_def def = flr_default_picture_def();
    flr_picture picture = {0};
    flr_vec3 away = flr_vec3_scale(def.direction, -1);
    double least = INFINITY;
    for (int i = 0; i < 2; i++) {
        parts[i] = (flr_picture_part){items[i]->mesh, items[i]->T_world_part,
                                      i ? rgb(0xd9a05b) : rgb(0x6fa8dc), false};
        least = fmin(least, flr_vec3_length(flr_box3_size(items[i]->mesh->bounds)));
    }
    flr_box3 focus = flr_box3_grow(flr_box3_make(p->at, p->at), 0.6 * least);
    def.parts = parts;
    def.part_count = 2;
    def.width = PICTURE_WIDTH, def.height = PICTURE_HEIGHT, def.samples = 2;
    def.ground = def.occlusion = false;
    def.focus = &focus;
    def.cut = p->state == FLR_CLASH_OVERLAP;
    def.cut_point = p->at;
    def.cut_normal = flr_vec3_make(away.x, away.y, 0);
    flr_result result = flr_picture_render(&def, &picture, error);
    if (result == FLR_OK) result = flr_picture_png(&picture, png, error);
    flr_picture_free(&picture);
    return result;
}

static void put_name(FILE *out, const flr_clash_item *item)
{
    if (item->group[0]) {
        fputs("<span class=\"soft\">", out);
        flr_html_text(out, item->group);
        fputs(" / </span>", out);
    }
    flr_html_text(out, item->name);
}

static void put_row(FILE *out, const flr_clash_report *r, size_t index)
{
    const flr_clash_pair *p = &r->list.pairs[index];
    const char *state = flr_clash_state_name(p->state);
    fputs("<tr><td>", out);
    put_name(out, &r->items[p->a]);
    fputs("</td><td>", out);
    put_name(out, &r->items[p->b]);
    fprintf(out, "</td><td class=\"%s\">%s%s</td><td>", state, state,
            r->known[index] ? " (known)" : "");
    if (p->state == FLR_CLASH_OVERLAP)
        fprintf(out, "%.4g mm deep, about %.3g mm³", 1e3 * p->depth, 1e9 * p->volume);
    else if (p->facets > 0)
        fprintf(out, "%.4g mm deep, of which facets explain %.4g mm", 1e3 * p->depth,
                1e3 * p->facets);
    else
        fprintf(out, "%.4g mm apart", 1e3 * p->distance);
    fprintf(out, "</td><td>%.4g, %.4g, %.4g mm</td></tr>\n", 1e3 * p->at.x, 1e3 * p->at.y,
            1e3 * p->at.z);
}

static flr_result put_pictures(FILE *out, const flr_clash_report *r, flr_error *error)
{
    flr_result result = FLR_OK;
    size_t drawn = 0;
    fputs("<h2>Pictures</h2>\n", out);
    for (size_t i = 0; i < r->list.pair_count && result == FLR_OK; i++) {
        const flr_clash_pair *p = &r->list.pairs[i];
        flr_blob png = {0};
        if (!flr_clash_is_finding(r, p) || r->known[i] || drawn == MAX_PICTURES) continue;
        if (r->drawn && !r->drawn(r->context, drawn, r->findings))
            return flr_fail(error, FLR_CANCELLED, "cancelled");
        drawn++;
        result = draw(r, p, &png, error);
        if (result != FLR_OK) break;
        fputs("<figure><img alt=\"\" src=\"data:image/png;base64,", out);
        flr_html_base64(out, &png);
        fputs("\"><figcaption>", out);
        put_name(out, &r->items[p->a]);
        fputs(" and ", out);
        put_name(out, &r->items[p->b]);
        fprintf(out, ": %s%s</figcaption></figure>\n", flr_clash_state_name(p->state),
                flr_clash_is_zone(r, p) ? " (keep-out zone)" : "");
        flr_blob_free(&png);
    }
    if (r->findings > MAX_PICTURES)
        fprintf(out, "<p class=\"soft\">The first %d findings have a picture.</p>\n", MAX_PICTURES);
    return result;
}

static flr_result put_page(FILE *out, const flr_clash_report *r, flr_error *error)
{
    flr_html_begin(out);
    flr_html_text(out, r->source);
    fprintf(out, " · feeler clash</title>\n<style>%s</style></head><body>\n<h1>", style);
    flr_html_text(out, r->source);
    fprintf(
        out,
        "</h1>\n<p>%u parts, %llu pairs checked, clearance %.4g mm: <b>%zu findings</b>. %zu "
        "overlaps, %zu contacts, %zu below the clearance; %llu pairs allowed. In contact: within ",
        r->count, (unsigned long long)r->list.checked, 1e3 * r->clearance, r->findings,
        r->by_state[FLR_CLASH_OVERLAP], r->by_state[FLR_CLASH_CONTACT], r->by_state[FLR_CLASH_NEAR],
        (unsigned long long)r->list.skipped);
    put_touch(out, r);
    fputs(
        ".</p>\n"
        "<table><tr><th>part</th><th>part</th><th>state</th><th>how much</th><th>where</th></tr>\n",
        out);
    for (size_t i = 0; i < r->list.pair_count; i++)
        if (r->list.pairs[i].state != FLR_CLASH_OK) put_row(out, r, i);
    fputs("</table>\n", out);
    flr_result result = r->findings ? put_pictures(out, r, error) : FLR_OK;
    fputs("</body></html>\n", out);
    return result;
}

/* ---- files ---- */

flr_result flr_clash_print(const flr_clash_report *r, bool table, flr_blob *file, flr_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return flr_fail_memory(error);
    flr_result result = FLR_OK;
    if (table)
        put_table(out, r);
    else
        result = put_page(out, r, error);
    bool whole = fclose(out) == 0;
    if (result == FLR_OK && !whole) result = flr_fail_memory(error);
    if (result == FLR_OK)
        *file = (flr_blob){(uint8_t *)text, size};
    else
        free(text);
    return result;
}

flr_result flr_clash_write(flr_cli *cli, const flr_clash_report *r, bool table, const char *path,
                           flr_error *error)
{
    flr_blob file = {0};
    flr_result result = flr_clash_print(r, table, &file, error);
    flr_progress_end(cli);
    if (result == FLR_OK)
        result = write_text(cli, path, (const char *)file.bytes, file.size, error);
    flr_blob_free(&file);
    return result;
}

/* ---- for a controller ---- */

static bool tell_drawn(void *context, size_t drawn, size_t all)
{
    const flr_engine_report *given = context;
    size_t most = all < MAX_PICTURES ? all : MAX_PICTURES;
    return given->go_on(given->context, most ? (double)drawn / (double)most : 1);
}

flr_result flr_clash_serve_report(const flr_engine_report *given, flr_blob *file, flr_error *error)
{
    flr_clash_report r = {.source = given->source,
                          .count = given->part_count,
                          .list = *given->list,
                          .clearance = given->clearance,
                          .seconds = given->seconds,
                          .drawn = tell_drawn,
                          .context = (void *)(uintptr_t)given};
    r.items = calloc(given->part_count + 1u, sizeof *r.items);
    r.known = calloc(given->list->pair_count + 1, 1);
    flr_result result = FLR_OK;
    if (!r.items || !r.known) result = flr_fail_memory(error);
    for (uint32_t i = 0; result == FLR_OK && i < given->part_count; i++) {
        const flr_engine_report_part *part = &given->parts[i];
        r.items[i] = (flr_clash_item){.name = part->name,
                                      .raw = part->name,
                                      .group = part->group,
                                      .in = FLR_NONE,
                                      .colour = part->colour,
                                      .keep_out = part->keep_out,
                                      .mesh = part->mesh,
                                      .T_world_part = part->T_world_part};
    }
    if (result == FLR_OK) {
        flr_clash_count(&r);
        result = flr_clash_print(&r, given->format == FLR_WIRE_REPORT_CSV, file, error);
    }
    free(r.items);
    free(r.known);
    return result;
}
