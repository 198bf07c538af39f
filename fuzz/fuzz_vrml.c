/* any bytes as a file of the name x.wrl, and by their first line as VRML 2, VRML 1 or Inventor: read or refused */
#include "fuzz/fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return flr_fuzz_parse("x.wrl", bytes, size);
}
