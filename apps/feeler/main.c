/* feeler: the command */
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "output.h"

int main(int argc, char **argv)
{
    // a closed pipe is an error that we report, not a reason to vanish
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // so is a file that grows beyond the limit for files

    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    bool colour = !(no_colour && *no_colour) && terminal && *terminal;
    struct winsize window = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &window);
    flr_cli cli = {
        .env = flr_env_real(),
        .colour_out = colour && isatty(STDOUT_FILENO),
        .colour_err = colour && isatty(STDERR_FILENO),
        .columns = window.ws_col,
        .progress = isatty(STDERR_FILENO) == 1,
    };
    return flr_finish_stdout(&cli, flr_command_main(&cli, argc, argv));
}
