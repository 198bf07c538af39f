/* log lines */
#include "feeler/env.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "feeler/base.h"

enum { RECENT = 16 }; /* messages that are compared with new ones */

/* a message that was written not long ago */
typedef struct recent {
    bool used;
    flr_log_level level;
    int64_t until_ns;  /* until then it is not written again */
    uint64_t repeated; /* times that it came since */
    char message[FLR_LOG_MESSAGE_SIZE];
} recent;

struct flr_log {
    flr_log_def def;
    pthread_mutex_t lock; /* guards what follows, and the sink */
    double allowance;     /* lines that may be written now */
    int64_t refilled_ns;  /* when the allowance was last brought up to date */
    uint64_t held_back;   /* lines not written since the last one that was */
    char message[FLR_LOG_MESSAGE_SIZE];
    recent recent[RECENT];
};

flr_log_def flr_default_log_def(void)
{
    flr_log_def def = {
        .env = flr_env_real(),
        .level = FLR_LOG_WARNING,
        .sink = flr_log_stderr,
        .context = NULL,
        .burst = 200,
        .per_second = 10,
        .repeat_ns = INT64_C(10000000000),
    };
    return def;
}

flr_log *flr_log_create(const flr_log_def *def)
{
    FLR_ASSERT(def && def->env && def->sink && (unsigned)def->level < FLR_LOG_LEVEL_COUNT);
    flr_log *log = calloc(1, sizeof *log);
    if (!log) return NULL;
    if (pthread_mutex_init(&log->lock, NULL) != 0) {
        free(log);
        return NULL;
    }
    log->def = *def;
    log->allowance = def->burst;
    log->refilled_ns = flr_clock_ns(def->env);
    return log;
}

/* with the lock held: says how many lines were held back, if any */
static void report_held_back(flr_log *log)
{
    if (log->held_back == 0) return;
    char text[80];
    snprintf(text, sizeof text, "%" PRIu64 " lines held back, they came too fast", log->held_back);
    log->held_back = 0;
    flr_log_line line = {FLR_LOG_WARNING, flr_clock_wall_ns(log->def.env), text};
    log->def.sink(log->def.context, &line);
}

/* ---- repetitions, with the lock held ---- */

static void forget(flr_log *log, recent *r)
{
    if (r->used && r->repeated > 0) {
        char text[FLR_LOG_MESSAGE_SIZE + 40];
        snprintf(text, sizeof text, "%s (repeated %" PRIu64 " time%s)", r->message, r->repeated,
                 r->repeated == 1 ? "" : "s");
        flr_log_line line = {r->level, flr_clock_wall_ns(log->def.env), text};
        log->def.sink(log->def.context, &line);
    }
    r->used = false;
}

/* True: log->message was written not long ago. Says of others how often they came meanwhile. */
static bool is_repeated(flr_log *log, flr_log_level level, int64_t now)
{
    bool found = false;
    for (int i = 0; i < RECENT; i++) {
        recent *r = &log->recent[i];
        if (r->used && now >= r->until_ns) forget(log, r);
        if (found || !r->used || r->level != level || strcmp(r->message, log->message) != 0)
            continue;
        r->repeated++;
        found = true;
    }
    return found;
}

/* It takes the place of the one that is forgotten first. */
static void remember(flr_log *log, flr_log_level level, int64_t now)
{
    recent *to = &log->recent[0];
    for (int i = 0; i < RECENT && to->used; i++) {
        recent *r = &log->recent[i];
        if (!r->used || r->until_ns < to->until_ns) to = r;
    }
    forget(log, to);
    to->used = true;
    to->level = level;
    to->until_ns = now + log->def.repeat_ns;
    to->repeated = 0;
    memcpy(to->message, log->message, sizeof to->message);
}

void flr_log_destroy(flr_log *log)
{
    if (!log) return;
    for (int i = 0; i < RECENT; i++) forget(log, &log->recent[i]);
    report_held_back(log);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

bool flr_log_enabled(const flr_log *log, flr_log_level level)
{
    return log && level <= log->def.level;
}

/* with the lock held: a bucket that fills at per_second and holds burst lines */
static bool may_write(flr_log *log, flr_log_level level)
{
    if (log->def.per_second == 0) return true;
    int64_t now = flr_clock_ns(log->def.env);
    log->allowance += (double)(now - log->refilled_ns) * 1e-9 * log->def.per_second;
    log->refilled_ns = now;
    if (log->allowance > log->def.burst) log->allowance = log->def.burst;
    if (log->allowance < 1 && level != FLR_LOG_ERROR) {
        log->held_back++;
        return false;
    }
    if (log->allowance >= 1) log->allowance -= 1;
    return true;
}

void flr_log_write(flr_log *log, flr_log_level level, const char *format, ...)
{
    FLR_ASSERT((unsigned)level < FLR_LOG_LEVEL_COUNT && format);
    if (!flr_log_enabled(log, level)) return;
    pthread_mutex_lock(&log->lock);
    int64_t now = flr_clock_ns(log->def.env);
    va_list arguments;
    va_start(arguments, format);
    flr_text_print(log->message, sizeof log->message, format, arguments);
    va_end(arguments);
    bool once = log->def.repeat_ns > 0 && level != FLR_LOG_ERROR;
    if (!(once && is_repeated(log, level, now)) && may_write(log, level)) {
        report_held_back(log);
        flr_log_line line = {level, flr_clock_wall_ns(log->def.env), log->message};
        log->def.sink(log->def.context, &line);
        if (once) remember(log, level, now);
    }
    pthread_mutex_unlock(&log->lock);
}

const char *flr_log_level_name(flr_log_level level)
{
    static const char *const names[FLR_LOG_LEVEL_COUNT] = {"error", "warning", "info", "debug"};
    return (unsigned)level < FLR_LOG_LEVEL_COUNT ? names[level] : "unknown";
}

/* the date of a day counted from 1970-01-01, in the calendar of today extended both ways: years
 * are taken to begin in March, so that the leap day comes last, in eras of 400 years */
static void date_of_day(int64_t day, int *year, int *month, int *day_of_month)
{
    day += 719468; // from 0000-03-01
    int64_t era = (day >= 0 ? day : day - 146096) / 146097;
    int64_t d = day - era * 146097;                            // 0 to 146096
    int64_t y = (d - d / 1460 + d / 36524 - d / 146096) / 365; // 0 to 399
    int64_t day_of_year = d - (365 * y + y / 4 - y / 100);     // 0 to 365, from 1 March
    int64_t m = (5 * day_of_year + 2) / 153;                   // 0 to 11
    *day_of_month = (int)(day_of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int)(y + era * 400 + (*month <= 2));
}

const char *flr_log_format(const flr_log_line *line, char text[FLR_LOG_TEXT_SIZE])
{
    FLR_ASSERT(line && text);
    const int64_t ms_per_day = 86400000;
    int64_t ms = line->wall_ns / 1000000 - (line->wall_ns % 1000000 < 0);
    int64_t day = ms / ms_per_day - (ms % ms_per_day < 0);
    int64_t rest = ms - day * ms_per_day;
    int year, month, day_of_month;
    date_of_day(day, &year, &month, &day_of_month);
    snprintf(text, FLR_LOG_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ %s: %s", year, month,
             day_of_month, (int)(rest / 3600000), (int)(rest / 60000 % 60), (int)(rest / 1000 % 60),
             (int)(rest % 1000), flr_log_level_name(line->level), line->message);
    return text;
}

/* ---- standard error ---- */

/* of this process, as standard error is */
static _Atomic uint64_t left_out; /* lines that it did not take */
static atomic_bool torn;          /* it took only the begin of the last one */

/* Writes what can be written now. A terminal that was stopped or a pipe that nobody empties would hold up the thread
 * that logs, and in a controller the watchdog would then end the process. */
static size_t write_now(const char *text, size_t size)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT)) return 0;
    // a socket may have less room than the line needs; a pipe has room for it, since it is shorter than PIPE_BUF
    ssize_t done = send(STDERR_FILENO, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (done < 0 && errno == ENOTSOCK) done = write(STDERR_FILENO, text, size);
    return done > 0 ? (size_t)done : 0;
}

/* One call for each line, so that lines of several processes do not mix. */
static bool write_line(const flr_log_line *line)
{
    char text[FLR_LOG_TEXT_SIZE + 2] = "\n";
    size_t begin = atomic_load(&torn) ? 1 : 0;
    flr_log_format(line, text + begin);
    size_t size = begin + strlen(text + begin);
    text[size++] = '\n';
    size_t done = write_now(text, size);
    if (done > 0) atomic_store(&torn, done < size);
    return done == size;
}

void flr_log_stderr(void *context, const flr_log_line *line)
{
    (void)context;
    const int code = errno;
    uint64_t before = atomic_exchange(&left_out, 0);
    if (before > 0) {
        char message[80];
        snprintf(message, sizeof message,
                 "%" PRIu64 " line%s left out: standard error took nothing more", before,
                 before == 1 ? "" : "s");
        const flr_log_line report = {FLR_LOG_WARNING, line->wall_ns, message};
        if (write_line(&report)) before = 0;
    }
    if (before > 0 || !write_line(line)) before++;
    atomic_fetch_add(&left_out, before);
    errno = code;
}
