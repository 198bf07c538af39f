/* journal entries as notes of a recording, and back: commands.def says what each has */
#include "sim/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sim/setup.h"

/* ---- the table ---- */

/* of a field: the first ones stand in the text, the others are the data */
typedef enum field_type {
    TYPE_hand,
    TYPE_part,
    TYPE_tool,
    TYPE_flag,
    TYPE_pose,
    TYPE_optional_pose,
    TYPE_guide,
    TYPE_params,
    TYPE_parts,
    TYPE_state
} field_type;

typedef struct journal_field {
    field_type type;
    size_t offset; /* in flr_journal_entry */
} journal_field;

typedef enum journal_replay { REPLAY_WORLD, REPLAY_SCENE, REPLAY_STOP } journal_replay;

enum {
    JOURNAL_NUMBERS = 2,
    JOURNAL_FIELDS = JOURNAL_NUMBERS + 1,
    POSE_SIZE = 56,
    GUIDE_SIZE = 120
};

typedef struct journal_row {
    const char *word;
    journal_replay replay;
    const char *doc;
    journal_field fields[JOURNAL_FIELDS + 1]; /* ends with offset 0 */
} journal_row;

/* clang-format off */
/* each in a function, where `self` can name the entry's member of `as` */
#define FLR_JOURNAL(NAME, name, word, REPLAY, doc) static const journal_row *row_of_##name(void) { typedef flr_journal_##name self; static const journal_row r = {word, REPLAY_##REPLAY, doc, {
#define FLR_J(type, field, doc) {TYPE_##type, offsetof(flr_journal_entry, as) + offsetof(self, field)},
#define FLR_JOURNAL_END(name) {TYPE_hand, offsetof(self, entry)}}}; return &r; }
#include "protocol/command_rows.h"

#define FLR_JOURNAL(NAME, name, word, REPLAY, doc) row_of_##name,
static const journal_row *(*const rows[])(void) = {
#include "protocol/command_rows.h"
};
/* clang-format on */

static bool in_text(field_type type) { return type <= TYPE_flag; }

static unsigned numbers_of(const journal_row *r)
{
    unsigned count = 0;
    for (const journal_field *f = r->fields; f->offset > 0; f++) count += in_text(f->type);
    return count;
}

/* ---- writing ---- */

static void put_pose(uint8_t *to, const flr_pose *pose)
{
    const double numbers[] = {pose->p.x, pose->p.y, pose->p.z, pose->q.w,
                              pose->q.x, pose->q.y, pose->q.z};
    for (int i = 0; i < 7; i++) flr_put_f64(to + 8 * i, numbers[i]);
}

static uint8_t *print_pose(const flr_pose *pose, size_t *size)
{
    uint8_t *data = malloc(POSE_SIZE);
    if (data) put_pose(data, pose);
    *size = POSE_SIZE;
    return data;
}

static uint8_t *print_guide(const flr_world_guide *guide, size_t *size)
{
    uint8_t *data = malloc(GUIDE_SIZE);
    *size = GUIDE_SIZE;
    if (!data) return NULL;
    put_pose(data, &guide->from);
    put_pose(data + POSE_SIZE, &guide->to);
    flr_put_f64(data + 2 * POSE_SIZE, guide->share);
    return data;
}

/* "key value" in lines. */
static uint8_t *print_params(const flr_world_params *params, size_t *size, flr_error *error)
{
    flr_setup setup = flr_default_setup();
    flr_texts texts = {0};
    setup.params = *params;
    char *text = NULL;
    FILE *out = NULL;
    flr_setup_write_numbers(&setup, &texts);
    if (flr_texts_end(&texts, error) == FLR_OK) out = open_memstream(&text, size);
    for (size_t i = 0; out && i + 1 < texts.count; i += 2)
        fprintf(out, "%s %s\n", texts.list[i], texts.list[i + 1]);
    if (out && fclose(out) != 0) {
        free(text);
        text = NULL;
    }
    flr_texts_free(&texts);
    return (uint8_t *)text;
}

/* What ids of parts are in the recording. */
static uint32_t number_of(const flr_recording_tap *tap, uint32_t part)
{
    for (uint32_t i = 0; i < tap->all; i++)
        if (tap->numbers[i] == part) return i;
    return FLR_ENGINE_NONE;
}

static uint8_t *print_parts(const flr_recording_tap *tap, const flr_static_scene *scene,
                            size_t *size)
{
    uint8_t *data = malloc(4 * (size_t)scene->count + 1);
    for (uint32_t i = 0; data && i < scene->count; i++)
        flr_put_u32(data + 4 * (size_t)i, number_of(tap, scene->ids[i]));
    *size = 4 * (size_t)scene->count;
    return data;
}

/* The data of an entry, by malloc(); `*size` 0: none. False: no memory. */
static bool print_data(const flr_recording_tap *tap, const journal_field *f, const void *at,
                       uint8_t **data, size_t *size, flr_error *error)
{
    switch (f->type) {
    case TYPE_pose:
        *data = print_pose(at, size);
        break;
    case TYPE_optional_pose:
        if (!((const flr_noted_optional_pose *)at)->given) return true;
        *data = print_pose(&((const flr_noted_optional_pose *)at)->pose, size);
        break;
    case TYPE_guide:
        if (!((const flr_noted_guide *)at)->given) return true;
        *data = print_guide(&((const flr_noted_guide *)at)->guide, size);
        break;
    case TYPE_params:
        *data = print_params(at, size, error);
        break;
    case TYPE_parts:
        *data = print_parts(tap, ((const flr_noted_parts *)at)->scene, size);
        break;
    default: /* numbers; and the state, which lies on the tap */
        return true;
    }
    return *data != NULL;
}

static uint32_t get_number(const journal_field *f, const void *at)
{
    uint32_t number;
    if (f->type == TYPE_flag) return *(const bool *)at;
    memcpy(&number, at, sizeof number);
    return number;
}

flr_result flr_journal_write(flr_recording_tap *tap, const flr_journal_entry *entry,
                             flr_error *error)
{
    const journal_row *r = rows[entry->kind]();
    char text[64];
    uint8_t *data = NULL;
    bool whole = true;
    flr_record_note note = {.frame = entry->frame, .text = text};
    int used = snprintf(text, sizeof text, "%s", r->word);
    for (const journal_field *f = r->fields; f->offset > 0; f++) {
        const void *at = (const char *)entry + f->offset;
        if (in_text(f->type))
            used += snprintf(text + used, sizeof text - (size_t)used, " %u", get_number(f, at));
        else
            whole &= print_data(tap, f, at, &data, &note.size, error);
    }
    note.data = data;
    if (entry->kind == FLR_JOURNAL_START) note.data = tap->state, note.size = tap->state_size;
    if (entry->kind == FLR_JOURNAL_STATIC_SCENE)
        flr_static_scene_release(entry->as.static_scene.parts.scene);
    flr_result result = whole ? flr_recorder_note(tap->recorder, &note, error)
                              : flr_fail(error, FLR_NO_MEMORY, "not enough memory to record");
    free(data);
    return result;
}

/* ---- reading ---- */

static flr_pose get_pose(const uint8_t *from)
{
    double v[7];
    for (int k = 0; k < 7; k++) v[k] = flr_get_f64(from + 8 * k);
    return (flr_pose){.p = {v[0], v[1], v[2]}, .q = {.w = v[3], .x = v[4], .y = v[5], .z = v[6]}};
}

uint32_t flr_journal_part(const flr_noted_parts *parts, size_t index)
{
    return flr_get_u32(parts->numbers + 4 * index);
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
    const char *at = (const char *)note->data, *end = at + note->size;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        const char *space = memchr(at, ' ', (size_t)(line_end - at));
        char key[64];
        if (space && (size_t)(space - at) < sizeof key) {
            snprintf(key, sizeof key, "%.*s", (int)(space - at), at);
            flr_texts_add(&texts, key, "%.*s", (int)(line_end - space - 1), space + 1);
        }
        at = line_end + 1;
    }
    flr_result result = flr_texts_end(&texts, error);
    if (result == FLR_OK) result = flr_setup_read_numbers(find_line, &texts, path, &setup, error);
    flr_texts_free(&texts);
    if (result == FLR_OK) *params = setup.params;
    return result;
}

/* A field that is data. `*good` false: it makes no sense. */
static flr_result read_data(const flr_record_note *note, const char *path, const journal_field *f,
                            void *at, bool *good, flr_error *error)
{
    switch (f->type) {
    case TYPE_pose:
        *good = note->size == POSE_SIZE;
        if (*good) *(flr_pose *)at = get_pose(note->data);
        break;
    case TYPE_optional_pose:
        *good = note->size == POSE_SIZE || note->size == 0;
        if (note->size == POSE_SIZE)
            *(flr_noted_optional_pose *)at = (flr_noted_optional_pose){true, get_pose(note->data)};
        break;
    case TYPE_guide:
        *good = note->size == GUIDE_SIZE || note->size == 0;
        if (note->size == GUIDE_SIZE)
            *(flr_noted_guide *)at =
                (flr_noted_guide){true,
                                  {get_pose(note->data), get_pose(note->data + POSE_SIZE),
                                   flr_get_f64(note->data + 2 * POSE_SIZE)}};
        break;
    case TYPE_params:
        return read_params(note, path, at, error);
    case TYPE_parts:
        *good = note->size % 4 == 0;
        *(flr_noted_parts *)at = (flr_noted_parts){.numbers = note->data, .count = note->size / 4};
        break;
    case TYPE_state:
        *(flr_noted_state *)at = (flr_noted_state){note->data, note->size};
        break;
    default:
        break;
    }
    return FLR_OK;
}

static void set_number(const journal_field *f, void *at, uint32_t number)
{
    if (f->type == TYPE_flag)
        *(bool *)at = number != 0;
    else
        memcpy(at, &number, sizeof number);
}

flr_result flr_journal_read(const flr_record_note *note, const char *path, flr_journal_entry *entry,
                            flr_error *error)
{
    char word[16] = "";
    unsigned numbers[JOURNAL_NUMBERS] = {0}, next = 0;
    int count = sscanf(note->text, "%15s %u %u", word, &numbers[0], &numbers[1]);
    int kind = 0;
    while (kind < FLR_JOURNAL_KINDS && strcmp(rows[kind]()->word, word) != 0) kind++;
    const journal_row *r = kind < FLR_JOURNAL_KINDS ? rows[kind]() : NULL;
    bool good = r && (unsigned)count == 1 + numbers_of(r);
    flr_journal_entry found = {.kind = (flr_journal_kind)kind, .frame = note->frame};
    flr_result result = FLR_OK;
    for (const journal_field *f = r ? r->fields : NULL; good && result == FLR_OK && f->offset > 0;
         f++) {
        void *at = (char *)&found + f->offset;
        if (in_text(f->type))
            set_number(f, at, numbers[next++]);
        else
            result = read_data(note, path, f, at, &good, error);
    }
    if (!good)
        return flr_fail(error, FLR_BAD_INPUT, "%s: the note \"%.60s\" makes no sense", path,
                        note->text);
    if (result == FLR_OK) *entry = found;
    return result;
}

/* ---- repeating: repeat_NAME for each row that a world is enough for ---- */

static void repeat_params(const flr_journal_params *e, flr_world *world)
{
    flr_world_set_params(world, &e->params);
}

static void repeat_grab(const flr_journal_grab *e, flr_world *world)
{
    if (e->T_world_hand.given)
        flr_world_grab_at(world, e->hand, e->part, e->T_world_hand.pose);
    else
        flr_world_grab(world, e->hand, e->part);
}

static void repeat_release(const flr_journal_release *e, flr_world *world)
{
    flr_world_release(world, e->hand);
}

static void repeat_place(const flr_journal_place *e, flr_world *world)
{
    flr_world_place(world, e->part, e->T_world_part);
}

static void repeat_tool(const flr_journal_tool *e, flr_world *world)
{
    flr_world_set_tool(world, e->hand, (flr_tool)e->tool);
}

static void repeat_solid(const flr_journal_solid *e, flr_world *world)
{
    flr_world_set_solid(world, e->part, e->solid);
}

static void repeat_guide(const flr_journal_guide *e, flr_world *world)
{
    flr_world_set_guide(world, e->hand, e->guide.given ? &e->guide.guide : NULL);
}

static void repeat_firm(const flr_journal_firm *e, flr_world *world)
{
    flr_world_set_firm(world, e->hand, e->firm);
}

bool flr_journal_repeats(flr_journal_kind kind, const char **why)
{
    const journal_row *r = rows[kind]();
    if (why) *why = r->replay == REPLAY_STOP ? r->doc : NULL;
    return r->replay == REPLAY_WORLD;
}

void flr_journal_do(const flr_journal_entry *entry, flr_world *world)
{
    /* clang-format off */
#define DO_WORLD(name) repeat_##name(&entry->as.name, world)
#define DO_SCENE(name) (void)0
#define DO_STOP(name)  (void)0
    switch (entry->kind) {
#define FLR_JOURNAL(NAME, name, word, REPLAY, doc) case FLR_JOURNAL_##NAME: DO_##REPLAY(name); break;
#include "protocol/command_rows.h"
    case FLR_JOURNAL_KINDS: break;
    }
    /* clang-format on */
}
