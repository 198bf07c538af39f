// the same headers from C++
#include <feeler/feeler.h>

#include <cstdio>

int main()
{
    const flr_vec3 v = flr_vec3_add(flr_vec3{1, 2, 3}, flr_vec3{1, 1, 1});
    std::printf("feeler %s: %g\n", FLR_VERSION, v.z);
    return v.z == 4 ? 0 : 1;
}
