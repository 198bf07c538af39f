/* checked.h: a mesh checked, and its report looked at for what every report must be. */
#ifndef FLR_TEST_CHECKED_H
#define FLR_TEST_CHECKED_H

#include "feeler/mesh_check.h"
#include "support/test.h"

/* `read` and `options` as for flr_check_mesh(). Fails the test where a finding has no count, no whole sentence, no place in the
 * mesh, or stands before a worse one. */
flr_check_report flr_test_checked(const flr_mesh *mesh, const flr_mesh_report *read,
                                  const flr_check_options *options);
/* How many of a kind; 0 where it was not found. */
uint64_t flr_test_check_count(const flr_check_report *report, flr_check_kind kind);

/* The index of the edge between two vertices; FLR_NONE: there is none. */
uint32_t flr_test_find_edge(const flr_adjacency *adjacency, uint32_t a, uint32_t b);

#endif
