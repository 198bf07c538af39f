/* any bytes as a file of the name x.stl: read or refused */
#include "fuzz/fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return flr_fuzz_parse("x.stl", bytes, size);
}
