/* a certificate of feeler's own for `feeler serve --https` */
#include "serve_https.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output.h"

extern char **environ;

enum { SUBJECTS_SIZE = 2000, MAX_ADDRESSES = 16, OUTPUT_SIZE = 2000 };

static const char days[] = "365";
static const char remaining[] = "2592000"; /* seconds, a month: with less left it is made anew */

/* Runs openssl; what it prints goes to `output`. False: it is not there, or failed. */
static bool run_openssl(char *const arguments[], char output[OUTPUT_SIZE])
{
    int pipe_of[2], status = -1;
    pid_t process;
    output[0] = 0;
    if (pipe2(pipe_of, O_CLOEXEC) != 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_of[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const bool begun = posix_spawnp(&process, "openssl", &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_of[1]);
    size_t used = 0;
    for (ssize_t got; begun && used + 1 < OUTPUT_SIZE; used += (size_t)got) {
        got = read(pipe_of[0], output + used, OUTPUT_SIZE - 1 - used);
        if (got < 0 && errno == EINTR)
            got = 0;
        else if (got <= 0)
            break;
    }
    output[used] = 0;
    close(pipe_of[0]);
    while (begun && waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    return begun && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* "subjectAltName=DNS:localhost,IP:127.0.0.1,…": by which names and addresses others reach this machine */
static void list_subjects(char text[SUBJECTS_SIZE], const char *const *names, size_t count)
{
    size_t used =
        (size_t)snprintf(text, SUBJECTS_SIZE, "subjectAltName=DNS:localhost,IP:127.0.0.1");
    for (size_t i = 0; i < count; i++) {
        const size_t fine =
            strspn(names[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");
        if (!names[i][0] || names[i][fine] || used + strlen(names[i]) * 2 + 32 > SUBJECTS_SIZE)
            continue;
        used += (size_t)snprintf(text + used, SUBJECTS_SIZE - used, ",DNS:%s", names[i]);
        if (!strchr(names[i], '.'))
            used += (size_t)snprintf(text + used, SUBJECTS_SIZE - used, ",DNS:%s.local", names[i]);
    }
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) return;
    int listed = 0;
    for (const struct ifaddrs *one = all; one && listed < MAX_ADDRESSES; one = one->ifa_next) {
        char address[INET_ADDRSTRLEN];
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || one->ifa_flags & IFF_LOOPBACK)
            continue;
        const struct sockaddr_in *in = (const void *)one->ifa_addr;
        if (!inet_ntop(AF_INET, &in->sin_addr, address, sizeof address)) continue;
        used += (size_t)snprintf(text + used, SUBJECTS_SIZE - used, ",IP:%s", address);
        listed++;
    }
    freeifaddrs(all);
}

/* Is there one for the same names that is valid for a while? */
static bool is_usable(flr_cli *cli, const flr_https *h, const char *names_file,
                      const char *subjects)
{
    flr_blob kept = {0};
    if (access(h->key, R_OK) != 0 ||
        flr_file_read_all(cli->env, names_file, SUBJECTS_SIZE, &kept, NULL) != FLR_OK)
        return false;
    const bool same = kept.size == strlen(subjects) && memcmp(kept.bytes, subjects, kept.size) == 0;
    flr_blob_free(&kept);
    char output[OUTPUT_SIZE];
    char *check[] = {"openssl",
                     "x509",
                     "-in",
                     (char *)(uintptr_t)h->certificate,
                     "-noout",
                     "-checkend",
                     (char *)(uintptr_t)remaining,
                     NULL};
    return same && run_openssl(check, output);
}

static flr_result make(flr_cli *cli, flr_https *h, const char *names_file, char *subjects,
                       flr_error *error)
{
    char output[OUTPUT_SIZE];
    char *request[] = {"openssl",
                       "req",
                       "-x509",
                       "-newkey",
                       "ec",
                       "-pkeyopt",
                       "ec_paramgen_curve:prime256v1",
                       "-nodes",
                       "-keyout",
                       h->key,
                       "-out",
                       h->certificate,
                       "-days",
                       (char *)(uintptr_t)days,
                       "-subj",
                       "/CN=feeler",
                       "-addext",
                       subjects,
                       NULL};
    const mode_t before = umask(077); /* the key is nobody else's, from its first byte on */
    const bool made = run_openssl(request, output);
    umask(before);
    if (!made)
        return flr_fail(
            error, FLR_UNSUPPORTED,
            "--https: no certificate could be made: install openssl (on Debian: apt install "
            "openssl), or give one with --tls-cert and --tls-key");
    h->made = true;
    return flr_file_write_all(cli->env, names_file, subjects, strlen(subjects), error);
}

flr_result flr_https_prepare(flr_cli *cli, const char *folder, const char *const *names,
                             size_t count, flr_https *h, flr_error *error)
{
    char subjects[SUBJECTS_SIZE], names_file[FLR_CACHE_PATH_SIZE], output[OUTPUT_SIZE];
    *h = (flr_https){.made = false};
    if ((size_t)snprintf(h->certificate, sizeof h->certificate, "%s/certificate.pem", folder) >=
            sizeof h->certificate ||
        (size_t)snprintf(h->key, sizeof h->key, "%s/key.pem", folder) >= sizeof h->key ||
        (size_t)snprintf(names_file, sizeof names_file, "%s/names", folder) >= sizeof names_file)
        return flr_fail(error, FLR_TOO_LARGE, "the name of the folder %s is too long", folder);
    flr_result result = flr_path_make_private(cli->env, folder, 0, error);
    list_subjects(subjects, names, count);
    if (result == FLR_OK && !is_usable(cli, h, names_file, subjects))
        result = make(cli, h, names_file, subjects, error);
    char *print[] = {"openssl", "x509",         "-in",     h->certificate,
                     "-noout",  "-fingerprint", "-sha256", NULL};
    if (result == FLR_OK && run_openssl(print, output)) {
        const char *at = strchr(output, '=');
        if (at) snprintf(h->fingerprint, sizeof h->fingerprint, "%.95s", at + 1);
        h->fingerprint[strcspn(h->fingerprint, "\r\n")] = 0;
    }
    return result;
}

void flr_https_explain(flr_cli *cli, const flr_https *h)
{
    flr_print_note(
        cli,
        "The certificate is feeler's own (%s%s). No browser knows it, so each one warns once: "
        "open the address, choose Advanced, compare the fingerprint if others could be in "
        "between, and go on. Headsets (WebXR) and SpaceMice in the page (WebHID) need it.\n",
        FLR_SAFE(h->certificate), h->made ? ", made now" : "");
    if (h->fingerprint[0]) flr_print_note(cli, "SHA-256 %s\n", h->fingerprint);
}
