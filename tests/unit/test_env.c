#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feeler/env.h"

static flr_env *env;
static char *folder;
static flr_error error;

static int make_folder(void **state)
{
    (void)state;
    env = flr_env_real();
    folder = flr_test_folder();
    memset(&error, 0, sizeof error);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    flr_test_folder_remove(folder);
    return 0;
}

/* a path in the test's folder; up to four at a time */
static const char *in_folder(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_file(const char *path, const char *text)
{
    flr_blob blob;
    assert_ok(flr_file_read_all(env, path, 1 << 20, &blob, &error), error);
    assert_int_equal(blob.size, strlen(text));
    assert_string_equal(blob.size ? (const char *)blob.bytes : "", text);
    flr_blob_free(&blob);
}

static bool count_names(void *context, const char *name)
{
    (void)name;
    ++*(int *)context;
    return true;
}

static int entries_in_folder(void)
{
    int count = 0;
    assert_ok(flr_path_list(env, folder, count_names, &count, &error), error);
    return count;
}

static void assert_message(const char *part)
{
    if (!strstr(error.message, part)) fail_msg("\"%s\" lacks \"%s\"", error.message, part);
}

/* ---- clock and chance ---- */

static void clock_goes_on_and_sleep_sleeps(void **state)
{
    (void)state;
    int64_t start = flr_clock_ns(env);
    flr_sleep_until(env, start + 5000000);
    assert_ge(flr_clock_ns(env), start + 5000000);
    flr_sleep_until(env, start);
    flr_sleep_until(env, -5);
    assert_gt(flr_clock_wall_ns(env), 1600000000ll * 1000000000);
}

static void random_bytes_differ(void **state)
{
    (void)state;
    uint8_t a[1000] = {0}, b[1000] = {0};
    flr_random_bytes(env, a, sizeof a);
    flr_random_bytes(env, b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    int zeros = 0;
    for (size_t i = 0; i < sizeof a; i++) zeros += a[i] == 0;
    assert_lt(zeros, 50);
    flr_random_bytes(env, NULL, 0);
}

/* ---- files ---- */

static void create_write_read_update(void **state)
{
    (void)state;
    const char *path = in_folder("a");
    flr_file *file;
    assert_ok(flr_file_open(env, path, FLR_FILE_CREATE, &file, &error), error);
    assert_ok(flr_file_write(file, 3, "def", 3, &error), error);
    assert_ok(flr_file_write(file, 0, "abc", 3, &error), error);
    assert_ok(flr_file_sync(file, &error), error);
    flr_file_close(file);
    assert_file(path, "abcdef");

    assert_int_equal(flr_file_open(env, path, FLR_FILE_CREATE, &file, &error), FLR_DENIED);
    assert_message("exists already");

    assert_ok(flr_file_open(env, path, FLR_FILE_UPDATE, &file, &error), error);
    assert_ok(flr_file_write(file, 1, "BC", 2, &error), error);
    char bytes[16];
    size_t got = 0;
    assert_ok(flr_file_read(file, 0, bytes, sizeof bytes, &got, &error), error);
    assert_int_equal(got, 6);
    assert_memory_equal(bytes, "aBCdef", 6);
    assert_ok(flr_file_read(file, 6, bytes, sizeof bytes, &got, &error), error);
    assert_int_equal(got, 0);
    uint64_t size;
    assert_ok(flr_file_size(file, &size, &error), error);
    assert_int_equal(size, 6);
    flr_file_close(file);
    flr_file_close(NULL);
}

static void a_map_outlives_file_and_name(void **state)
{
    (void)state;
    const char *path = in_folder("mapped");
    flr_file *file;
    flr_map map;
    assert_ok(flr_file_open(env, path, FLR_FILE_CREATE, &file, &error), error);
    flr_file_close(file);
    assert_ok(flr_file_open(env, path, FLR_FILE_UPDATE, &file, &error), error);
    assert_ok(flr_file_map(file, 0, &map, &error), error);
    assert_null(map.bytes);
    assert_int_equal(map.size, 0);
    flr_file_unmap(&map);
    assert_ok(flr_file_write(file, 0, "abcdef", 6, &error), error);
    assert_ok(flr_file_map(file, 0, &map, &error), error);
    flr_map wide;
    const size_t room = (size_t)1 << 33;
    assert_ok(flr_file_map(file, room, &wide, &error), error);
    assert_memory_equal(wide.bytes, "abcdef", 6);
    assert_true(wide.room == room || wide.room == 0);
    if (wide.room) { // zeros, as far as promised
        assert_int_equal(wide.bytes[4096], 0);
        assert_int_equal(wide.bytes[room / 3], 0);
        assert_int_equal(wide.bytes[wide.size + room - 1], 0);
    }
    flr_file_unmap(&wide);
    assert_ok(flr_file_map(file, SIZE_MAX - 3, &wide, &error), error); // there is not that much
    assert_int_equal(wide.room, 0);
    flr_file_unmap(&wide);
    flr_file_close(file);
    assert_ok(flr_path_remove(env, path, &error), error);
    assert_int_equal(map.size, 6);
    assert_int_equal(map.room, 0);
    assert_memory_equal(map.bytes, "abcdef", 6);
    assert_int_equal((uintptr_t)map.bytes % 4096, 0);
    flr_file_unmap(&map);
    assert_null(map.bytes);
    flr_file_unmap(&map);
    flr_file_unmap(NULL);
}

static void what_is_no_file_is_refused_by_name(void **state)
{
    (void)state;
    flr_file *file = NULL;
    assert_int_equal(flr_file_open(env, folder, FLR_FILE_READ, &file, &error), FLR_BAD_INPUT);
    assert_message("is a folder, not a file");
    assert_message(folder);
    assert_int_equal(flr_file_open(env, folder, FLR_FILE_UPDATE, &file, &error), FLR_BAD_INPUT);
    assert_message("is a folder");

    // nobody writes to this pipe: must not hang
    const char *pipe_path = in_folder("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(flr_file_open(env, pipe_path, FLR_FILE_READ, &file, &error), FLR_BAD_INPUT);
    assert_message("is a pipe");
    assert_int_equal(flr_file_open(env, pipe_path, FLR_FILE_UPDATE, &file, &error), FLR_BAD_INPUT);
    assert_message("is a pipe");

    assert_int_equal(flr_file_open(env, "/dev/null", FLR_FILE_READ, &file, &error), FLR_BAD_INPUT);
    assert_message("/dev/null: is a device");

    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", in_folder("socket"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(flr_file_open(env, address.sun_path, FLR_FILE_READ, &file, &error),
                     FLR_BAD_INPUT);
    assert_message("is a socket");
    close(fd);

    assert_int_equal(flr_file_open(env, in_folder("none"), FLR_FILE_READ, &file, &error),
                     FLR_NOT_FOUND);
    assert_message("none: no such file");
    assert_int_equal(flr_file_open(env, "", FLR_FILE_READ, &file, &error), FLR_BAD_ARGUMENT);
    write_file(in_folder("plain"), "");
    assert_int_equal(flr_file_open(env, in_folder("plain/x"), FLR_FILE_READ, &file, &error),
                     FLR_NOT_FOUND);
    assert_message("is a file, not a folder");
    assert_null(file);
    flr_path_info info;
    assert_ok(flr_path_look(env, in_folder("plain/x"), &info, &error), error);
    assert_int_equal(info.kind, FLR_PATH_NONE);
}

static void read_all_reads_all(void **state)
{
    (void)state;
    const char *path = in_folder("a");
    write_file(path, "hello");
    flr_blob blob = {(uint8_t *)"untouched", 9};
    assert_int_equal(flr_file_read_all(env, path, 4, &blob, &error), FLR_TOO_LARGE);
    assert_message("limit of 4 bytes");
    assert_int_equal(blob.size, 9);
    assert_ok(flr_file_read_all(env, path, 5, &blob, &error), error);
    assert_int_equal(blob.size, 5);
    assert_string_equal((const char *)blob.bytes, "hello");
    flr_blob_free(&blob);
    assert_null(blob.bytes);
    flr_blob_free(&blob);
    flr_blob_free(NULL);

    write_file(path, "");
    assert_ok(flr_file_read_all(env, path, 0, &blob, &error), error);
    assert_null(blob.bytes);
    assert_int_equal(blob.size, 0);
    assert_int_equal(flr_file_read_all(env, folder, 5, &blob, &error), FLR_BAD_INPUT);
}

/* a system file claims no bytes and has many; a huge sparse one claims many */
static void read_all_does_not_trust_the_size(void **state)
{
    (void)state;
    flr_blob blob = {NULL, 0};
    if (access("/proc/self/maps", R_OK) == 0) {
        assert_ok(flr_file_read_all(env, "/proc/self/maps", 1 << 20, &blob, &error), error);
        assert_gt(blob.size, 100);
        assert_int_equal(strlen((char *)blob.bytes), blob.size);
        flr_blob_free(&blob);
        assert_int_equal(flr_file_read_all(env, "/proc/self/maps", 10, &blob, &error),
                         FLR_TOO_LARGE);
    }
    const char *path = in_folder("sparse");
    write_file(path, "");
    if (truncate(path, 1ll << 42) == 0)
        assert_int_equal(flr_file_read_all(env, path, 1 << 30, &blob, &error), FLR_TOO_LARGE);
    assert_null(blob.bytes);
}

static void paths(void **state)
{
    (void)state;
    flr_path_info info;
    assert_ok(flr_path_make_folder(env, in_folder("x//y/z/"), &error), error);
    assert_ok(flr_path_make_folder(env, in_folder("x/y"), &error), error);
    assert_ok(flr_path_look(env, in_folder("x/y/z"), &info, &error), error);
    assert_int_equal(info.kind, FLR_PATH_FOLDER);
    write_file(in_folder("x/f"), "12345");
    assert_ok(flr_path_look(env, in_folder("x/f"), &info, &error), error);
    assert_int_equal(info.kind, FLR_PATH_FILE);
    assert_int_equal(info.size, 5);
    assert_gt(info.modified_ns, 1600000000ll * 1000000000);
    assert_ok(flr_path_look(env, "/dev/null", &info, &error), error);
    assert_int_equal(info.kind, FLR_PATH_OTHER);
    assert_int_equal(flr_path_make_folder(env, in_folder("x/f"), &error), FLR_DENIED);
    assert_message("is a file, not a folder");
    assert_int_not_equal(flr_path_make_folder(env, in_folder("x/f/g"), &error), FLR_OK);
    assert_int_equal(flr_path_make_folder(env, "", &error), FLR_BAD_ARGUMENT);

    assert_int_equal(flr_path_remove(env, in_folder("x"), &error), FLR_DENIED);
    assert_message("not empty");
    assert_ok(flr_path_rename(env, in_folder("x/f"), in_folder("g"), &error), error);
    assert_int_equal(flr_path_rename(env, in_folder("x/f"), in_folder("g"), &error), FLR_NOT_FOUND);
    assert_message("x/f");
    assert_file(in_folder("g"), "12345");
    assert_ok(flr_path_remove(env, in_folder("g"), &error), error);
    assert_ok(flr_path_remove(env, in_folder("x/y/z"), &error), error);
    assert_int_equal(flr_path_remove(env, in_folder("g"), &error), FLR_NOT_FOUND);
}

typedef struct name_list {
    char text[64];
    int most;
} name_list;

static bool add_name(void *context, const char *name)
{
    name_list *list = context;
    strncat(list->text, name, sizeof list->text - 1 - strlen(list->text));
    return --list->most > 0;
}

static void list_is_sorted_and_stops(void **state)
{
    (void)state;
    for (const char *name = "cBaz"; *name; name++) {
        const char text[] = {*name, 0};
        write_file(in_folder(text), "");
    }
    name_list list = {"", 100};
    assert_ok(flr_path_list(env, folder, add_name, &list, &error), error);
    assert_string_equal(list.text, "Bacz");
    list = (name_list){"", 2};
    assert_ok(flr_path_list(env, folder, add_name, &list, &error), error);
    assert_string_equal(list.text, "Ba");
    assert_int_equal(flr_path_list(env, in_folder("a"), add_name, &list, &error), FLR_BAD_INPUT);
    assert_int_equal(flr_path_list(env, in_folder("q"), add_name, &list, &error), FLR_NOT_FOUND);
}

/* ---- output ---- */

static void output_appears_whole(void **state)
{
    (void)state;
    const char *path = in_folder("out");
    flr_output *output;
    assert_ok(flr_output_begin(env, path, &output, &error), error);
    assert_ok(flr_output_write(output, "abc", 3, &error), error);
    assert_ok(flr_output_print(output, &error, "%d%s", 12, "x"), error);
    assert_int_not_equal(access(path, F_OK), 0); // not there yet
    assert_ok(flr_output_commit(output, &error), error);
    assert_file(path, "abc12x");
    assert_int_equal(entries_in_folder(), 1);

    // abandoned: the old one stays
    assert_ok(flr_output_begin(env, path, &output, &error), error);
    assert_ok(flr_output_write(output, "new", 3, &error), error);
    flr_output_abandon(output);
    assert_file(path, "abc12x");
    assert_int_equal(entries_in_folder(), 1);
    flr_output_abandon(NULL);

    // replaced; an empty one
    assert_ok(flr_output_begin(env, path, &output, &error), error);
    assert_ok(flr_output_commit(output, &error), error);
    assert_file(path, "");
}

static void output_in_any_order(void **state)
{
    (void)state;
    const char *path = in_folder("puzzle");
    char back[4] = "";
    flr_output *output;
    assert_ok(flr_output_begin(env, path, &output, &error), error);
    assert_ok(flr_output_put(output, 3, "def", 3, &error), error);
    assert_ok(flr_output_put(output, 0, "abc", 3, &error), error);
    assert_ok(flr_output_put(output, 9, "", 0, &error), error);
    assert_ok(flr_output_get(output, 2, back, 3, &error), error);
    assert_string_equal(back, "cde");
    assert_int_equal(flr_output_get(output, 4, back, 3, &error), FLR_IO);
    assert_ok(flr_output_commit(output, &error), error);
    assert_file(path, "abcdef");

    // there is some room on every disk that this can be run on
    uint64_t room = 0;
    assert_ok(flr_path_room(env, path, &room, &error), error);
    assert_gt(room, 0);
    assert_int_equal(flr_path_room(env, in_folder("none/x"), &room, &error), FLR_NOT_FOUND);
}

static void output_of_all_sizes(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("output_of_all_sizes");
    enum { SIZE = 300000 };
    char *expected = malloc(SIZE + 1);
    for (size_t i = 0; i < SIZE; i++)
        expected[i] = (char)('a' + flr_test_random_below(&random, 26));
    expected[SIZE] = 0;
    const char *path = in_folder("out");
    flr_output *output;
    assert_ok(flr_output_begin(env, path, &output, &error), error);
    size_t done = 0;
    while (done < SIZE) {
        // small and large pieces, bytes and texts, around the size of the buffer
        uint32_t bounds[] = {2, 100, 2000, 70000};
        size_t piece = flr_test_random_below(&random, bounds[flr_test_random_below(&random, 4)]);
        if (piece > SIZE - done) piece = SIZE - done;
        if (flr_test_random_below(&random, 2))
            assert_ok(flr_output_write(output, expected + done, piece, &error), error);
        else
            assert_ok(flr_output_print(output, &error, "%.*s", (int)piece, expected + done), error);
        done += piece;
    }
    assert_ok(flr_output_commit(output, &error), error);
    assert_file(path, expected);
    free(expected);
}

static void output_says_why_not(void **state)
{
    (void)state;
    flr_output *output = NULL;
    assert_int_equal(flr_output_begin(env, in_folder("no/out"), &output, &error), FLR_NOT_FOUND);
    assert_message("no/out: the folder");
    assert_message("does not exist; make it first");
    assert_int_equal(flr_output_begin(env, folder, &output, &error), FLR_BAD_INPUT);
    assert_message("is a folder, not a file");
    assert_int_not_equal(flr_output_begin(env, in_folder("out/"), &output, &error), FLR_OK);
    assert_int_equal(flr_output_begin(env, "", &output, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_output_begin(env, "/dev/full", &output, &error), FLR_BAD_INPUT);
    assert_message("/dev/full: is a device");
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_not_equal(flr_output_begin(env, in_folder(name), &output, &error), FLR_OK);
    assert_message("too long");
    assert_null(output);
    assert_int_equal(entries_in_folder(), 0);
}

static void output_follows_links_and_keeps_rights(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_folder("d"), 0700), 0);
    write_file(in_folder("d/real"), "old");
    assert_int_equal(chmod(in_folder("d/real"), 0640), 0);
    assert_int_equal(symlink("d/real", in_folder("link")), 0);
    assert_int_equal(symlink("link", in_folder("link2")), 0);
    flr_output *output;
    assert_ok(flr_output_begin(env, in_folder("link2"), &output, &error), error);
    assert_ok(flr_output_write(output, "new", 3, &error), error);
    assert_ok(flr_output_commit(output, &error), error);
    struct stat info;
    assert_int_equal(lstat(in_folder("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(in_folder("d/real"), &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_file(in_folder("d/real"), "new");

    // a link to a file that is not there yet, and a link to itself
    assert_int_equal(symlink("d/later", in_folder("dangling")), 0);
    assert_ok(flr_output_begin(env, in_folder("dangling"), &output, &error), error);
    assert_ok(flr_output_commit(output, &error), error);
    assert_file(in_folder("d/later"), "");
    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    assert_int_equal(flr_output_begin(env, in_folder("loop"), &output, &error), FLR_BAD_INPUT);
    assert_message("circle");
}

/* runs `body` in a child without root's powers; it reports by its exit status */
static void without_privileges(int (*body)(void))
{
    if (geteuid() == 0) assert_int_equal(chmod(folder, 0777), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(77);
        if (access(folder, W_OK | X_OK) != 0) _exit(77); // a private temporary folder
        _exit(body());
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int try_forbidden(void)
{
    flr_file *file;
    flr_output *output;
    if (flr_file_open(env, in_folder("secret"), FLR_FILE_READ, &file, &error) != FLR_DENIED)
        return 1;
    if (!strstr(error.message, "secret: no permission to read it")) return 2;
    if (flr_output_begin(env, in_folder("secret"), &output, &error) != FLR_DENIED) return 3;
    if (!strstr(error.message, "no permission to write it")) return 4;
    if (flr_output_begin(env, in_folder("closed/out"), &output, &error) != FLR_DENIED) return 5;
    if (!strstr(error.message, "no permission to write in the folder")) return 6;
    return 0;
}

static void no_permission(void **state)
{
    (void)state;
    write_file(in_folder("secret"), "x");
    assert_int_equal(chmod(in_folder("secret"), 0), 0);
    assert_int_equal(mkdir(in_folder("closed"), 0555), 0);
    without_privileges(try_forbidden);
    chmod(in_folder("closed"), 0700);
}

/* the system's size limit stands in for a full disk */
static int write_beyond_limit(void)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {100000, 100000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 77;
    flr_output *output;
    if (flr_output_begin(env, in_folder("out"), &output, &error) != FLR_OK) return 1;
    static const char block[50000];
    for (int i = 0; i < 3; i++)
        if (flr_output_write(output, block, sizeof block, &error) != FLR_OK && i < 2) return 2;
    if (flr_output_commit(output, &error) != FLR_IO) return 3;
    if (!strstr(error.message, "out: ")) return 4;
    return 0;
}

static void disk_full_leaves_nothing(void **state)
{
    (void)state;
    without_privileges(write_beyond_limit);
    assert_int_equal(entries_in_folder(), 0);
}

/* ---- sockets, over loopback ---- */

static flr_address loopback(const char *text)
{
    flr_address address;
    assert_ok(flr_address_parse(text, 0, &address, &error), error);
    return address;
}

static flr_result wait_for(flr_socket *socket, unsigned wanted)
{
    flr_wait wait = {socket, wanted, 0};
    flr_result result = flr_env_wait(env, &wait, 1, flr_clock_ns(env) + 300000000000, &error);
    assert_int_equal(wait.ready & ~wanted, 0);
    assert_int_equal(wait.ready != 0, result == FLR_OK);
    return result;
}

/* sends a datagram from one socket to another of the same family */
static void exchange_datagrams(const char *place)
{
    flr_socket *a, *b;
    assert_ok(flr_udp_open(env, loopback(place), &a, &error), error);
    assert_ok(flr_udp_open(env, loopback(place), &b, &error), error);
    assert_int_not_equal(flr_socket_local(a).port, 0);
    assert_false(flr_address_equal(flr_socket_local(a), flr_socket_local(b)));
    char bytes[16];
    size_t got = 0;
    flr_address from;
    assert_int_equal(flr_udp_receive(b, &from, bytes, sizeof bytes, &got, &error), FLR_AGAIN);
    assert_ok(wait_for(a, FLR_WAIT_WRITE), error);
    assert_ok(flr_udp_send(a, flr_socket_local(b), "much too long for it", 20, &error), error);
    assert_ok(flr_udp_send(a, flr_socket_local(b), "ping", 4, &error), error);
    assert_ok(flr_udp_send(a, flr_socket_local(b), NULL, 0, &error), error);
    assert_ok(wait_for(b, FLR_WAIT_READ), error);
    assert_ok(flr_udp_receive(b, &from, bytes, sizeof bytes, &got, &error), error);
    assert_int_equal(got, 4);
    assert_memory_equal(bytes, "ping", 4);
    assert_true(flr_address_equal(from, flr_socket_local(a)));
    assert_int_equal(flr_udp_dropped(b), 1);
    assert_ok(flr_udp_receive(b, NULL, bytes, sizeof bytes, &got, &error), error);
    assert_int_equal(got, 0);

    static char large[FLR_UDP_MAX + 1];
    assert_int_equal(flr_udp_send(a, flr_socket_local(b), large, sizeof large, &error),
                     FLR_TOO_LARGE);
    flr_socket *same;
    assert_int_equal(flr_udp_open(env, flr_socket_local(a), &same, &error), FLR_DENIED);
    assert_message("another program uses this port");
    flr_socket_close(a);
    flr_socket_close(b);
    flr_socket_close(NULL);
}

static bool have_v6(void)
{
    flr_socket *probe;
    if (flr_udp_open(env, loopback("[::1]:0"), &probe, NULL) != FLR_OK) return false;
    flr_socket_close(probe);
    return true;
}

static void udp(void **state)
{
    (void)state;
    exchange_datagrams("127.0.0.1:0");
    if (have_v6()) exchange_datagrams("[::1]:0");
}

static void tcp(void **state)
{
    (void)state;
    flr_socket *listener, *other;
    assert_ok(flr_tcp_listen(env, loopback("127.0.0.1:0"), &listener, &error), error);
    flr_address local = flr_socket_local(listener);
    assert_gt(local.port, 0);
    assert_int_equal(flr_tcp_listen(env, local, &other, &error), FLR_DENIED);
    assert_message("another program uses this port");
    flr_wait both = {listener, FLR_WAIT_READ | FLR_WAIT_WRITE, 7};
    assert_int_equal(flr_env_wait(env, &both, 1, flr_clock_ns(env) + 1000000, &error), FLR_TIMEOUT);
    assert_int_equal(both.ready, 0);
    flr_socket_close(listener);
    assert_ok(flr_tcp_listen(env, local, &listener, &error), error);
    flr_socket_close(listener);
}

static void socket_errors(void **state)
{
    (void)state;
    flr_socket *socket = NULL;
    assert_int_equal(flr_udp_open(env, loopback("192.0.2.1:0"), &socket, &error), FLR_NOT_FOUND);
    assert_message("192.0.2.1:0: cannot open: this machine has no such address");
    flr_address none = {0};
    assert_int_equal(flr_tcp_listen(env, none, &socket, &error), FLR_UNSUPPORTED);
    assert_null(socket);
    // waiting for nothing is sleeping
    int64_t start = flr_clock_ns(env);
    assert_int_equal(flr_env_wait(env, NULL, 0, start + 3000000, &error), FLR_TIMEOUT);
    assert_ge(flr_clock_ns(env), start + 3000000);
    assert_int_equal(flr_env_wait(env, NULL, 0, -1, &error), FLR_TIMEOUT);
}

int main(void)
{
#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        in_a_folder(clock_goes_on_and_sleep_sleeps),
        in_a_folder(random_bytes_differ),
        in_a_folder(create_write_read_update),
        in_a_folder(a_map_outlives_file_and_name),
        in_a_folder(what_is_no_file_is_refused_by_name),
        in_a_folder(read_all_reads_all),
        in_a_folder(read_all_does_not_trust_the_size),
        in_a_folder(paths),
        in_a_folder(list_is_sorted_and_stops),
        in_a_folder(output_appears_whole),
        in_a_folder(output_in_any_order),
        in_a_folder(output_of_all_sizes),
        in_a_folder(output_says_why_not),
        in_a_folder(output_follows_links_and_keeps_rights),
        in_a_folder(no_permission),
        in_a_folder(disk_full_leaves_nothing),
        in_a_folder(udp),
        in_a_folder(tcp),
        in_a_folder(socket_errors),
    };
    return cmocka_run_group_tests_name("env", tests, NULL, NULL);
}
