#include "support/golden.h"

#include "support/test.h"

void flr_test_assert_golden(const char *name, const flr_model *model)
{
    flr_error error;
    flr_blob text;
    assert_ok(flr_file_read_all(flr_env_real(), FLR_SOURCE_DIR "/tests/golden/models.txt", 1 << 20,
                                &text, &error),
              error);
    assert_non_null(text.bytes);
    bool same = true;
    for (size_t i = 0; i < model->mesh_count; i++) {
        char hash[FLR_HASH_TEXT_SIZE], line[160];
        flr_hash_print(flr_mesh_hash(model->meshes[i].mesh), hash);
        snprintf(line, sizeof line, "%s %s %s\n", name, model->meshes[i].file, hash);
        if (strstr((const char *)text.bytes, line)) continue;
        print_error("not in tests/golden/models.txt: %s", line);
        same = false;
    }
    flr_blob_free(&text);
    if (!same) fail_msg("%s is not what it was", name);
}
