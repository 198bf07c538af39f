/* the papers' tables and figures, one after the other: what they printed, then ours */
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
    {"falling", "Kim 2004, Figure 3.10 (15 moving parts at 200 Hz)", flr_bench_falling},
    {"travel",
     "Kim 2004, Table 4.2, Figures 4.5 and 4.6 (travel limit and speed of two parts of the axle)",
     flr_bench_travel},
    {"collaboration",
     "Kim 2004, Tables 4.3 and 4.4 (loops of three users, with and without barrier); McNeely 2005, "
     "section 6.1 (100 updates a second, delay of a second)",
     flr_bench_collaboration},
};
enum { EXPERIMENTS = sizeof experiments / sizeof experiments[0] };

flr_result flr_bench_papers(flr_env *env, const flr_bench_options *options, FILE *out,
                            flr_error *error)
{
    flr_result result = FLR_OK;
    if (options->json) fprintf(out, "{\"bench\": \"papers\", \"experiments\": [");
    for (size_t i = 0; i < EXPERIMENTS && result == FLR_OK; i++) {
        const struct experiment *e = &experiments[i];
        if (options->json)
            fprintf(out, "%s\n{\"paper\": \"%s\", \"subject\": \"%s\", \"ours\": ", i ? "," : "",
                    e->paper, e->name);
        else
            fprintf(out, "%s==== %s\n==== ours: feeler bench %s\n\n", i ? "\n" : "", e->paper,
                    e->name);
        fflush(out);
        result = e->run(env, options, out, error);
        if (options->json) fputs("}", out);
    }
    if (options->json) fputs("]}\n", out);
    return result;
}
