/* golden.h: scenarios give the same meshes with every compiler, build and machine. */
#ifndef FLR_TEST_GOLDEN_H
#define FLR_TEST_GOLDEN_H

#include "models/models.h"

/* Compares each mesh of the model with its line `NAME FILE HASH` in tests/golden/models.txt and
 * fails the test with the line as it would have to be. */
void flr_test_assert_golden(const char *name, const flr_model *model);

#endif
