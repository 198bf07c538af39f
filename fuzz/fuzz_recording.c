/* recordings: whatever the file says, reading ends, and what it gives stays within its limits
 *
 * The input is a file, but for its checksums: a chunk's is set to 0, which says that there is none, since otherwise nearly
 * every input would end there. */
#include <stdlib.h>
#include <string.h>

#include "feeler/recording.h"
#include "feeler/sim.h"
#include "fuzz/support/memory.h"
#include "record/mcap_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Goes from record to record at the top level and clears the checksum of each chunk. */
static void clear_checksums(uint8_t *bytes, size_t size)
{
    enum { HEAD = 9, CRC = 24 };
    for (size_t at = 8; size >= HEAD && at < size - HEAD;) {
        uint64_t length = 0;
        for (int i = 0; i < 8; i++) length |= (uint64_t)bytes[at + 1 + (size_t)i] << 8 * i;
        if (length > size - at - HEAD) return;
        if (bytes[at] == MCAP_CHUNK && length >= CRC + 4) memset(bytes + at + HEAD + CRC, 0, 4);
        at += HEAD + (size_t)length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    flr_sim_def world = flr_default_sim_def();
    flr_sim *sim = flr_sim_create(&world);
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    flr_env *env = flr_sim_node(sim, address);
    uint8_t *copy = malloc(size + 1);
    flr_file *file;
    if (!copy || flr_file_open(env, "/r", FLR_FILE_CREATE, &file, NULL) != FLR_OK) abort();
    memcpy(copy, bytes, size);
    clear_checksums(copy, size);
    flr_file_write(file, 0, copy, size, NULL);
    flr_file_close(file);
    free(copy);
    flr_recording *recording;
    flr_error error;
    flr_fuzz_memory_begin(size, FLR_FUZZ_FIXED_RECORDING);
    if (flr_recording_open(env, "/r", &recording, &error) == FLR_OK) {
        flr_record_view view;
        uint64_t frames = 0;
        uint64_t told;
        double seconds;
        if (flr_recording_length(recording, &told, &seconds) && !(seconds >= 0)) abort();
        while (flr_recording_next(recording, &view, &error) == FLR_OK) {
            if (++frames > size || view.hand_count > 64 || view.part_count > 4096) abort();
            if (view.frame.contacts_given > 1024) abort();
        }
        flr_recording_close(recording);
    }
    flr_fuzz_memory_end();
    flr_sim_destroy(sim);
    return 0;
}
