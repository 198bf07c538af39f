/* journal entries as notes of a recording, and back */
#include "sim/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/setup.h"

/* as the file has them, in the order of flr_journal_kind */
static const char *const words[] = {"start", "params", "ground", "grab", "release", "place",
                                    "tool",  "cast",   "solid",  "tie",  "firm",    "lost"};
enum { WORDS = sizeof words / sizeof *words };

/* ---- writing ---- */

static void put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static void put_f64(uint8_t *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(bits >> 8 * i);
}

/* "key value" in lines; NULL: no memory. */
static char *print_params(const flr_world_params *params, size_t *size, flr_error *error)
{
    flr_setup setup = flr_default_setup();
    flr_texts texts = {0};
    setup.params = *params;
    char *text = NULL;
    FILE *out = NULL;
    if (flr_setup_write_numbers(&setup, &texts, error) == FLR_OK) out = open_memstream(&text, size);
    for (size_t i = 0; out && i + 1 < texts.count; i += 2)
        fprintf(out, "%s %s\n", texts.list[i], texts.list[i + 1]);
    if (out && fclose(out) != 0) {
        free(text);
        text = NULL;
    }
    flr_texts_free(&texts);
    return text;
}

/* What ids of parts are in the recording. */
static uint32_t number_of(const flr_recording_tap *tap, uint32_t part)
{
    for (uint32_t i = 0; i < tap->all; i++)
        if (tap->numbers[i] == part) return i;
    return FLR_ENGINE_NONE;
}

static uint8_t *print_ground(const flr_recording_tap *tap, const flr_static_scene *ground,
                             size_t *size)
{
    uint8_t *data = malloc(4 * (size_t)ground->count + 1);
    for (uint32_t i = 0; data && i < ground->count; i++)
        put_u32(data + 4 * (size_t)i, number_of(tap, ground->ids[i]));
    *size = 4 * (size_t)ground->count;
    return data;
}

flr_result flr_journal_write(flr_recording_tap *tap, const flr_journal_entry *entry,
                             flr_error *error)
{
    char text[64];
    uint8_t pose[56], *made = NULL;
    flr_record_note note = {.frame = entry->frame, .text = text};
    snprintf(text, sizeof text, "%s", words[entry->kind]);
    switch (entry->kind) {
    case FLR_JOURNAL_START:
        note.data = tap->state, note.size = tap->state_size;
        break;
    case FLR_JOURNAL_PARAMS:
        note.data = made = (uint8_t *)print_params(&entry->what.params, &note.size, error);
        break;
    case FLR_JOURNAL_STATIC_SCENE:
        note.data = made = print_ground(tap, entry->what.ground, &note.size);
        flr_static_scene_release(entry->what.ground);
        break;
    case FLR_JOURNAL_GRAB:
    case FLR_JOURNAL_TOOL:
    case FLR_JOURNAL_SOLID:
    case FLR_JOURNAL_FIRM:
        snprintf(text, sizeof text, "%s %u %u", words[entry->kind], entry->hand, entry->part);
        break;
    case FLR_JOURNAL_RELEASE:
        snprintf(text, sizeof text, "%s %u", words[entry->kind], entry->hand);
        break;
    case FLR_JOURNAL_PLACE: {
        const double numbers[] = {entry->pose.p.x, entry->pose.p.y, entry->pose.p.z,
                                  entry->pose.q.w, entry->pose.q.x, entry->pose.q.y,
                                  entry->pose.q.z};
        for (int i = 0; i < 7; i++) put_f64(pose + 8 * i, numbers[i]);
        snprintf(text, sizeof text, "%s %u", words[entry->kind], entry->part);
        note.data = pose, note.size = sizeof pose;
        break;
    }
    case FLR_JOURNAL_INSTANCE:
    case FLR_JOURNAL_COUPLING:
    case FLR_JOURNAL_LOST:
        break;
    }
    bool whole =
        made || (entry->kind != FLR_JOURNAL_PARAMS && entry->kind != FLR_JOURNAL_STATIC_SCENE);
    flr_result result = whole ? flr_recorder_note(tap->recorder, &note, error)
                              : flr_fail(error, FLR_NO_MEMORY, "not enough memory to record");
    free(made);
    return result;
}

/* ---- reading ---- */

static double get_f64(const uint8_t *from)
{
    uint64_t bits = 0;
    double value;
    for (int i = 0; i < 8; i++) bits |= (uint64_t)from[i] << 8 * i;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void flr_journal_do(const flr_journal_note *entry, flr_world *world)
{
    switch (entry->kind) {
    case FLR_JOURNAL_PARAMS:
        flr_world_set_params(world, &entry->params);
        break;
    case FLR_JOURNAL_GRAB:
        flr_world_grab(world, entry->hand, entry->part);
        break;
    case FLR_JOURNAL_RELEASE:
        flr_world_release(world, entry->hand);
        break;
    case FLR_JOURNAL_PLACE:
        flr_world_place(world, entry->part, entry->pose);
        break;
    case FLR_JOURNAL_TOOL:
        flr_world_set_tool(world, entry->hand, (flr_tool)entry->part);
        break;
    case FLR_JOURNAL_SOLID:
        flr_world_set_solid(world, entry->part, entry->hand != 0);
        break;
    case FLR_JOURNAL_FIRM:
        flr_world_set_firm(world, entry->hand, entry->part != 0);
        break;
    default:
        break;
    }
}

uint32_t flr_journal_static_scene(const flr_journal_note *note, size_t index)
{
    const uint8_t *from = note->data + 4 * index;
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

static const char *find_line(const void *context, const char *key)
{
    return flr_texts_find(context, key);
}

static flr_result read_params(const flr_record_note *note, const char *path,
                              flr_world_params *params, flr_error *error)
{
    flr_setup setup = flr_default_setup();
    flr_texts texts = {0};
    flr_result result = FLR_OK;
    const char *at = (const char *)note->data, *end = at + note->size;
    while (at < end && result == FLR_OK) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        const char *space = memchr(at, ' ', (size_t)(line_end - at));
        char key[64];
        if (space && (size_t)(space - at) < sizeof key) {
            snprintf(key, sizeof key, "%.*s", (int)(space - at), at);
            result =
                flr_texts_add(&texts, error, key, "%.*s", (int)(line_end - space - 1), space + 1);
        }
        at = line_end + 1;
    }
    if (result == FLR_OK) result = flr_setup_read_numbers(find_line, &texts, path, &setup, error);
    flr_texts_free(&texts);
    if (result == FLR_OK) *params = setup.params;
    return result;
}

flr_result flr_journal_read(const flr_record_note *note, const char *path, flr_journal_note *entry,
                            flr_error *error)
{
    flr_journal_note found = {.data = note->data, .size = note->size};
    char word[16] = "";
    unsigned one = 0, two = 0;
    int count = sscanf(note->text, "%15s %u %u", word, &one, &two);
    int kind = 0;
    while (kind < WORDS && strcmp(words[kind], word) != 0) kind++;
    found.kind = (flr_journal_kind)kind;
    bool good = kind < WORDS;
    switch (found.kind) {
    case FLR_JOURNAL_GRAB:
    case FLR_JOURNAL_TOOL:
    case FLR_JOURNAL_SOLID:
    case FLR_JOURNAL_FIRM:
        good = count == 3;
        found.hand = one, found.part = two;
        break;
    case FLR_JOURNAL_RELEASE:
        good = count == 2;
        found.hand = one;
        break;
    case FLR_JOURNAL_PLACE:
        good = count == 2 && note->size == 56;
        found.part = one;
        if (good)
            found.pose = (flr_pose){
                .p = {get_f64(note->data), get_f64(note->data + 8), get_f64(note->data + 16)},
                .q = {.w = get_f64(note->data + 24),
                      .x = get_f64(note->data + 32),
                      .y = get_f64(note->data + 40),
                      .z = get_f64(note->data + 48)}};
        break;
    case FLR_JOURNAL_STATIC_SCENE:
        good = note->size % 4 == 0;
        break;
    case FLR_JOURNAL_PARAMS: {
        flr_result result = read_params(note, path, &found.params, error);
        if (result != FLR_OK) return result;
        break;
    }
    case FLR_JOURNAL_START:
    case FLR_JOURNAL_INSTANCE:
    case FLR_JOURNAL_COUPLING:
    case FLR_JOURNAL_LOST:
        break;
    }
    if (!good)
        return flr_fail(error, FLR_BAD_INPUT, "%s: the note \"%.60s\" makes no sense", path,
                        note->text);
    *entry = found;
    return FLR_OK;
}
