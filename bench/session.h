/* session.h: what users of a shared session cost one another, for `feeler bench collaboration` */
#ifndef FLR_BENCH_SESSION_H
#define FLR_BENCH_SESSION_H

#include "bench/bench.h"
#include "sim/engine.h"

/* A box of 1 mm voxels in an engine; its id in `*part`. */
flr_result flr_bench_add_box(flr_engine *engine, const char *name, flr_vec3 size, flr_vec3 at,
                             flr_part_kind kind, flr_part_id *part, flr_error *error);

/* Sessions of 1 to 15 users, all in this process on simulated machines: time per frame and user of loop and network, bytes. */
flr_result flr_bench_session(const flr_bench_options *options, FILE *out, flr_error *error);

/* Sessions of 2 to 4 users, each with a whole controller: threads, sockets and clocks of this machine. Rates that loop and network
 * hold, with and without the barrier between them; age of states; what it costs. About 50 s. */
flr_result flr_bench_threads(flr_env *env, const flr_bench_options *options, FILE *out,
                             flr_error *error);

#endif
