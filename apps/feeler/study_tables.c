/* the tables of a study: CSV, JSON, and a page with a heat map. They depend on the results alone, not on who ran what when. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "study.h"

static const char *state_of(const flr_study *s, const flr_study_task *t)
{
    const bool paths = strcmp(s->command, "plan") == 0;
    if (!t->done) return "missing";
    return t->code == 0 ? paths ? "found" : "free" : paths ? "not found" : "not free";
}

/* ---- CSV and JSON ---- */

static void put_field(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_csv(FILE *out, const flr_study *s)
{
    for (size_t k = 0; k < s->axis_count; k++) fprintf(out, "%s,", k ? s->axes[k].name : "scene");
    fputs("state,value\n", out);
    for (size_t i = 0; i < s->task_count; i++) {
        for (size_t k = 0; k < s->axis_count; k++) {
            put_field(out, flr_study_value(s, i, k));
            fputc(',', out);
        }
        fputs(state_of(s, &s->tasks[i]), out);
        if (isfinite(s->tasks[i].value))
            fprintf(out, ",%.9g\n", s->tasks[i].value);
        else
            fputs(",\n", out);
    }
}

static bool put_json(FILE *out, const flr_study *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->task_count; i++) {
        json_t *row = json_object();
        for (size_t k = 0; k < s->axis_count; k++)
            json_object_set_new(row, k ? s->axes[k].name : "scene",
                                json_string(flr_study_value(s, i, k)));
        json_object_set_new(row, "state", json_string(state_of(s, &s->tasks[i])));
        json_object_set_new(
            row, "value", isfinite(s->tasks[i].value) ? json_real(s->tasks[i].value) : json_null());
        json_object_set_new(row, "result", json_string(s->tasks[i].key));
        json_array_append_new(list, row);
    }
    const bool written = list && json_dumpf(list, out, JSON_INDENT(1)) == 0;
    fputc('\n', out);
    json_decref(list);
    return written;
}

/* ---- the heat map ---- */

/* Across: clearances, else the last axis with several values. */
static size_t axis_across(const flr_study *s)
{
    size_t across = 0;
    for (size_t k = 1; k < s->axis_count; k++) {
        if (strcmp(s->axes[k].name, "seed") == 0) continue;
        if (strcmp(s->axes[k].name, "clearance") == 0) return k;
        if (s->axes[k].count > 1) across = k;
    }
    return across;
}

/* Down: all others but seeds, of which the share counts. */
static bool is_down(const flr_study *s, size_t axis, size_t across)
{
    return axis != across && strcmp(s->axes[axis].name, "seed") != 0 &&
           (axis == 0 || s->axes[axis].count > 1);
}

static bool is_same_row(const flr_study *s, size_t a, size_t b, size_t across)
{
    for (size_t k = 0; k < s->axis_count; k++)
        if (is_down(s, k, across) && flr_study_value(s, a, k) != flr_study_value(s, b, k))
            return false;
    return true;
}

static void put_cell(FILE *out, size_t good, size_t done, size_t all)
{
    if (!done) {
        fputs("<td class=\"soft\">–</td>", out);
        return;
    }
    const double share = (double)good / (double)done;
    fprintf(out, "<td style=\"background:hsl(%.0f 60%% 45%% / .55)\">%zu of %zu%s</td>",
            120 * share, good, done, done < all ? " …" : "");
}

static bool put_map(FILE *out, const flr_study *s)
{
    const size_t across = axis_across(s), columns = across ? s->axes[across].count : 1;
    bool *listed = calloc(s->task_count + 1, sizeof *listed);
    size_t(*sums)[3] = calloc(columns, sizeof *sums);
    if (listed && sums) {
        fputs("<table><tr><th></th>", out);
        for (size_t c = 0; c < columns; c++) {
            fputs("<th>", out);
            if (across) flr_html_text(out, s->axes[across].name);
            fputc(' ', out);
            if (across) flr_html_text(out, s->axes[across].values[c]);
            fputs("</th>", out);
        }
        fputs("</tr>\n", out);
    }
    for (size_t i = 0; i < s->task_count && listed && sums; i++) {
        if (listed[i]) continue;
        memset(sums, 0, columns * sizeof *sums);
        for (size_t j = i; j < s->task_count; j++) {
            if (listed[j] || !is_same_row(s, i, j, across)) continue;
            listed[j] = true;
            size_t c = 0;
            while (across && flr_study_value(s, j, across) != s->axes[across].values[c]) c++;
            sums[c][0] += s->tasks[j].done && s->tasks[j].code == 0;
            sums[c][1] += s->tasks[j].done;
            sums[c][2]++;
        }
        fputs("<tr><th>", out);
        for (size_t k = 0; k < s->axis_count; k++) {
            if (!is_down(s, k, across)) continue;
            flr_html_text(out, flr_study_value(s, i, k));
            fputc(' ', out);
        }
        fputs("</th>", out);
        for (size_t c = 0; c < columns; c++) put_cell(out, sums[c][0], sums[c][1], sums[c][2]);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
    const bool drawn = listed && sums;
    free(listed);
    free(sums);
    return drawn;
}

static bool put_html(FILE *out, const flr_study *s)
{
    size_t done = 0;
    for (size_t i = 0; i < s->task_count; i++) done += s->tasks[i].done;
    flr_html_begin(out);
    fputs("feeler study</title>\n"
          "<style>body{font:16px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;"
          "padding:0 1em}table{border-collapse:collapse}td,th{padding:.3em .7em;border:1px solid "
          "#8884;text-align:left;font-weight:normal}.soft{opacity:.6}</style></head><body>\n",
          out);
    fprintf(out, "<h1>feeler %s: %zu tasks, %zu done</h1>\n", s->command, s->task_count, done);
    const bool drawn = put_map(out, s);
    fputs("<h2>All tasks</h2>\n<table><tr>", out);
    for (size_t k = 0; k < s->axis_count; k++)
        fprintf(out, "<th>%s</th>", k ? s->axes[k].name : "scene");
    fputs("<th>state</th><th>value</th></tr>\n", out);
    for (size_t i = 0; i < s->task_count; i++) {
        fputs("<tr>", out);
        for (size_t k = 0; k < s->axis_count; k++) {
            fputs("<td>", out);
            flr_html_text(out, flr_study_value(s, i, k));
            fputs("</td>", out);
        }
        fprintf(out, "<td>%s</td><td>", state_of(s, &s->tasks[i]));
        if (isfinite(s->tasks[i].value)) fprintf(out, "%.6g", s->tasks[i].value);
        fputs("</td></tr>\n", out);
    }
    fputs("</table>\n</body></html>\n", out);
    return drawn;
}

flr_result flr_study_tables(const flr_study *study, flr_error *error)
{
    static const char *const names[] = {"table.csv", "table.json", "table.html"};
    flr_result result = FLR_OK;
    for (int i = 0; i < 3 && result == FLR_OK; i++) {
        char path[4096], *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        if (!out) return flr_fail_memory(error);
        bool whole = true;
        if (i == 0)
            put_csv(out, study);
        else
            whole = i == 1 ? put_json(out, study) : put_html(out, study);
        whole &= fclose(out) == 0;
        snprintf(path, sizeof path, "%s/%s", study->results, names[i]);
        result = whole ? flr_file_write_all(study->env, path, text, size, error)
                       : flr_fail_memory(error);
        free(text);
    }
    return result;
}
