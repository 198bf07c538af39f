/* what the import helper gives up before it looks at a file */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(char text[FLR_SANDBOX_TEXT_SIZE], const char *word)
{
    size_t length = strlen(text);
    snprintf(text + length, FLR_SANDBOX_TEXT_SIZE - length, "%s%s", length ? ", " : "", word);
}

static bool limit(int resource, uint64_t value)
{
    struct rlimit limits;
    if (getrlimit((__rlimit_resource_t)resource, &limits) != 0) return false;
    if (limits.rlim_max != RLIM_INFINITY && value > limits.rlim_max) value = limits.rlim_max;
    limits.rlim_cur = limits.rlim_max = value;
    return setrlimit((__rlimit_resource_t)resource, &limits) == 0;
}

static bool set_limits(const flr_sandbox_def *def)
{
    bool ok = limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_NOFILE, 32) &&
              limit(RLIMIT_NPROC, 0) && limit(RLIMIT_CPU, (uint64_t)def->seconds + 1);
    // address sanitizer maps terabytes of shadow
#ifndef FLR_SANITIZED
    ok = ok && limit(RLIMIT_AS, def->memory);
#endif
    return ok;
}

/* a network without interfaces; users other than root need a namespace of users for it */
static bool leave_network(void)
{
    return unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

/* ---- files: a root of its own, and landlock ---- */

/* What can be opened at all is what lies in and below the input's folder, whatever path is given and wherever links in it
 * lead. */
static bool change_root(const flr_sandbox_def *def)
{
    return fchdir(def->folder) == 0 && chroot(".") == 0;
}

static bool allow_reading(int ruleset, int descriptor, uint64_t rights)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = descriptor};
    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

/* no file but the input and what lies beside it */
static bool lock_files(const flr_sandbox_def *def)
{
    // all rights of the first version, which every kernel with landlock knows
    struct landlock_ruleset_attr rules = {.handled_access_fs =
                                              (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (ruleset < 0) return false;
    bool ok = def->input < 0 || allow_reading(ruleset, def->input, LANDLOCK_ACCESS_FS_READ_FILE);
    if (ok && def->folder >= 0 && def->open_beneath)
        ok = allow_reading(ruleset, def->folder, LANDLOCK_ACCESS_FS_READ_FILE);
    ok = ok && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return ok;
}

/* ---- system calls: seccomp ---- */

/* what readers, the allocator and the C and C++ libraries need once everything is loaded */
static const int allowed[] = {SCMP_SYS(read),
                              SCMP_SYS(readv),
                              SCMP_SYS(pread64),
                              SCMP_SYS(write),
                              SCMP_SYS(writev),
                              SCMP_SYS(lseek),
                              SCMP_SYS(close),
                              SCMP_SYS(fstat),
                              SCMP_SYS(newfstatat),
                              SCMP_SYS(dup),
                              SCMP_SYS(munmap),
                              SCMP_SYS(mremap),
                              SCMP_SYS(madvise),
                              SCMP_SYS(brk),
                              SCMP_SYS(futex),
                              SCMP_SYS(set_robust_list),
                              SCMP_SYS(rseq),
                              SCMP_SYS(sched_yield),
                              SCMP_SYS(rt_sigaction),
                              SCMP_SYS(rt_sigprocmask),
                              SCMP_SYS(rt_sigreturn),
                              SCMP_SYS(sigaltstack),
                              SCMP_SYS(restart_syscall),
                              SCMP_SYS(clock_gettime),
                              SCMP_SYS(clock_getres),
                              SCMP_SYS(gettimeofday),
                              SCMP_SYS(time),
                              SCMP_SYS(nanosleep),
                              SCMP_SYS(clock_nanosleep),
                              SCMP_SYS(times),
                              SCMP_SYS(getpid),
                              SCMP_SYS(gettid),
                              SCMP_SYS(getuid),
                              SCMP_SYS(geteuid),
                              SCMP_SYS(getrandom),
                              SCMP_SYS(getrusage),
                              SCMP_SYS(getrlimit),
                              SCMP_SYS(sysinfo),
                              SCMP_SYS(uname),
                              SCMP_SYS(sched_getaffinity),
                              SCMP_SYS(getcpu),
                              SCMP_SYS(exit),
                              SCMP_SYS(exit_group)};

/* memory that is not executable, unless a sanitizer's run-time needs it otherwise */
static int allow_memory(scmp_filter_ctx filter)
{
    int failed = 0;
    static const int calls[] = {SCMP_SYS(mmap), SCMP_SYS(mprotect)};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 1,
                                   SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    return failed;
}

/* abort() sends itself a signal; nobody else may be sent one */
static int allow_abort(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                            SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
}

/* Opening for reading alone. A filter sees the arguments, but not what they point to: a path is the business of landlock
 * and the changed root, and calls whose flags stand in memory are not there at all. */
static int allow_files(scmp_filter_ctx filter, const flr_sandbox_def *def)
{
    const scmp_datum_t writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE;
    struct scmp_arg_cmp reading =
        SCMP_A2(SCMP_CMP_MASKED_EQ, writing & ~(scmp_datum_t)O_DIRECTORY, O_RDONLY);
    if (def->open) return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, reading);
    if (!def->open_beneath) return 0;
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 2,
                            SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)def->folder & UINT32_MAX, 0),
                            reading);
}

/* These take their flags from memory. "Not there" lets callers fall back to openat and clone, which the filter can judge. */
static int deny_unseen(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0) |
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/* everything else fails with "not permitted", which readers survive */
static bool filter_calls(const flr_sandbox_def *def)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter) return false;
    int failed = 0;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; ++i)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    failed |=
        allow_memory(filter) | allow_abort(filter) | allow_files(filter, def) | deny_unseen(filter);
    bool ok = !failed && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return ok;
}

void flr_sandbox_enter(const flr_sandbox_def *def, char active[FLR_SANDBOX_TEXT_SIZE],
                       char missing[FLR_SANDBOX_TEXT_SIZE])
{
    active[0] = missing[0] = 0;
    // feeler's end is ours
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    note(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? active : missing, "no new privileges");
    note(leave_network() ? active : missing, "no network");
    // files are opened by the path that the input names, which one of these two has to confine; else none is opened
    flr_sandbox_def allowed_files = *def;
    bool beneath = def->open_beneath && !def->open && def->folder >= 0;
    bool rooted = beneath && change_root(def);
    if (beneath) note(rooted ? active : missing, "own root");
    bool locked = lock_files(def);
    note(locked ? active : missing, "landlock");
    allowed_files.open_beneath = beneath && (rooted || locked);
    note(set_limits(def) ? active : missing, "resource limits");
    note(filter_calls(&allowed_files) ? active : missing, "seccomp");
}
