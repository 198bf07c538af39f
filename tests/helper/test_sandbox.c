/* the sandbox of feeler-import: what is forbidden inside, and what still works */
#include "helper/sandbox.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    char command[2048];
    folder = flr_test_folder();
    snprintf(command, sizeof command,
             "mkdir '%s/in' && echo input >'%s/in/input' && echo beside >'%s/in/beside' && echo "
             "outside >'%s/outside' && ln -s ../outside '%s/in/up'",
             folder, folder, folder, folder, folder);
    return system(command);
}

static int remove_folder(void **state)
{
    (void)state;
    flr_test_folder_remove(folder);
    return 0;
}

static int beneath(int at, const char *name, unsigned flags)
{
    struct open_how how = {.flags = flags, .resolve = RESOLVE_BENEATH};
    return (int)syscall(SYS_openat2, at, name, &how, sizeof how);
}

static int open_from(int at, const char *name, int flags)
{
    return (int)syscall(SYS_openat, at, name, flags, 0600);
}

typedef int attempt(int input, int in);

/* runs `try` in a child inside the sandbox; its answer, or -signal */
static int inside(attempt *try, bool open_plain, bool open_beneath)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/in", folder);
    int in = open(path, O_PATH | O_DIRECTORY);
    snprintf(path, sizeof path, "%s/in/input", folder);
    int input = open(path, O_RDONLY);
    assert_ge(in, 0);
    assert_ge(input, 0);
    pid_t child = fork();
    if (child == 0) {
        char active[FLR_SANDBOX_TEXT_SIZE], missing[FLR_SANDBOX_TEXT_SIZE];
        flr_sandbox_def def = {.seconds = 10,
                               .memory = UINT64_C(1) << 30,
                               .input = input,
                               .folder = in,
                               .open = open_plain,
                               .open_beneath = open_beneath};
        flr_sandbox_enter(&def, active, missing);
        if (!strstr(active, "seccomp")) _exit(77);
        _exit(try(input, in));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(in);
    close(input);
    if (WIFSIGNALED(status)) return -WTERMSIG(status);
    if (WEXITSTATUS(status) == 77) skip();
    return WEXITSTATUS(status);
}

/* each returns 0 when it was prevented */
static int try_network(int input, int in)
{
    (void)input, (void)in;
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static int try_processes(int input, int in)
{
    (void)input, (void)in;
    char name[] = "/bin/true";
    char *arguments[] = {name, NULL};
    if (fork() >= 0) return 1;
    if (kill(getppid(), 0) == 0) return 2;
    if (syscall(SYS_tgkill, getppid(), getppid(), 0) == 0) return 3;
    if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) return 4;
    execv(name, arguments);
    return 0;
}

static int try_code(int input, int in)
{
    (void)input, (void)in;
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) return 1;
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 2;
    return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0 ? 3 : 0;
}

static int try_files(int input, int in)
{
    char byte;
    if (open("/etc/passwd", O_RDONLY) >= 0 || openat(in, "beside", O_RDONLY) >= 0) return 1;
    if (beneath(in, "beside", O_RDONLY) >= 0) return 2;
    if (unlinkat(in, "beside", 0) == 0 || mkdirat(in, "new", 0700) == 0) return 3;
    // the input itself stays readable
    return read(input, &byte, 1) == 1 && byte == 'i' ? 0 : 4;
}

static int try_files_beneath(int input, int in)
{
    (void)input;
    char byte;
    int beside = open_from(in, "beside", O_RDONLY);
    if (beside < 0 || read(beside, &byte, 1) != 1 || byte != 'b') return 1;
    if (open_from(in, "../outside", O_RDONLY) >= 0 || open_from(in, "up", O_RDONLY) >= 0) return 2;
    if (open_from(in, "/etc/passwd", O_RDONLY) >= 0 || open("/etc/passwd", O_RDONLY) >= 0) return 3;
    // for reading alone, from the folder alone
    static const int writing[] = {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_RDONLY | O_CREAT,
                                  O_RDONLY | O_APPEND};
    for (size_t i = 0; i < sizeof writing / sizeof *writing; i++)
        if (open_from(in, "beside", writing[i]) >= 0 || errno != EPERM) return 4;
    if (open_from(AT_FDCWD, "beside", O_RDONLY) >= 0) return 5;
    return open_from(in, ".", O_TMPFILE | O_RDWR) >= 0 ? 6 : 0;
}

static int try_files_plain(int input, int in)
{
    (void)in;
    char path[64], byte;
    snprintf(path, sizeof path, "/proc/self/fd/%d", input);
    int again = open(path, O_RDONLY);
    if (again < 0 || read(again, &byte, 1) != 1) return 1;
    if (open(path, O_RDWR) >= 0 || open("/tmp/made", O_WRONLY | O_CREAT, 0600) >= 0) return 2;
    return 0;
}

/* The flags of openat2 stand in memory, where no filter sees them: it could truncate and create. */
static int try_unseen_flags(int input, int in)
{
    (void)input;
    static const unsigned flags[] = {O_RDONLY, O_WRONLY, O_RDWR | O_TRUNC, O_WRONLY | O_CREAT};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        int made = beneath(in, flags[i] & O_CREAT ? "made" : "beside", flags[i]);
        if (made >= 0 || errno != ENOSYS) return 1 + (int)i;
    }
    char how[88] = {0};
    return syscall(SYS_clone3, how, sizeof how) >= 0 || errno != ENOSYS ? 10 : 0;
}

/* ways around a filter that other sandboxes have forgotten; not permitted, whatever the arguments */
static int try_back_doors(int input, int in)
{
    (void)input, (void)in;
    static const long calls[] = {SYS_io_uring_setup,
                                 SYS_io_uring_enter,
                                 SYS_memfd_create,
                                 SYS_execveat,
                                 SYS_process_vm_readv,
                                 SYS_process_vm_writev,
                                 SYS_name_to_handle_at,
                                 SYS_open_by_handle_at,
                                 SYS_ioctl,
                                 SYS_prctl,
                                 SYS_ptrace,
                                 SYS_userfaultfd,
                                 SYS_bpf,
                                 SYS_perf_event_open,
                                 SYS_keyctl,
                                 SYS_add_key,
                                 SYS_personality,
                                 SYS_mount,
                                 SYS_chroot,
                                 SYS_pivot_root,
                                 SYS_unshare,
                                 SYS_setns,
                                 SYS_clone,
                                 SYS_pidfd_getfd,
                                 SYS_pidfd_send_signal,
                                 SYS_pkey_mprotect,
                                 SYS_shmget,
                                 SYS_shmat,
                                 SYS_ftruncate,
                                 SYS_fallocate,
                                 SYS_fchmod,
                                 SYS_pwrite64,
                                 SYS_sendfile,
                                 SYS_splice,
                                 SYS_copy_file_range,
                                 SYS_fcntl,
                                 SYS_rt_sigqueueinfo,
                                 SYS_rt_tgsigqueueinfo,
                                 SYS_tkill,
                                 SYS_setrlimit,
                                 SYS_prlimit64,
                                 SYS_socketpair,
                                 SYS_link,
                                 SYS_symlink,
                                 SYS_rename,
                                 SYS_chdir,
                                 SYS_fchdir,
                                 SYS_modify_ldt};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (syscall(calls[i], -1, 0, 0, 0, 0, 0) >= 0 || errno != EPERM) return 1 + (int)i;
    return 0;
}

static int try_abort(int input, int in)
{
    (void)input, (void)in;
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void forbids(void **state)
{
    (void)state;
    assert_int_equal(inside(try_network, true, true), 0);
    assert_int_equal(inside(try_processes, true, true), 0);
    assert_int_equal(inside(try_code, true, true), 0);
    assert_int_equal(inside(try_files, false, false), 0);
    assert_int_equal(inside(try_files_beneath, false, true), 0);
    assert_int_equal(inside(try_files_plain, true, false), 0);
    assert_int_equal(inside(try_unseen_flags, false, true), 0);
    assert_int_equal(inside(try_unseen_flags, true, false), 0);
    assert_int_equal(inside(try_back_doors, true, false), 0);
    assert_int_equal(inside(try_back_doors, false, true), 0);
}

static void lets_die(void **state)
{
    (void)state;
    assert_int_equal(inside(try_abort, false, false), -SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forbids), cmocka_unit_test(lets_die)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
