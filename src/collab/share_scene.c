/* the scene of a shared session on its way: a member lists its files, a guest fetches them, piece by piece */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collab/share_internal.h"

enum { SHARE_SCENE_PIECE = 49152, SHARE_SCENE_AHEAD = 8 /* pieces under way */ };
static const int64_t alone_ns = INT64_C(30000000000); /* without anybody who has the scene */

static void fail(flr_share *s, const char *sentence)
{
    s->phase = FLR_SHARE_FAILED;
    snprintf(s->sentence, sizeof s->sentence, "%s", sentence);
}

/* The same parts in the same order; where they are and how fine their voxels are is not in it. */
static flr_hash scene_hash(const flr_share *s)
{
    flr_hasher hasher = flr_hasher_begin();
    flr_engine_part part;
    for (uint32_t i = 0; flr_engine_part_at(s->def.engine, i, &part); i++) {
        flr_hash mesh = {0};
        (void)flr_engine_mesh(s->def.engine, part.mesh, &mesh);
        uint8_t kind = (uint8_t)part.kind;
        flr_hasher_add(&hasher, part.name, strlen(part.name) + 1);
        flr_hasher_add(&hasher, &kind, 1);
        flr_hasher_add(&hasher, &mesh, sizeof mesh);
    }
    return flr_hasher_end(&hasher);
}

/* A name beside the scene: no way out of its folder. */
static bool is_safe(const char *name)
{
    if (!name[0] || name[0] == '/' || strstr(name, "..") || strchr(name, '\\')) return false;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ') return false;
    return true;
}

static void path_of(const flr_share *s, const char *name, char path[FLR_CACHE_PATH_SIZE])
{
    snprintf(path, FLR_CACHE_PATH_SIZE, "%s/%s", s->folder, name);
}

static void end_output(flr_share *s)
{
    flr_output_abandon(s->output);
    s->output = NULL;
}

/* ---- the side that has it ---- */

/* The share's and the job's together: whoever is last frees it. Meshes may have gigabytes, so a worker reads and hashes them. */
struct flr_share_listing {
    atomic_uint users;
    atomic_bool done, unwanted;
    flr_env *env;
    char folder[FLR_CACHE_PATH_SIZE];
    flr_share_file *files; /* [FLR_SHARE_FILES], count; the worker's until it is done */
    uint32_t count;
    flr_result result;
    flr_error error;
};

typedef struct listing_job {
    flr_job job;
    flr_share_listing *listing;
} listing_job;

static void drop_listing(flr_share_listing *l)
{
    if (!l || atomic_fetch_sub(&l->users, 1) != 1) return;
    free(l->files);
    free(l);
}

static flr_result hash_file(flr_share_listing *l, const char *path, flr_share_file *to,
                            flr_error *error)
{
    enum { CHUNK = 1 << 20 };
    flr_file *file;
    flr_hasher hasher = flr_hasher_begin();
    flr_result result = flr_file_open(l->env, path, FLR_FILE_READ, &file, error);
    if (result != FLR_OK) return result;
    uint8_t *bytes = malloc(CHUNK);
    if (!bytes) result = flr_engine_no_memory(error);
    to->size = 0;
    for (size_t got = 1; result == FLR_OK && got > 0;) {
        if (atomic_load(&l->unwanted)) result = flr_fail(error, FLR_CANCELLED, "cancelled");
        if (result == FLR_OK) result = flr_file_read(file, to->size, bytes, CHUNK, &got, error);
        if (result != FLR_OK) break;
        flr_hasher_add(&hasher, bytes, got);
        to->size += got;
    }
    to->hash = flr_hasher_end(&hasher);
    free(bytes);
    flr_file_close(file);
    return result;
}

static flr_result add_file(flr_share_listing *l, const char *name, flr_error *error)
{
    char path[FLR_CACHE_PATH_SIZE + 300];
    flr_share_file *file = &l->files[l->count];
    snprintf(path, sizeof path, "%s/%s", l->folder, name);
    flr_result result = hash_file(l, path, file, error);
    if (result != FLR_OK) return result;
    snprintf(file->name, sizeof file->name, "%s", name);
    l->count++;
    return FLR_OK;
}

static bool visit(void *context, const char *name)
{
    flr_share_listing *l = context;
    char path[300];
    if (l->count == FLR_SHARE_FILES) {
        l->result = flr_fail(&l->error, FLR_TOO_LARGE, "it has more than %d files with meshes",
                             FLR_SHARE_FILES - 1);
        return false;
    }
    snprintf(path, sizeof path, "scene_parts/%s", name);
    l->result = add_file(l, path, &l->error);
    return l->result == FLR_OK;
}

/* What was saved is what is sent. */
static void listing_work(flr_job *job)
{
    flr_share_listing *l = ((listing_job *)job)->listing;
    char folder[FLR_CACHE_PATH_SIZE + 20];
    flr_error error;
    snprintf(folder, sizeof folder, "%s/scene_parts", l->folder);
    l->result = add_file(l, "scene.json", &l->error);
    if (l->result == FLR_OK) {
        flr_result list = flr_path_list(l->env, folder, visit, l, &error);
        if (l->result == FLR_OK && list != FLR_OK) {
            l->result = list;
            l->error = error;
        }
    }
    atomic_store(&l->done, true);
}

static void listing_drop(flr_job *job)
{
    drop_listing(((listing_job *)job)->listing);
    free(job);
}

static void cannot_send(flr_share *s, const char *why)
{
    FLR_ENGINE_WARN(s->def.engine, "the scene cannot be sent to guests: %s", why);
}

/* False: no memory. */
static bool begin_listing(flr_share *s)
{
    listing_job *job = calloc(1, sizeof *job);
    flr_share_listing *l = calloc(1, sizeof *l);
    flr_share_file *files = calloc(FLR_SHARE_FILES, sizeof *files);
    if (!job || !l || !files) {
        free(job), free(l), free(files);
        return false;
    }
    atomic_init(&l->users, 2);
    l->env = s->def.env;
    l->files = files;
    snprintf(l->folder, sizeof l->folder, "%s", s->folder);
    job->listing = s->listing = l;
    job->job = (flr_job){.work = listing_work, .drop = listing_drop};
    return flr_engine_post(s->def.engine, &job->job, 0, FLR_NO_PART_ID, NULL, NULL) == FLR_OK;
}

static void end_listing(flr_share *s)
{
    if (s->listing) atomic_store(&s->listing->unwanted, true);
    drop_listing(s->listing);
    s->listing = NULL;
}

/* True: it is done. */
static bool take_listing(flr_share *s)
{
    flr_share_listing *l = s->listing;
    if (!atomic_load(&l->done)) return false;
    free(s->files);
    s->files = l->files;
    s->file_count = l->count;
    l->files = NULL;
    s->can_send = l->result == FLR_OK;
    if (!s->can_send) cannot_send(s, l->error.message);
    end_listing(s);
    return true;
}

void flr_share_scene_free(flr_share *s)
{
    end_output(s);
    end_listing(s);
    free(s->files);
    s->files = NULL;
}

/* None at all: it could not be saved here. */
static void send_none(flr_share *s, uint16_t member)
{
    const flr_message m = {.id = FLR_MSG_PEER_FILE};
    (void)flr_session_send(s->session, member, &m);
}

static void send_list(flr_share *s, uint16_t member)
{
    for (uint32_t i = 0; i < s->file_count; i++) {
        const flr_share_file *file = &s->files[i];
        uint32_t words[4] = {(uint32_t)file->hash.low, (uint32_t)(file->hash.low >> 32),
                             (uint32_t)file->hash.high, (uint32_t)(file->hash.high >> 32)};
        flr_message m = {.id = FLR_MSG_PEER_FILE};
        m.as.peer_file = (flr_msg_peer_file){.file = i,
                                             .files = s->file_count,
                                             .size = file->size,
                                             .hash = words,
                                             .hash_count = 4,
                                             .name = flr_wire_text_of(file->name)};
        if (flr_session_send(s->session, member, &m) != FLR_OK) return; /* it asks again */
    }
}

static void send_piece(flr_share *s, uint16_t member, const flr_msg_peer_fetch *fetch)
{
    static _Thread_local uint8_t bytes[SHARE_SCENE_PIECE];
    size_t got = 0;
    if (s->can_send && fetch->file < s->file_count) {
        char path[FLR_CACHE_PATH_SIZE];
        flr_file *file;
        path_of(s, s->files[fetch->file].name, path);
        if (flr_file_open(s->def.env, path, FLR_FILE_READ, &file, NULL) == FLR_OK) {
            if (flr_file_read(file, fetch->offset, bytes, sizeof bytes, &got, NULL) != FLR_OK)
                got = 0;
            flr_file_close(file);
        }
    }
    flr_message m = {.id = FLR_MSG_PEER_PIECE};
    m.as.peer_piece = (flr_msg_peer_piece){
        .file = fetch->file, .offset = fetch->offset, .bytes = bytes, .bytes_count = (uint32_t)got};
    (void)flr_session_send(s->session, member, &m);
}

/* ---- the side that joins ---- */

/* Somebody who has the scene: the leader, or else whoever is ready. */
static uint16_t find_source(const flr_share *s)
{
    flr_session_person person;
    uint16_t found = 0;
    bool again = false; /* the member that did not send is asked again only if there is no other */
    for (uint32_t i = 0; flr_session_person_at(s->session, i, &person); i++) {
        if (person.self || person.away || !person.direct || !person.ready) continue;
        if (person.member == s->source)
            again = true;
        else if (person.leader)
            return person.member;
        else if (!found)
            found = person.member;
    }
    return found ? found : again ? s->source : 0;
}

/* Nothing has come for longer than loss and delay explain, or the way to who sends is no more and what was on it is lost. */
static bool is_stuck(const flr_share *s, int64_t now)
{
    flr_session_person person;
    if (s->phase != FLR_SHARE_LISTING && s->phase != FLR_SHARE_FETCHING) return false;
    if (!flr_session_person_find(s->session, s->source, &person) || person.away || !person.direct)
        return true;
    return now - s->scene_ns > (int64_t)((5 + 15 * person.delay) * 1e9);
}

static void begin_file(flr_share *s)
{
    char path[FLR_CACHE_PATH_SIZE];
    flr_error error;
    path_of(s, s->files[s->file_at].name, path);
    char *slash = strrchr(path, '/');
    *slash = 0;
    flr_result result = flr_path_make_folder(s->def.env, path, &error);
    *slash = '/';
    if (result == FLR_OK) result = flr_output_begin(s->def.env, path, &s->output, &error);
    if (result != FLR_OK) {
        fail(s, error.message);
        return;
    }
    s->got = 0;
    s->hasher = flr_hasher_begin();
}

/* Asks for what is next, some pieces ahead, also of the files that follow. */
static void fetch(flr_share *s)
{
    while (s->phase == FLR_SHARE_FETCHING && s->ask_file < s->file_count &&
           s->ask_count < SHARE_SCENE_AHEAD) {
        flr_message m = {.id = FLR_MSG_PEER_FETCH};
        m.as.peer_fetch = (flr_msg_peer_fetch){.file = s->ask_file, .offset = s->ask_offset};
        if (flr_session_send(s->session, s->source, &m) != FLR_OK) return;
        s->ask_count++;
        s->ask_offset += SHARE_SCENE_PIECE;
        if (s->ask_offset < s->files[s->ask_file].size) continue;
        s->ask_file++;
        s->ask_offset = 0;
    }
}

static void load(flr_share *s)
{
    char path[FLR_CACHE_PATH_SIZE];
    flr_error error;
    path_of(s, s->files[0].name, path);
    s->phase = FLR_SHARE_LOADING;
    if (flr_engine_load(s->def.engine, path, &s->job, &error) != FLR_OK) fail(s, error.message);
}

/* A file is whole: what came is what was promised. */
static void end_file(flr_share *s)
{
    flr_error error;
    bool right = flr_hash_equal(flr_hasher_end(&s->hasher), s->files[s->file_at].hash);
    flr_output *output = s->output;
    s->output = NULL;
    if (!right) {
        flr_output_abandon(output);
        fail(s, "a file of the scene came damaged; join again");
        return;
    }
    if (flr_output_commit(output, &error) != FLR_OK) {
        fail(s, error.message);
        return;
    }
    if (++s->file_at == s->file_count) {
        s->can_send = true;
        load(s);
        return;
    }
    begin_file(s);
}

/* Who was asked has the scene, but not as files. Somebody else may; when all have been asked nobody does. */
static void on_none(flr_share *s)
{
    s->phase = FLR_SHARE_NONE;
    if (++s->nones >= 2 * flr_session_count(s->session))
        fail(s, "the scene cannot be sent from there: it could not be saved, perhaps because the "
                "disk is full; what its controller said tells more");
}

/* Is it more than this side is ready to take, or has room for? What the host announces here is the most that it can make this
 * side write, since a piece that goes beyond is refused. */
static bool too_much(flr_share *s, bool all)
{
    uint64_t total = 0, free_bytes = 0;
    const double mib = 1024 * 1024;
    char sentence[FLR_ERROR_MESSAGE_SIZE];
    for (uint32_t i = 0; i < s->file_count; i++) total += s->files[i].size;
    if (total > s->def.scene_limit) {
        snprintf(sentence, sizeof sentence,
                 "the scene has %.1f MiB or more, and only %.1f MiB may come; join with a larger "
                 "--scene-limit if you trust the host",
                 (double)total / mib, (double)s->def.scene_limit / mib);
        fail(s, sentence);
        return true;
    }
    for (uint32_t i = 0; i < s->file_at && i < s->file_count; i++) total -= s->files[i].size;
    char path[FLR_CACHE_PATH_SIZE];
    path_of(s, "scene.json", path);
    if (!all || flr_path_make_folder(s->def.env, s->folder, NULL) != FLR_OK ||
        flr_path_room(s->def.env, path, &free_bytes, NULL) != FLR_OK || free_bytes >= total)
        return false;
    snprintf(sentence, sizeof sentence,
             "the scene needs %.1f MiB in %.200s, and there are %.1f MiB left; free some, or name "
             "another folder by FEELER_CACHE",
             (double)total / mib, s->folder, (double)free_bytes / mib);
    fail(s, sentence);
    return true;
}

static void on_file(flr_share *s, const flr_msg_peer_file *file)
{
    if (s->phase == FLR_SHARE_LISTING && file->files == 0) {
        on_none(s);
        return;
    }
    if (s->phase != FLR_SHARE_LISTING || file->files == 0 || file->files > FLR_SHARE_FILES ||
        file->file != s->file_count || file->hash_count != 4 || !file->name.size ||
        !is_safe(file->name.bytes) || file->size == 0 || file->size > (uint64_t)4 << 30)
        return;
    if (!s->files) s->files = calloc(FLR_SHARE_FILES, sizeof *s->files);
    if (!s->files) {
        fail(s, "no memory for the list of files");
        return;
    }
    flr_share_file *to = &s->files[s->file_count], old = *to;
    snprintf(to->name, sizeof to->name, "%s", file->name.bytes);
    to->size = file->size;
    to->hash = (flr_hash){.low = file->hash[0] | (uint64_t)file->hash[1] << 32,
                          .high = file->hash[2] | (uint64_t)file->hash[3] << 32};
    // what was whole before somebody else was asked still is, where it is the same
    bool same = strcmp(old.name, to->name) == 0 && flr_hash_equal(old.hash, to->hash);
    if (!same && s->file_at > s->file_count) s->file_at = s->file_count;
    s->file_count++;
    s->scene_ns = flr_share_now(s);
    if (too_much(s, s->file_count == file->files) || s->file_count < file->files) return;
    if (s->file_at >= s->file_count) s->file_at = s->file_count - 1;
    s->phase = FLR_SHARE_FETCHING;
    s->ask_file = s->file_at;
    s->ask_offset = s->ask_count = 0;
    begin_file(s);
}

static void on_piece(flr_share *s, const flr_msg_peer_piece *piece)
{
    if (s->phase != FLR_SHARE_FETCHING || !s->output || piece->file != s->file_at ||
        piece->offset != s->got)
        return;
    flr_error error;
    uint64_t left = s->files[s->file_at].size - s->got;
    if (piece->bytes_count == 0 || piece->bytes_count > left ||
        (piece->bytes_count < SHARE_SCENE_PIECE && piece->bytes_count < left)) {
        fail(s, "a file of the scene is not there any more; join again");
        end_output(s);
        return;
    }
    if (flr_output_write(s->output, piece->bytes, piece->bytes_count, &error) != FLR_OK) {
        fail(s, error.message);
        end_output(s);
        return;
    }
    flr_hasher_add(&s->hasher, piece->bytes, piece->bytes_count);
    s->got += piece->bytes_count;
    if (s->ask_count) s->ask_count--;
    s->scene_ns = flr_share_now(s);
    if (s->got == s->files[s->file_at].size) end_file(s);
}

bool flr_share_scene_message(flr_share *s, uint16_t member, const flr_message *m)
{
    switch (m->id) {
    case FLR_MSG_PEER_FILES_ASK:
        if (s->can_send)
            send_list(s, member);
        else if (s->phase == FLR_SHARE_READY)
            send_none(s, member);
        return true;
    case FLR_MSG_PEER_FETCH:
        send_piece(s, member, &m->as.peer_fetch);
        return true;
    case FLR_MSG_PEER_FILE:
        if (member == s->source) on_file(s, &m->as.peer_file);
        return true;
    case FLR_MSG_PEER_PIECE:
        if (member == s->source) on_piece(s, &m->as.peer_piece);
        return true;
    default:
        return false;
    }
}

/* ---- how far it is ---- */

static void become_ready(flr_share *s)
{
    flr_hash hash = scene_hash(s);
    if (s->def.join && !flr_hash_equal(hash, s->scene)) {
        fail(s, "the scene here is not the one of the session; do both sides run the same feeler?");
        return;
    }
    s->phase = FLR_SHARE_READY;
    flr_share_params_begin(s);
    flr_session_set_scene(s->session, hash);
    if (!s->parts) flr_share_take_parts(s);
    // so that a guest with a scene of its own, or one that comes back, has the same places
    for (uint32_t i = 0; !s->def.join && i < s->part_count; i++)
        if (s->parts[i].kind != FLR_PART_STATIC)
            flr_session_set_place(s->session, i, s->parts[i].known);
    flr_session_ready(s->session, true);
}

void flr_share_scene_in(flr_share *s)
{
    // in again after having been away: the scene is there
    if (s->phase == FLR_SHARE_READY) {
        flr_share_params_begin(s);
        flr_session_ready(s->session, true);
    }
    s->scene_ns = 0;
    s->was_in = true;
}

void flr_share_scene_job(flr_share *s, const flr_engine_job *job)
{
    if (!s->job || job->job != s->job || job->state != FLR_WIRE_JOB_ENDED) return;
    s->job = 0;
    if (s->phase == FLR_SHARE_SAVING) {
        if (job->result == FLR_OK && begin_listing(s)) return;
        if (job->result == FLR_OK) cannot_send(s, "the controller is out of memory");
        become_ready(s);
    } else if (s->phase == FLR_SHARE_LOADING) {
        if (job->result != FLR_OK)
            fail(s, job->sentence);
        else
            become_ready(s);
    }
}

/* All parts have voxels and are in the loop. */
static bool has_scene(const flr_share *s)
{
    flr_engine_part part;
    uint32_t i = 0;
    for (; flr_engine_part_at(s->def.engine, i, &part); i++)
        if (!part.ready) return false;
    return i > 0;
}

/* A guest that was admitted and then lost all members with the scene stops waiting. */
static void give_up(flr_share *s, int64_t now)
{
    bool wants = s->def.join && s->folder &&
                 (s->phase == FLR_SHARE_NONE || s->phase == FLR_SHARE_LISTING ||
                  s->phase == FLR_SHARE_FETCHING);
    if (!wants || !s->was_in || (flr_session_is_in(s->session) && find_source(s)))
        s->alone_since_ns = 0;
    else if (!s->alone_since_ns)
        s->alone_since_ns = now;
    else if (now - s->alone_since_ns > alone_ns)
        fail(s, "nobody who has the scene is heard any more: it did not come whole. Join again "
                "when somebody shares it");
}

void flr_share_scene_service(flr_share *s)
{
    int64_t now = flr_share_now(s);
    give_up(s, now);
    if (s->listing && take_listing(s)) become_ready(s);
    if (!flr_session_is_in(s->session)) return;
    if (s->phase == FLR_SHARE_NONE && !s->def.join) {
        char path[FLR_CACHE_PATH_SIZE];
        if (!has_scene(s)) return;
        // what moves during the save is sent afterwards
        flr_share_take_parts(s);
        s->phase = FLR_SHARE_SAVING;
        if (!s->folder) {
            become_ready(s);
            return;
        }
        path_of(s, "scene.json", path);
        flr_error error;
        if (flr_path_make_folder(s->def.env, s->folder, &error) != FLR_OK ||
            flr_engine_save(s->def.engine, path, &s->job, &error) != FLR_OK) {
            cannot_send(s, error.message);
            become_ready(s);
        }
        return;
    }
    if (s->phase == FLR_SHARE_NONE && s->def.join && (!s->folder || has_scene(s))) {
        // it came with a scene of its own
        if (has_scene(s)) become_ready(s);
        return;
    }
    // from somebody else perhaps
    if (s->phase == FLR_SHARE_NONE || is_stuck(s, now)) {
        uint16_t source = find_source(s);
        if (!source) return;
        s->source = source;
        end_output(s);
        s->file_count = 0;
        s->phase = FLR_SHARE_LISTING;
        s->scene_ns = now;
        flr_message m = {.id = FLR_MSG_PEER_FILES_ASK};
        if (flr_session_send(s->session, s->source, &m) != FLR_OK) s->phase = FLR_SHARE_NONE;
    }
    if (s->phase == FLR_SHARE_FETCHING) fetch(s);
}

bool flr_share_progress(const flr_share *s, uint64_t *done, uint64_t *total)
{
    *done = *total = 0;
    if (s->phase != FLR_SHARE_FETCHING) return false;
    for (uint32_t i = 0; i < s->file_count; i++) {
        *total += s->files[i].size;
        if (i < s->file_at) *done += s->files[i].size;
    }
    *done += s->got;
    return true;
}
