/* the report: distances along a way that is known, the verdict, the page, the plots */
#include "report.h"

#include <math.h>

#include "picture/pdf.h"
#include "support/recorded.h"

static flr_error error;

/* The peg comes from the right, `from` metres away from the wall, to `to`, in `count` frames. */
static void go(flr_test_recorded *r, double from, double to, size_t count, double lower)
{
    flr_pose *poses = calloc(count, sizeof *poses);
    for (size_t i = 0; i < count; i++) {
        double share = count > 1 ? (double)i / (double)(count - 1) : 0;
        poses[i] = flr_pose_identity();
        poses[i].p.x = 0.01 + from + share * (to - from);
    }
    flr_setup setup = flr_default_setup();
    flr_test_recorded_make(r, &setup, poses, NULL, count, lower, 1);
    free(poses);
}

static flr_cli quiet(void)
{
    return (flr_cli){.env = flr_env_real(), .command = &flr_cmd_report, .quiet = true};
}

static flr_report report_of(const flr_test_recorded *recorded, double clearance, size_t most,
                            bool meshes)
{
    flr_cli cli = quiet();
    flr_report r = {.clearance = clearance};
    assert_ok(flr_recorded_open(&cli, recorded->path, &r.from, &error), error);
    assert_ok(flr_report_read(&cli, &r, &error), error);
    if (meshes) {
        assert_ok(flr_recorded_scene(&cli, &r.from, NULL, &error), error);
        assert_ok(flr_report_meshes(&cli, &r, &error), error);
        assert_ok(flr_report_measure(&cli, &r, most, &error), error);
    }
    assert_ok(flr_report_sum(&r, &error), error);
    return r;
}

static void distances_are_exact(void **state)
{
    (void)state;
    flr_test_recorded recorded;
    go(&recorded, 0.005, 0.001, 401, 0);
    flr_report r = report_of(&recorded, -1, 5000, true);
    assert_int_equal(r.count, 401);
    assert_int_equal(r.measured, 401);
    for (size_t i = 0; i < r.count; i++)
        assert_lt(fabs(r.frames[i].exact - (0.005 - 0.00001 * (double)i)), 1e-12);
    assert_int_equal(r.nearest, 400);
    assert_lt(fabs(r.least - 0.001), 1e-12);
    assert_eq(r.least, r.least_upper);
    assert_int_equal(r.verdict, FLR_VERDICT_NONE);
    assert_int_equal(r.meeting, 0);
    flr_report_free(&r);
    flr_test_recorded_free(&recorded);
}

/* Few are measured, all are known well enough. */
static void few_frames_decide(void **state)
{
    (void)state;
    flr_test_recorded recorded;
    go(&recorded, 0.005, 0.001, 20001, 0);
    flr_report r = report_of(&recorded, 0.0009, 5000, true);
    assert_int_equal(r.verdict, FLR_VERDICT_PASS);
    assert_lt(r.measured, 1200);
    assert_lt(fabs(r.least - 0.001), 1e-12);
    assert_eq(r.least, r.least_upper);
    for (size_t i = 0; i < r.count; i++) /* what is said is true */
        assert_le(r.frames[i].bound, 0.005 - 0.0000002 * (double)i + 1e-12);
    flr_report_free(&r);
    r = report_of(&recorded, 0.0011, 5000, true);
    assert_int_equal(r.verdict, FLR_VERDICT_FAIL);
    flr_report_free(&r);
    r = report_of(&recorded, -1, 5000, true); /* the very least is found */
    assert_lt(fabs(r.least_upper - 0.001), 1e-12);
    assert_eq(r.least, r.least_upper);
    flr_report_free(&r);
    r = report_of(&recorded, 0.0010001, 3, true); /* the end is not among them */
    assert_int_equal(r.verdict, FLR_VERDICT_OPEN);
    assert_eq(r.measured, 3);
    flr_report_free(&r);
    flr_test_recorded_free(&recorded);
}

static void surfaces_that_meet_are_counted(void **state)
{
    (void)state;
    flr_test_recorded recorded;
    go(&recorded, 0.001, -0.001, 21, 0); /* frames 11 to 20 are inside the wall by up to 1 mm */
    flr_report r = report_of(&recorded, 0, 5000, true);
    assert_in_range(r.meeting, 10, 11);
    assert_int_equal(r.verdict, FLR_VERDICT_FAIL);
    assert_eq(r.least_upper, 0);
    flr_report_free(&r);
    flr_test_recorded_free(&recorded);
}

/* Without meshes the bounds decide, and they look only eight voxels far. */
static void bounds_decide_without_meshes(void **state)
{
    (void)state;
    static const struct {
        double lower, clearance;
        flr_verdict verdict;
    } cases[] = {{0.003, 0.002, FLR_VERDICT_OPEN}, /* the last pose has no bounds of its own */
                 {INFINITY, 0.02, FLR_VERDICT_OPEN},
                 {0, -1, FLR_VERDICT_NONE}};
    for (size_t i = 0; i < 3; i++) {
        flr_test_recorded recorded;
        go(&recorded, 0.005, 0.004, 10, cases[i].lower);
        flr_report r = report_of(&recorded, cases[i].clearance, 0, false);
        assert_int_equal(r.verdict, cases[i].verdict);
        assert_eq(r.frames[0].bound, fmin(cases[i].lower, 0.008));
        assert_true(isnan(r.frames[9].lower));
        assert_eq(r.frames[9].bound, 0);
        flr_report_free(&r);
        flr_test_recorded_free(&recorded);
    }
}

static void the_page_is_whole(void **state)
{
    (void)state;
    flr_test_recorded recorded;
    go(&recorded, 0.005, 0.001, 50, 0);
    flr_cli cli = quiet();
    for (int meshes = 0; meshes < 2; meshes++) {
        flr_report r = report_of(&recorded, 0.002, 5000, meshes);
        flr_blob page;
        assert_ok(flr_report_page(&cli, &r, &page, &error), error);
        const char *text = (const char *)page.bytes;
        assert_non_null(strstr(text, "two &lt;cubes&gt;"));
        assert_null(strstr(text, "two <cubes>"));
        assert_non_null(strstr(text, meshes ? "verdict fail" : "verdict undecided"));
        assert_eq((strstr(text, "data:image/png;base64,iVBORw0KGgo") != NULL), meshes);
        assert_null(strstr(text, "http"));
        assert_null(strstr(text, "nan"));
        assert_non_null(strstr(text, "</html>"));
        assert_null(strstr(text, "Voxels from the disk"));
        flr_blob_free(&page);
        /* and where voxels were paged */
        for (size_t i = 0; i < r.count; i++)
            r.frames[i].paged_resident = 1e6, r.frames[i].paged_read = 1e5 * (double)i;
        r.paged_most = 1000000, r.paged_directory = 7000000;
        r.waits = 1, r.frames[3].waited_us = 500;
        assert_ok(flr_report_page(&cli, &r, &page, &error), error);
        text = (const char *)page.bytes;
        assert_non_null(strstr(text, "Voxels from the disk"));
        assert_non_null(strstr(text, "at most 1.0 MB in memory and 7.0 MB of directory"));
        assert_non_null(strstr(text, "waited before the frame [ms]"));
        flr_blob_free(&page);
        flr_report_free(&r);
    }
    flr_test_recorded_free(&recorded);
}

/* The nearest place is named and drawn, and the timing stands behind a line that opens it. */
static void the_nearest_place_is_named(void **state)
{
    (void)state;
    flr_test_recorded recorded;
    go(&recorded, 0.005, 0.001, 50, 0);
    flr_cli cli = quiet();
    flr_report r = report_of(&recorded, 0.002, 5000, true);
    const flr_report_pair *list[FLR_REPORT_NEAREST];
    assert_int_equal(flr_report_near(&r, list), 1);
    assert_lt(fabs(list[0]->least - 0.001), 1e-12);
    assert_lt(fabs(flr_vec3_distance(list[0]->from, list[0]->to) - 0.001), 1e-12);
    /* the picture has the markers' red, and the middle of it is near them */
    flr_picture picture;
    assert_ok(flr_report_closeup(&r, list[0], 200, 150, &picture, &error), error);
    size_t red = 0, middle = 0;
    for (uint32_t i = 0; i < 200 * 150; i++) {
        const uint8_t *c = picture.rgb + 3 * i;
        bool is = c[0] > 120 && c[1] < 90 && c[2] < 90;
        red += is;
        middle += is && abs((int)(i % 200) - 100) < 70 && abs((int)(i / 200) - 75) < 50;
    }
    assert_in_range(red, 20, 3000);
    assert_int_equal(red, middle);
    flr_picture_free(&picture);
    flr_blob page;
    assert_ok(flr_report_page(&cli, &r, &page, &error), error);
    const char *near = strstr((const char *)page.bytes, "<h2>Nearest place</h2>");
    assert_non_null(near);
    assert_non_null(strstr(near, "<b>peg</b> and <b>wall</b>: 1.000 mm"));
    assert_non_null(strstr(near, "<details><summary><h2>Timing</h2>"));
    flr_blob_free(&page);
    flr_report_free(&r);
    flr_test_recorded_free(&recorded);
}

/* Every object is where the table says, and the text is there. */
static void the_pdf_is_whole(void **state)
{
    (void)state;
    flr_test_recorded recorded;
    go(&recorded, 0.005, 0.001, 50, 0);
    flr_cli cli = quiet();
    for (int meshes = 0; meshes < 2; meshes++) {
        flr_report r = report_of(&recorded, 0.002, 5000, meshes);
        flr_blob file;
        assert_ok(flr_report_pdf(&cli, &r, &file, &error), error);
        const char *text = (const char *)file.bytes;
        assert_int_equal(strncmp(text, "%PDF-1.4\n", 9), 0);
        const char *end = text + file.size, *start = end - 1;
        while (start > text && strncmp(start, "startxref\n", 10) != 0) start--;
        const char *table = text + strtoul(start + 10, NULL, 10);
        unsigned objects = 0;
        assert_int_equal(sscanf(table, "xref\n0 %u", &objects), 1);
        assert_in_range(objects, 9, 40);
        const char *row = strchr(table + 5, '\n') + 1 + 20;
        for (unsigned i = 1; i < objects; i++, row += 20) {
            unsigned number = 0;
            assert_int_equal(sscanf(text + strtoul(row, NULL, 10), "%u 0 obj", &number), 1);
            assert_int_equal(number, i);
        }
        const size_t size = file.size;
        assert_non_null(memmem(text, size, meshes ? "(FAIL)" : "(UNDECIDED)", meshes ? 6 : 11));
        assert_int_equal(memmem(text, size, "(1. peg and wall)", 17) != NULL, meshes);
        assert_int_equal(memmem(text, size, "/Subtype /Image", 15) != NULL, meshes);
        flr_blob_free(&file);
        flr_report_free(&r);
    }
    flr_test_recorded_free(&recorded);
}

/* A long sentence is broken at spaces, and strange characters do no harm. */
static void pdf_text_fits(void **state)
{
    (void)state;
    const char *words = "a (part) \\ of \xc3\xa4 \xe4\xb8\xad and some more of it";
    flr_pdf *pdf = flr_pdf_begin();
    flr_pdf_page(pdf);
    assert_lt(flr_pdf_paragraph(pdf, 0, 100, 60, 10, false, 0, words), 100 - 3 * 13.5 + 1e-9);
    flr_blob file;
    assert_ok(flr_pdf_end(pdf, &file, &error), error);
    assert_non_null(memmem(file.bytes, file.size, "a \\(part\\) \\\\", 13));
    assert_non_null(memchr(file.bytes, 0xe4, file.size));
    assert_non_null(memchr(file.bytes, '?', file.size));
    flr_blob_free(&file);
    assert_lt(fabs(flr_pdf_text_width("iW", 2, 1000, false) - 1166), 1e-9);
}

/* ---- plots ---- */

static char *drawn(void (*draw)(FILE *out))
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    draw(out);
    fclose(out);
    return text;
}

static void draw_spike(FILE *out)
{
    enum { N = 100000 };
    double *t = calloc(N, sizeof *t), *y = calloc(N, sizeof *y);
    for (int i = 0; i < N; i++) t[i] = i * 1e-3, y[i] = i == 77777 ? 5 : 1;
    flr_chart_line line = {"y", y, "a", false};
    flr_chart chart = {.label = "y <of> t",
                       .t = t,
                       .count = N,
                       .lines = &line,
                       .line_count = 1,
                       .mark = 2,
                       .mark_name = "\"two\" & more"};
    flr_chart_lines(out, &chart);
    free(t);
    free(y);
}

static void draw_nothing(FILE *out)
{
    double t[2] = {0, 0}, y[2] = {NAN, INFINITY};
    bool hot[2] = {false, true};
    flr_chart_line line = {"y", y, "a", true};
    flr_chart chart = {
        .label = "y", .t = t, .count = 2, .lines = &line, .line_count = 1, .mark = NAN};
    flr_chart_lines(out, &chart);
    flr_chart_histogram(out, "h", t, 2, 1000, "m");
    flr_chart_histogram(out, "h", t, 0, 1000, "m");
    flr_chart_path(out, "x", "y", t, t, hot, 2, 1e-3, "mm");
}

static void plots_lose_no_peak(void **state)
{
    (void)state;
    char *text = drawn(draw_spike);
    assert_lt(strlen(text), 60000);
    assert_non_null(strstr(text, " 14.0")); /* the top of the plot */
    assert_non_null(strstr(text, "y &lt;of&gt; t"));
    assert_non_null(strstr(text, "&quot;two&quot; &amp; more"));
    free(text);
    text = drawn(draw_nothing);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_exact),
        cmocka_unit_test(few_frames_decide),
        cmocka_unit_test(surfaces_that_meet_are_counted),
        cmocka_unit_test(bounds_decide_without_meshes),
        cmocka_unit_test(the_page_is_whole),
        cmocka_unit_test(the_nearest_place_is_named),
        cmocka_unit_test(the_pdf_is_whole),
        cmocka_unit_test(pdf_text_fits),
        cmocka_unit_test(plots_lose_no_peak),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
