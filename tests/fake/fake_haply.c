/* fake_haply PORTFILE [FORCEFILE]: the mock of the Inverse Service as a process; writes its port, and its cursor goes round until it is
 * ended. With a second file the cursor rests, and every new force upwards goes into the file, in newtons. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "support/haply_mock.h"

int main(int argc, char **argv)
{
    static haply_mock mock;
    FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (!file || !haply_mock_begin(&mock, 0)) return 1;
    fprintf(file, "%u\n", mock.port);
    fclose(file);
    FILE *forces = argc > 2 ? fopen(argv[2], "w") : NULL;
    for (double last = 0; forces; usleep(100)) {
        const double now = mock.fz;
        if (now == last) continue;
        fprintf(forces, "%.3f\n", now);
        fflush(forces);
        last = now;
    }
    for (double t = 0;; t += 0.02) {
        mock.x = 0.02 * sin(t);
        mock.z = 0.16 + 0.02 * cos(t);
        usleep(2000);
    }
}
