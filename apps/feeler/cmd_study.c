/* feeler study: all combinations of a command's options, on several processes, resumed after a kill */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "output.h"
#include "study_claims.h"

enum {
    MAX_JOBS = 256,
    MAX_ARGUMENTS = 2 * FLR_STUDY_MAX_AXES + 8,
    WAIT_NS = 200000000,
    LOOK_NS = 50000000
};

typedef struct study_values {
    flr_common common;
    const char *out, *shard;
    int64_t jobs;
} study_values;

typedef struct study_job {
    pid_t process; /* 0: free */
    size_t task;
    int output; /* what it prints, in memory */
    int claim;  /* of a rank: locked */
} study_job;

typedef struct study_run {
    flr_cli *cli;
    const study_values *values;
    flr_study study;
    char program[4096];
    size_t shard, shards;
    char team[FLR_HASH_TEXT_SIZE]; /* of ranks; "": alone */
    size_t rank, ranks;
    study_job jobs[MAX_JOBS];
    size_t job_count, running, round;
    size_t done, failed; /* of this shard */
    bool *ended;     /* [tasks] done, or failed here or at another rank: nothing is left to do */
    flr_error first; /* of those that failed */
} study_run;

/* ---- which tasks ---- */

/* "2/8": the second of eight. */
static flr_result choose_shard(study_run *r, flr_error *error)
{
    unsigned long long i = 1, n = 1;
    char rest;
    if (r->values->shard &&
        (sscanf(r->values->shard, "%llu/%llu%c", &i, &n, &rest) != 2 || i < 1 || i > n))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--shard %s: write I/N with I from 1 to N, such as 2/8", r->values->shard);
    r->shard = (size_t)i - 1, r->shards = (size_t)n;
    return FLR_OK;
}

/* Ranks of one mpirun share the tasks: the name that they have in common, and where each begins. */
static void join_ranks(study_run *r)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *size = getenv("OMPI_COMM_WORLD_SIZE"),
               *name = getenv("PMIX_NAMESPACE");
    if (r->values->shard || !rank || !size || !name || strtoul(size, NULL, 10) < 2) return;
    const flr_hash hash = flr_hash_bytes(name, strlen(name));
    flr_hash_print(hash, r->team);
    r->rank = (size_t)strtoul(rank, NULL, 10), r->ranks = (size_t)strtoul(size, NULL, 10);
}

/* ---- processes ---- */

static bool start(study_run *r, study_job *job, size_t task, int claim, flr_error *error)
{
    const flr_study *s = &r->study;
    char *arguments[MAX_ARGUMENTS], options[FLR_STUDY_MAX_AXES][32],
        *values[FLR_STUDY_MAX_AXES] = {NULL};
    size_t count = 0;
    bool ready = true;
    for (size_t k = 0; k < s->axis_count; k++)
        ready &= (values[k] = flr_study_argument(s, task, k)) != NULL;
    arguments[count++] = r->program;
    arguments[count++] = (char *)(uintptr_t)s->command;
    arguments[count++] = values[0];
    arguments[count++] = "--json";
    // one thread each: the same path whatever the machine, and a processor for every process
    arguments[count++] = (char *)(uintptr_t) "--threads";
    arguments[count++] = (char *)(uintptr_t) "1";
    for (size_t k = 1; k < s->axis_count; k++) {
        snprintf(options[k], sizeof options[k], "--%s", s->axes[k].name);
        arguments[count++] = options[k];
        arguments[count++] = values[k];
    }
    arguments[count] = NULL;
    job->output = ready ? memfd_create("feeler study", MFD_CLOEXEC) : -1;
    job->process = job->output < 0 ? -1 : fork();
    if (job->process == 0) {
        // a task does not outlive its study
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (dup2(job->output, STDOUT_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0)
            execv(r->program, arguments);
        _exit(127);
    }
    const int why = errno;
    for (size_t k = 0; k < s->axis_count; k++) free(values[k]);
    if (job->process < 0) {
        flr_fail(error, FLR_DENIED, "no process could be started: %s", strerror(why));
        if (job->output >= 0) close(job->output);
        job->process = 0;
        return false;
    }
    job->task = task;
    job->claim = claim;
    r->running++;
    return true;
}

static bool read_output(int output, flr_blob *text)
{
    const off_t size = lseek(output, 0, SEEK_END);
    text->bytes = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (!text->bytes) return false;
    const ssize_t got = pread(output, text->bytes, (size_t)size, 0);
    text->size = got > 0 ? (size_t)got : 0;
    return got == size;
}

/* Keeps a result; what did not end in order is not one, and is run again next time. */
static flr_result collect(study_run *r, study_job *job, int status, flr_error *error)
{
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
    bool failed = false;
    flr_blob text = {0};
    job->process = 0;
    r->running--;
    flr_result result = FLR_OK;
    if (!read_output(job->output, &text)) result = flr_fail_memory(error);
    close(job->output);
    if (result != FLR_OK) {
        if (r->ranks) flr_study_release(&r->study, job->task, r->team, job->claim, false);
        flr_blob_free(&text);
        return result;
    }
    json_t *d = json_loadb((const char *)text.bytes, text.size, 0, NULL);
    char *line = d ? json_dumps(d, JSON_COMPACT) : NULL;
    const json_t *why = json_object_get(json_object_get(d, "error"), "message");
    if (ended && line && !why) {
        result = flr_study_store(&r->study, job->task, WEXITSTATUS(status), line, error);
        if (result == FLR_OK) result = flr_study_load(&r->study, job->task, error);
        r->done++;
    } else {
        failed = true;
        if (!r->failed++)
            flr_fail(&r->first, FLR_BAD_INPUT, "%s",
                     why ? json_string_value(why) : "a process ended before its time");
    }
    r->ended[job->task] = true;
    if (r->ranks) flr_study_release(&r->study, job->task, r->team, job->claim, failed);
    free(line);
    json_decref(d);
    flr_blob_free(&text);
    return result;
}

static flr_result wait_for_one(study_run *r, flr_error *error)
{
    int status;
    for (;;) {
        for (size_t i = 0; i < r->job_count; i++) {
            if (!r->jobs[i].process) continue;
            const pid_t ended = waitpid(r->jobs[i].process, &status, WNOHANG);
            if (ended == r->jobs[i].process) return collect(r, &r->jobs[i], status, error);
        }
        if (flr_stop_wanted()) return FLR_OK;
        usleep(2000);
    }
}

static void stop_all(study_run *r)
{
    for (size_t i = 0; i < r->job_count; i++) {
        if (!r->jobs[i].process) continue;
        kill(r->jobs[i].process, SIGKILL);
        waitpid(r->jobs[i].process, NULL, 0);
        close(r->jobs[i].output);
        if (r->ranks)
            flr_study_release(&r->study, r->jobs[i].task, r->team, r->jobs[i].claim, false);
        r->jobs[i].process = 0;
        r->running--;
    }
}

/* Starts a task that is not done, unless another rank is at it. */
static flr_result try_task(study_run *r, size_t task, bool *busy, flr_error *error)
{
    int claim = -1;
    *busy = false;
    flr_result result = flr_study_load(&r->study, task, error);
    if (result == FLR_OK && !r->study.tasks[task].done && r->ranks) {
        flr_study_claim state;
        result = flr_study_take(&r->study, task, r->team, &claim, &state, error);
        if (result != FLR_OK) return result;
        *busy = state == FLR_STUDY_BUSY;
        r->ended[task] = state == FLR_STUDY_FAILED;
        if (state != FLR_STUDY_CLAIMED) return FLR_OK;
        // another rank may have done it since
        result = flr_study_load(&r->study, task, error);
    }
    if (result == FLR_OK && r->study.tasks[task].done) {
        r->done++;
        r->ended[task] = true;
    }
    size_t k = 0;
    while (k + 1 < r->job_count && r->jobs[k].process) k++;
    if (result == FLR_OK && !r->ended[task]) {
        if (start(r, &r->jobs[k], task, claim, error)) return FLR_OK;
        result = FLR_DENIED;
    }
    if (claim >= 0) flr_study_release(&r->study, task, r->team, claim, false);
    return result;
}

/* Waits, but not for long once a signal asks for an end. */
static void pause_for(const study_run *r, int64_t ns)
{
    const int64_t end = flr_clock_ns(r->cli->env) + ns;
    for (int64_t now = end - ns; now < end && !flr_stop_wanted(); now = flr_clock_ns(r->cli->env))
        flr_sleep_until(r->cli->env, end - now < LOOK_NS ? end : now + LOOK_NS);
}

/* Once around all tasks of this shard. A rank that is lost has taken no task but the one that it is at. */
static flr_result go_round(study_run *r, size_t begin, size_t mine, bool *waits, flr_error *error)
{
    flr_result result = FLR_OK;
    *waits = false;
    for (size_t n = 0; n < mine && result == FLR_OK && !flr_stop_wanted(); n++) {
        // every rank begins elsewhere, and goes on with what others have not come to
        const size_t i = (begin + n) % mine * r->shards + r->shard;
        bool busy;
        if (r->ended[i]) continue;
        flr_progress(r->cli, r->done, mine, "%zu of %zu tasks", r->done, mine);
        result = flr_study_load(&r->study, i, error);
        if (result == FLR_OK && r->study.tasks[i].done) {
            r->ended[i] = true;
            r->done++;
            continue;
        }
        while (r->running == r->job_count && result == FLR_OK && !flr_stop_wanted())
            result = wait_for_one(r, error);
        if (result != FLR_OK || flr_stop_wanted()) break;
        result = try_task(r, i, &busy, error);
        *waits |= busy;
        // the others are at the rest: see now and then whether one of them is gone
        if (busy && r->round > 0) pause_for(r, WAIT_NS * (int64_t)(r->round < 25 ? r->round : 25));
    }
    while (r->running && result == FLR_OK && !flr_stop_wanted()) result = wait_for_one(r, error);
    r->round++;
    return result;
}

static flr_result run_tasks(study_run *r, flr_error *error)
{
    const size_t count = r->study.task_count, mine = (count + r->shards - 1 - r->shard) / r->shards,
                 begin = r->ranks ? mine * r->rank / r->ranks : 0;
    bool waits = true;
    r->ended = calloc(count + 1, sizeof *r->ended);
    if (!r->ended) return flr_fail_memory(error);
    flr_result result = flr_study_sweep(&r->study, r->team, error);
    while (result == FLR_OK && waits && !flr_stop_wanted())
        result = go_round(r, begin, mine, &waits, error);
    stop_all(r);
    free(r->ended);
    flr_progress_end(r->cli);
    return result;
}

/* ---- the command ---- */

static flr_result prepare(study_run *r, flr_error *error)
{
    const ssize_t length = readlink("/proc/self/exe", r->program, sizeof r->program - 1);
    if (length <= 0) return flr_fail(error, FLR_DENIED, "/proc/self/exe cannot be read");
    r->program[length] = 0;
    join_ranks(r);
    char claims[4300];
    snprintf(claims, sizeof claims, "%s/claims", r->study.results);
    flr_result result =
        flr_path_make_folder(r->cli->env, r->ranks ? claims : r->study.results, error);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    r->job_count = r->values->jobs             ? (size_t)r->values->jobs
                   : r->shards > 1 || r->ranks ? 1
                                               : (size_t)(processors > 0 ? processors : 1);
    if (r->job_count > MAX_JOBS) r->job_count = MAX_JOBS;
    return result;
}

static flr_result count_done(study_run *r, size_t *all, size_t *good, flr_error *error)
{
    flr_result result = FLR_OK;
    *all = *good = 0;
    for (size_t i = 0; i < r->study.task_count && result == FLR_OK; i++) {
        if (!r->study.tasks[i].done) result = flr_study_load(&r->study, i, error);
        *all += r->study.tasks[i].done;
        *good += r->study.tasks[i].done && r->study.tasks[i].code == 0;
    }
    return result;
}

static int tell(study_run *r)
{
    flr_error error;
    size_t all, good, before;
    flr_result result = count_done(r, &all, &good, &error);
    // whoever writes last has seen all that was there before
    do {
        before = all;
        if (result == FLR_OK) result = flr_study_tables(&r->study, &error);
        if (result == FLR_OK) result = count_done(r, &all, &good, &error);
    } while (result == FLR_OK && all > before);
    if (result != FLR_OK) return flr_fail_with(r->cli, FLR_EXIT_FAILED, &error);
    flr_print(r->cli, "%zu of %zu tasks done, %zu of them %s\n", all, r->study.task_count, good,
              strcmp(r->study.command, "plan") == 0 ? "found a path" : "free");
    flr_print(r->cli, "  %s/table.html, table.csv, table.json\n", r->study.results);
    if (r->failed)
        flr_print(r->cli, "  %s%zu %s failed%s: %s\n", flr_red(r->cli), r->failed,
                  flr_noun(r->failed, "task", "tasks"), flr_plain(r->cli), r->first.message);
    if (r->cli->json) {
        json_t *d = flr_json_object();
        flr_json_set(d, "tasks", flr_json_count(r->study.task_count));
        flr_json_set(d, "done", flr_json_count(all));
        flr_json_set(d, "good", flr_json_count(good));
        flr_json_set(d, "failed", flr_json_count(r->failed));
        flr_json_set(d, "results", flr_json_text(r->study.results));
        flr_json_print(r->cli, d);
    }
    if (flr_stop_wanted()) return FLR_EXIT_STOPPED;
    return r->failed ? FLR_EXIT_FAILED : FLR_EXIT_OK;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    (void)count;
    study_run *r = calloc(1, sizeof *r);
    flr_error error;
    if (!r) return FLR_EXIT_FAILED;
    r->cli = cli, r->values = given;
    char folder[4096];
    const size_t length = strlen(arguments[0]);
    const bool named = length > 5 && strcmp(arguments[0] + length - 5, ".json") == 0;
    snprintf(folder, sizeof folder, "%.*s-results", (int)(named ? length - 5 : length),
             arguments[0]);
    int code;
    flr_result result = choose_shard(r, &error);
    if (result != FLR_OK) {
        code = flr_fail_with(cli, FLR_EXIT_USAGE, &error);
    } else if ((result =
                    flr_study_read(cli->env, arguments[0], r->values->out ? r->values->out : folder,
                                   &r->study, &error)) != FLR_OK) {
        code = flr_fail_with(cli, flr_exit_of_input(result), &error);
    } else {
        flr_catch_stop();
        result = prepare(r, &error);
        if (result == FLR_OK) result = run_tasks(r, &error);
        code = result == FLR_OK ? tell(r) : flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    }
    flr_study_free(&r->study);
    free(r);
    return code;
}

static const study_values defaults = {0};
static const char *const usage[] = {"STUDY.json [options]", NULL};
#define STUDY_AT(field) offsetof(study_values, field)
static const flr_option options[] = {
    FLR_OPTION(PATH, STUDY_AT(out), "out", "FOLDER",
               "where results and tables are; default: STUDY-results beside the study",
               .letter = 'o'),
    FLR_OPTION(INTEGER, STUDY_AT(jobs), "jobs", "N",
               "processes at once; default: one per processor, and one in a shard", .letter = 'j',
               .min = 1, .max = MAX_JOBS),
    FLR_OPTION(TEXT, STUDY_AT(shard), "shard", "I/N",
               "only every Nth task, beginning with the Ith, for job arrays"),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler study study.json", "run it, or the rest of it"},
    {"feeler study study.json --shard 2/8", "the second of eight parts, on one of eight machines"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "all tasks of this shard are done, whatever they found"},
    {FLR_EXIT_FAILED, "a task failed, or a result could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "the study or a scene cannot be used"},
    {FLR_EXIT_STOPPED, "stopped by Ctrl-C; run it again to go on"},
    {0, NULL},
};

const flr_command flr_cmd_study = {
    .name = "study",
    .summary = "run a command with all combinations of its options",
    .usage = usage,
    .description =
        "Runs feeler plan, verify, clash or sweep for all combinations of scenes, parts, "
        "clearances, seeds and other options that a study file lists, on several processes, and "
        "writes CSV, JSON and a page with a heat map.\n\n"
        "A study can be stopped or killed at any time and started again: what was done is not done "
        "again. Several processes may work on one study in a shared folder, as shards or as ranks "
        "of mpirun.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 1,
    .argument_missing = "a study file",
    .values_size = sizeof(study_values),
    .defaults = &defaults,
    .run = run,
};
