/* hold_thread TEXT SECONDS COMMAND...: runs a command, whose output it passes on. When a line of that has the text, it holds the
 * command's first thread alone, as if that hung; all other threads go on. Ends with the exit code of the command; 76: it did not
 * end within so many seconds; 77: this machine does not allow it. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t start(char **command, FILE **out)
{
    int ends[2];
    if (pipe(ends) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]), close(ends[1]);
        execvp(command[0], command);
        _exit(127);
    }
    close(ends[1]);
    *out = fdopen(ends[0], "r");
    return child;
}

/* The end of a process that is traced is seen by its tracer first. */
static int await_end(pid_t child, int seconds)
{
    for (int i = 0; i < seconds * 100; i++) {
        int status;
        pid_t found = waitpid(child, &status, WNOHANG | __WALL);
        if (found == child && WIFEXITED(status)) return WEXITSTATUS(status);
        if (found == child && WIFSIGNALED(status)) return 128 + WTERMSIG(status);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    kill(child, SIGKILL);
    return 76;
}

int main(int count, char **arguments)
{
    if (count < 4) return 2;
    FILE *out = NULL;
    char line[4096];
    pid_t child = start(arguments + 3, &out);
    if (child < 0 || !out) return 2;
    while (fgets(line, sizeof line, out)) {
        fputs(line, stdout);
        fflush(stdout);
        if (!strstr(line, arguments[1])) continue;
        if (ptrace(PTRACE_SEIZE, child, 0, 0) != 0 || ptrace(PTRACE_INTERRUPT, child, 0, 0) != 0) {
            fprintf(stderr, "hold_thread: %s\n", strerror(errno));
            kill(child, SIGTERM);
            return 77;
        }
        break;
    }
    return await_end(child, atoi(arguments[2]));
}
