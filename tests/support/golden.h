/* golden.h: results that must be the same with every compiler, build, thread count and machine. */
#ifndef FLR_TEST_GOLDEN_H
#define FLR_TEST_GOLDEN_H

#include "models/models.h"

/* Looks for the line `NAME HASH` in tests/golden/FILE; when it is not there, prints the line as it would have to be and
 * returns false. */
bool flr_test_golden_has(const char *file, const char *name, flr_hash hash);

/* Compares each mesh of the model with its line `NAME FILE HASH` in tests/golden/models.txt. */
void flr_test_assert_golden(const char *name, const flr_model *model);

#endif
