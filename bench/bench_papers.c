/* the papers' tables and figures, one after the other: what they printed, then ours */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

/* One experiment of a paper. Several that the same subject repeats stand together. */
static const struct experiment {
    const char *name, *paper;
    flr_bench_subject *run;
} experiments[] = {
    {"voxelize",
     "McNeely 2005, Table 1 (voxelizing the ball 5.8 and 21.5 s, the gear 1,353 and 5,861 s); "
     "McNeely 1999, section 6.3 (the aircraft 70 s, 21 MB)",
     flr_bench_voxelize},
    {"motion",
     "McNeely 1999, Table 2 (penetration ratio 1.0e-3 without braking, 6e-5 with it); McNeely "
     "2005, "
     "section 7 (a turn of the ball 1.28 s with about 250 contacts; the gear at 1000 Hz)",
     flr_bench_motions},
    {"contact",
     "McNeely 2005, sections 4 and 5 (2,000 point tests in a frame; awareness, temporal coherence)",
     flr_bench_contact},
    {"probes",
     "H-COLLIDE, Tables 1 to 5 (mean query of the hybrid method 14 to 25 us, worst 213 us)",
     flr_bench_probes},
    {"approach", "Implicit sphere trees, Figures 3 to 6 (1000 contacts within 1 ms)",
     flr_bench_approach},
    {"haptics",
     "Implicit sphere trees, section 3.3.1, and Kim 2004, section 3.6 (forces at haptic rates "
     "while "
     "the simulation is slower)",
     flr_bench_haptics},
    {"queries", "Kim 2004, Tables 3.1 and 3.2 (VPS 110 to 800 us, PQP 600 to 13,000 us)",
     flr_bench_queries},
    {"falling", "Kim 2004, Figure 3.10 (15 moving parts at 200 Hz)", flr_bench_falling},
    {"travel",
     "Kim 2004, Table 4.2, Figures 4.5 and 4.6 (travel limit and speed of two parts of the axle)",
     flr_bench_travel},
    {"structures",
     "Kim 2004, Figures 4.13 and 4.14 (one thread or two; a delay of 10 ms slows the loop of one "
     "thread only)",
     flr_bench_structures},
    {"collaboration",
     "Kim 2004, Tables 4.3 and 4.4 (loops of three users, with and without barrier); McNeely 2005, "
     "section 6.1 (100 updates a second, delay of a second)",
     flr_bench_collaboration},
};
enum { EXPERIMENTS = sizeof experiments / sizeof experiments[0] };

/* ---- a page of all of it ---- */

/* being written into the folder of the plots: papers.md */
typedef struct papers_page {
    flr_output *output;
    flr_error *error;
    const char *prefix; /* of the plots that belong to the experiment at hand */
    flr_result result;
} papers_page;

static bool add_plot(void *context, const char *name)
{
    papers_page *p = context;
    const size_t length = strlen(name), size = strlen(p->prefix);
    if (length < 5 || strcmp(name + length - 4, ".svg") != 0 ||
        strncmp(name, p->prefix, size) != 0 || name[size] != '-')
        return true;
    p->result = flr_output_print(p->output, p->error, "![%.*s](%s)\n", (int)length - 4, name, name);
    return p->result == FLR_OK;
}

/* The paper's words, our table as it was printed, and our plots. */
static flr_result add_to_page(flr_env *env, const flr_bench_options *options, papers_page *page,
                              const struct experiment *e, const char *text, size_t size)
{
    flr_error *error = page->error;
    page->prefix = e->name;
    page->result = flr_output_print(page->output, error, "\n## feeler bench %s\n\n%s.\n\n```\n",
                                    e->name, e->paper);
    if (page->result == FLR_OK) page->result = flr_output_write(page->output, text, size, error);
    if (page->result == FLR_OK) page->result = flr_output_print(page->output, error, "```\n\n");
    if (page->result != FLR_OK) return page->result;
    flr_result listed = flr_path_list(env, options->plots, add_plot, page, error);
    return listed != FLR_OK ? listed : page->result;
}

static flr_result begin_page(flr_env *env, const flr_bench_options *options, papers_page *page,
                             flr_error *error)
{
    char path[FLR_BENCH_PATH];
    *page = (papers_page){.error = error};
    if (snprintf(path, sizeof path, "%s/papers.md", options->plots) >= (int)sizeof path)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: the path is too long", options->plots);
    flr_result result = flr_output_begin(env, path, &page->output, error);
    if (result != FLR_OK) return result;
    return flr_output_print(page->output, error,
                            "# The papers' tables and figures, repeated\n\nWritten by `feeler "
                            "bench papers --plots`. Each section has the paper's numbers, then "
                            "ours.\n");
}

/* One experiment, with its text also on the page. */
static flr_result run_for_page(flr_env *env, const flr_bench_options *options, papers_page *page,
                               const struct experiment *e, FILE *out, flr_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    if (!copy) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = e->run(env, options, copy, error);
    if (fclose(copy) != 0 && result == FLR_OK)
        result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (text) fwrite(text, 1, size, out);
    if (result == FLR_OK) result = add_to_page(env, options, page, e, text, size);
    free(text);
    return result;
}

static flr_result run_all(flr_env *env, const flr_bench_options *options, papers_page *page,
                          FILE *out, flr_error *error)
{
    flr_result result = FLR_OK;
    for (size_t i = 0; i < EXPERIMENTS && result == FLR_OK; i++) {
        const struct experiment *e = &experiments[i];
        if (options->json)
            fprintf(out, "%s\n{\"paper\": \"%s\", \"subject\": \"%s\", \"ours\": ", i ? "," : "",
                    e->paper, e->name);
        else
            fprintf(out, "%s==== %s\n==== ours: feeler bench %s\n\n", i ? "\n" : "", e->paper,
                    e->name);
        fflush(out);
        result = page ? run_for_page(env, options, page, e, out, error)
                      : e->run(env, options, out, error);
        if (options->json) fputs("}", out);
    }
    return result;
}

flr_result flr_bench_papers(flr_env *env, const flr_bench_options *options, FILE *out,
                            flr_error *error)
{
    papers_page page = {0};
    const bool paged = options->plots && !options->json;
    flr_result result = paged ? begin_page(env, options, &page, error) : FLR_OK;
    if (result == FLR_OK) {
        if (options->json) fprintf(out, "{\"bench\": \"papers\", \"experiments\": [");
        result = run_all(env, options, paged ? &page : NULL, out, error);
        if (options->json) fputs("]}\n", out);
    }
    if (result == FLR_OK && paged) return flr_output_commit(page.output, error);
    if (page.output) flr_output_abandon(page.output);
    return result;
}
