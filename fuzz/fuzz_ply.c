/* any bytes as a file of the name x.ply: read or refused */
#include "fuzz/fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return flr_fuzz_parse("x.ply", bytes, size);
}
