#include "support/checked.h"

flr_check_report flr_test_checked(const flr_mesh *mesh, const flr_mesh_report *read,
                                  const flr_check_options *options)
{
    flr_error error;
    flr_check_report report;
    assert_ok(flr_check_mesh(mesh, read, options, &report, &error), error);
    for (uint32_t i = 0; i < report.finding_count; i++) {
        const flr_check_finding *f = report.findings + i;
        assert_gt(f->count, 0);
        /* what it says in words and in numbers is the same */
        assert_int_equal(strncmp(f->effect, "Does not matter", 15) == 0, !f->matters);
        assert_true(f->matters || f->severity != FLR_CHECK_SERIOUS);
        assert_gt(strlen(f->sentence), 10);
        assert_gt(strlen(f->effect), 10);
        assert_eq(f->sentence[strlen(f->sentence) - 1], '.'); /* whole, not cut off */
        assert_eq(f->effect[strlen(f->effect) - 1], '.');
        assert_true(f->triangle == FLR_NONE || f->triangle < mesh->triangle_count);
        if (f->has_place) assert_true(flr_vec3_is_finite(f->place));
        if (i > 0) assert_ge(report.findings[i - 1].severity, f->severity);
    }
    return report;
}

uint64_t flr_test_check_count(const flr_check_report *report, flr_check_kind kind)
{
    const flr_check_finding *f = flr_check_find(report, kind);
    return f ? f->count : 0;
}

uint32_t flr_test_find_edge(const flr_adjacency *adjacency, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < adjacency->edge_count; i++) {
        const uint32_t *v = adjacency->edges[i].v;
        if ((v[0] == a && v[1] == b) || (v[0] == b && v[1] == a)) return i;
    }
    return FLR_NONE;
}
