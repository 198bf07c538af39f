/* simulation: a disk in memory that can be slow, short, full or broken, and loses what was not
 * synced when its node goes down */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sim.h"

/* ---- operations: time and faults ---- */

static int64_t delay(sim_disk_state *disk)
{
    const flr_sim_disk *def = &disk->def;
    if (def->jitter_ns <= 0) return def->operation_ns;
    return def->operation_ns + flr_sim_random_below(&disk->random, def->jitter_ns + 1);
}

static int64_t transfer(const sim_disk_state *disk, size_t bytes)
{
    double rate = disk->def.bytes_per_second;
    return rate > 0 ? (int64_t)((double)bytes / rate * 1e9) : 0;
}

/* every operation is counted here, and may fail */
static int count(flr_env *env)
{
    sim_node *node = (sim_node *)env;
    flr_sim *sim = node->sim;
    sim_disk_state *disk = &node->disk;
    if (!node->up) return EIO;
    sim->stats.operations++;
    disk->operation++;
    uint64_t n = disk->operation, at = disk->def.fail_at;
    bool fails = at > 0 && (n == at || (disk->def.fail_on && n > at));
    if (flr_sim_random_chance(&disk->random, disk->def.failure)) fails = true;
    if (!fails) return 0;
    sim->stats.failures++;
    if (disk->def.how == FLR_SIM_CRASH) flr_sim_crash(env);
    return disk->def.how == FLR_SIM_DISK_FULL ? ENOSPC : EIO;
}

/* … and takes its time, all but reads at once */
static int begin(flr_env *env, size_t bytes)
{
    sim_node *node = (sim_node *)env;
    if (!node->up) return EIO;
    node->sim->now_ns += delay(&node->disk) + transfer(&node->disk, bytes);
    return count(env);
}

/* ---- names ---- */

/* `path` from the root without ".", "..", doubled or trailing slashes */
static char *tidy(const char *path)
{
    char *result = malloc(strlen(path) + 2);
    if (!result) return NULL;
    size_t used = 0;
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length == 2 && path[0] == '.' && path[1] == '.') {
            while (used > 0 && result[--used] != '/') {}
        } else if (length > 0 && !(length == 1 && path[0] == '.')) {
            result[used++] = '/';
            memcpy(result + used, path, length);
            used += length;
        }
        path += length;
        path += strspn(path, "/");
    }
    if (used == 0) result[used++] = '/';
    result[used] = 0;
    return result;
}

static sim_entry *find(const sim_names *names, const char *path)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->entries[i].path, path) == 0) return &names->entries[i];
    return NULL;
}

static bool is_root(const char *path) { return path[0] == '/' && path[1] == 0; }

/* does `path` lie directly in `folder`? */
static bool lies_in(const char *path, const char *folder)
{
    size_t length = is_root(folder) ? 0 : strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1] &&
           !strchr(path + length + 1, '/');
}

static void drop_inode(sim_inode *inode)
{
    if (!inode || --inode->references > 0) return;
    free(inode->bytes);
    free(inode->synced);
    free(inode);
}

/* takes over the path on success */
static int add_entry(sim_names *names, char *path, sim_inode *inode)
{
    if (!FLR_GROW(names->entries, names->count, names->capacity, 16)) return ENOMEM;
    names->entries[names->count++] = (sim_entry){path, inode};
    if (inode) inode->references++;
    return 0;
}

static void remove_entry(sim_names *names, sim_entry *entry)
{
    free(entry->path);
    drop_inode(entry->inode);
    *entry = names->entries[--names->count];
}

static void free_names(sim_names *names)
{
    while (names->count > 0) remove_entry(names, &names->entries[names->count - 1]);
    free(names->entries);
    *names = (sim_names){0};
}

/* is the folder there that a path lies in? */
static int check_parent(const sim_names *names, const char *path)
{
    char *parent = flr_path_parent(path);
    if (!parent) return ENOMEM;
    int code = 0;
    if (!is_root(parent)) {
        const sim_entry *entry = find(names, parent);
        code = !entry ? ENOENT : entry->inode ? ENOTDIR : 0;
        if (code == ENOENT && check_parent(names, parent) == ENOTDIR) code = ENOTDIR;
    }
    free(parent);
    return code;
}

/* begins an operation on a path; `*whole` is to be freed where 0 is returned */
static int begin_path(flr_env *env, const char *path, char **whole)
{
    int code = begin(env, 0);
    if (code) return code;
    *whole = tidy(path);
    return *whole ? 0 : ENOMEM;
}

static sim_names *names_of(flr_env *env) { return &((sim_node *)env)->disk.now; }

/* ---- files ---- */

static int make_inode(sim_node *node, char **path, sim_inode **made)
{
    int code = check_parent(&node->disk.now, *path);
    if (code) return code;
    sim_inode *inode = calloc(1, sizeof *inode);
    if (!inode) return ENOMEM;
    inode->dirty = true;
    inode->modified_ns = flr_clock_wall_ns(&node->base);
    code = add_entry(&node->disk.now, *path, inode);
    if (code) {
        free(inode);
        return code;
    }
    *path = NULL; // belongs to the entry now
    *made = inode;
    return 0;
}

int flr_sim_file_open(flr_env *env, const char *path, flr_file_mode mode, unsigned flags,
                      const char *like, flr_file **file)
{
    (void)like, (void)flags; // there are no access rights and no links here
    sim_node *node = (sim_node *)env;
    sim_file *opened = calloc(1, sizeof *opened);
    if (!opened) return ENOMEM;
    char *whole = NULL;
    int code = begin_path(env, path, &whole);
    if (!code) {
        const sim_entry *entry = find(&node->disk.now, whole);
        bool folder = is_root(whole) || (entry && !entry->inode);
        if (mode == FLR_FILE_CREATE)
            code = entry || folder ? EEXIST : make_inode(node, &whole, &opened->inode);
        else if (folder)
            code = EISDIR;
        else if (entry)
            opened->inode = entry->inode;
        else
            code = check_parent(&node->disk.now, whole) == ENOTDIR ? ENOTDIR : ENOENT;
    }
    free(whole);
    if (code) {
        free(opened);
        return code;
    }
    opened->inode->references++;
    opened->mode = mode;
    opened->crashes = node->crashes;
    node->disk.open_files++;
    *file = &opened->base;
    return 0;
}

/* begins an operation on a file; one that was open when its node went down is lost */
static int begin_file(flr_file *file, size_t bytes)
{
    const sim_node *node = (const sim_node *)file->env;
    if (((sim_file *)file)->crashes != node->crashes) return EIO;
    return begin(file->env, bytes);
}

static size_t left_in(const sim_inode *inode, uint64_t offset, size_t wanted)
{
    size_t left = offset < inode->size ? inode->size - (size_t)offset : 0;
    return wanted < left ? wanted : left;
}

/* what comes of a read: all of it, or less */
static size_t read_out(flr_file *file, uint64_t offset, void *bytes, size_t wanted)
{
    sim_node *node = (sim_node *)file->env;
    const sim_inode *inode = ((sim_file *)file)->inode;
    size_t got = left_in(inode, offset, wanted);
    if (got > 1 && flr_sim_random_chance(&node->disk.random, node->disk.def.short_read)) {
        got = 1 + (size_t)flr_sim_random_below(&node->disk.random, (int64_t)got - 1);
        node->sim->stats.short_reads++;
    }
    if (got > 0) memcpy(bytes, inode->bytes + offset, got);
    return got;
}

int flr_sim_file_read(flr_file *file, uint64_t offset, void *bytes, size_t wanted, size_t *got)
{
    int code = begin_file(file, left_in(((sim_file *)file)->inode, offset, wanted));
    if (code) return code;
    *got = read_out(file, offset, bytes, wanted);
    return 0;
}

/* ---- reads at once ---- */

typedef struct sim_read {
    uint64_t id, offset;
    void *bytes;
    size_t wanted;
    int64_t due_ns; /* by the simulation's clock */
    int code;
} sim_read;

typedef struct sim_reads {
    flr_reads base;
    sim_read list[]; /* [under_way], in the order of asking */
} sim_reads;

int flr_sim_reads_open(flr_file *file, unsigned depth, flr_reads **reads)
{
    (void)file;
    sim_reads *made = calloc(1, sizeof *made + depth * sizeof made->list[0]);
    if (!made) return ENOMEM;
    *reads = &made->base;
    return 0;
}

void flr_sim_reads_add(flr_reads *reads, uint64_t id, uint64_t offset, void *bytes, size_t wanted)
{
    flr_file *file = reads->file;
    sim_node *node = (sim_node *)file->env;
    sim_disk_state *disk = &node->disk;
    int64_t now = node->sim->now_ns;
    if (disk->busy_until_ns < now) disk->busy_until_ns = now;
    disk->busy_until_ns += transfer(disk, left_in(((sim_file *)file)->inode, offset, wanted));
    bool lost = ((sim_file *)file)->crashes != node->crashes;
    sim_read one = {.id = id, .offset = offset, .bytes = bytes, .wanted = wanted};
    one.due_ns = disk->busy_until_ns + delay(disk);
    one.code = lost ? EIO : count(file->env);
    ((sim_reads *)reads)->list[reads->under_way] = one;
}

int flr_sim_reads_take(flr_reads *reads, int64_t deadline_ns, uint64_t *id, size_t *got)
{
    sim_node *node = (sim_node *)reads->file->env;
    sim_read *list = ((sim_reads *)reads)->list;
    unsigned next = 0;
    for (unsigned i = 1; i < reads->under_way; i++)
        if (list[i].due_ns < list[next].due_ns) next = i;
    int64_t deadline = deadline_ns == INT64_MAX ? deadline_ns : deadline_ns - node->ahead_ns;
    if (list[next].due_ns > deadline && list[next].due_ns > node->sim->now_ns) {
        flr_sim_move_to(node->sim, deadline);
        return ETIMEDOUT;
    }
    flr_sim_move_to(node->sim, list[next].due_ns);
    sim_read one = list[next];
    memmove(&list[next], &list[next + 1], (reads->under_way - next - 1) * sizeof one);
    *id = one.id;
    *got = one.code ? 0 : read_out(reads->file, one.offset, one.bytes, one.wanted);
    return one.code;
}

void flr_sim_reads_close(flr_reads *reads) { free(reads); }

static uint64_t bytes_on_disk(const sim_names *names)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < names->count; i++)
        if (names->entries[i].inode) sum += names->entries[i].inode->size;
    return sum;
}

/* puts bytes in place, the file growing by doubling */
static int put(sim_inode *inode, size_t offset, const void *bytes, size_t count)
{
    if (count == 0) return 0;
    size_t end = offset + count;
    if (end > inode->capacity) {
        size_t wanted = end + end / 2;
        if (!flr_array_resize(&inode->bytes, wanted, 1)) return ENOMEM;
        inode->capacity = wanted;
    }
    if (offset > inode->size) memset(inode->bytes + inode->size, 0, offset - inode->size);
    memcpy(inode->bytes + offset, bytes, count);
    if (end > inode->size) inode->size = end;
    inode->dirty = true;
    return 0;
}

int flr_sim_file_write(flr_file *file, uint64_t offset, const void *bytes, size_t count)
{
    sim_node *node = (sim_node *)file->env;
    sim_inode *inode = ((sim_file *)file)->inode;
    if (((sim_file *)file)->mode == FLR_FILE_READ) return EBADF;
    if (offset > SIZE_MAX / 4 || count > SIZE_MAX / 4) return EFBIG;
    int code = begin_file(file, count);
    // of a write that fails some part may have been done
    if (code && node->up)
        count = (size_t)flr_sim_random_below(&node->disk.random, (int64_t)count);
    else if (code)
        return code;

    // what still fits
    uint64_t capacity = node->disk.def.capacity;
    uint64_t grow = offset + count > inode->size ? offset + count - inode->size : 0;
    uint64_t used = capacity > 0 ? bytes_on_disk(&node->disk.now) : 0;
    if (capacity > 0 && used + grow > capacity) {
        uint64_t missing = used + grow - capacity;
        count -= missing < count ? (size_t)missing : count;
        if (!code) code = ENOSPC;
    }
    int put_code = put(inode, (size_t)offset, bytes, count);
    inode->modified_ns = flr_clock_wall_ns(file->env);
    return code ? code : put_code;
}

int flr_sim_file_size(flr_file *file, uint64_t *size)
{
    int code = begin_file(file, 0);
    if (!code) *size = ((sim_file *)file)->inode->size;
    return code;
}

/* what is in the file is on the disk from now on */
static int keep_content(sim_inode *inode)
{
    uint8_t *copy = malloc(inode->size + 1);
    if (!copy) return ENOMEM;
    if (inode->size > 0) memcpy(copy, inode->bytes, inode->size);
    free(inode->synced);
    inode->synced = copy;
    inode->synced_size = inode->size;
    inode->dirty = false;
    return 0;
}

int flr_sim_file_sync(flr_file *file)
{
    int code = begin_file(file, 0);
    return code ? code : keep_content(((sim_file *)file)->inode);
}

/* a copy: what happens to the file later does not show, as if it were always replaced by a rename */
int flr_sim_file_map(flr_file *file, size_t room, flr_map *map)
{
    enum { SIM_DISK_PAGE = 4096 };
    (void)room;
    const sim_inode *inode = ((sim_file *)file)->inode;
    int code = begin_file(file, inode->size);
    if (code) return code;
    if (inode->size == 0) return 0;
    uint8_t *bytes = aligned_alloc(SIM_DISK_PAGE, (inode->size + SIM_DISK_PAGE - 1) /
                                                      SIM_DISK_PAGE * SIM_DISK_PAGE);
    if (!bytes) return ENOMEM;
    memcpy(bytes, inode->bytes, inode->size);
    map->bytes = bytes;
    map->size = inode->size;
    return 0;
}

void flr_sim_file_unmap(flr_map *map) { free((void *)(uintptr_t)map->bytes); }

void flr_sim_file_close(flr_file *file)
{
    ((sim_node *)file->env)->disk.open_files--;
    if (((sim_file *)file)->inode->locked == file) ((sim_file *)file)->inode->locked = NULL;
    drop_inode(((sim_file *)file)->inode);
    free(file);
}

/* ---- paths ---- */

int flr_sim_path_look(flr_env *env, const char *path, bool follow, flr_path_info *info)
{
    (void)follow;
    char *whole;
    int code = begin_path(env, path, &whole);
    if (code) return code;
    const sim_entry *entry = find(names_of(env), whole);
    if (entry && entry->inode) {
        info->kind = FLR_PATH_FILE;
        info->size = entry->inode->size;
        info->modified_ns = entry->inode->modified_ns;
    } else if (entry || is_root(whole)) {
        info->kind = FLR_PATH_FOLDER;
    } else {
        code = ENOENT;
    }
    free(whole);
    return code;
}

int flr_sim_path_follow(flr_env *env, const char *path, char **target)
{
    int code = begin(env, 0); // there are no links here
    if (code) return code;
    *target = strdup(path);
    return *target ? 0 : ENOMEM;
}

int flr_sim_path_writable(flr_env *env, const char *path)
{
    flr_path_info info;
    int code = flr_sim_path_look(env, path, true, &info);
    return !code && info.kind == FLR_PATH_FOLDER ? EISDIR : code;
}

int flr_sim_path_rename(flr_env *env, const char *from, const char *to)
{
    sim_names *names = names_of(env);
    char *source = NULL, *target = NULL;
    int code = begin_path(env, from, &source);
    if (!code && !(target = tidy(to))) code = ENOMEM;
    if (!code) code = check_parent(names, target);
    sim_entry *moved = code ? NULL : find(names, source);
    sim_entry *replaced = code ? NULL : find(names, target);
    if (!code && !moved) code = ENOENT;
    // folders are not moved here, nor replaced
    if (!code && (!moved->inode || is_root(target))) code = EISDIR;
    if (!code && replaced && !replaced->inode) code = EISDIR;
    if (!code && moved != replaced) {
        free(moved->path);
        moved->path = target;
        target = NULL;
        if (replaced) remove_entry(names, replaced);
    }
    free(source);
    free(target);
    return code;
}

int flr_sim_path_remove(flr_env *env, const char *path)
{
    sim_names *names = names_of(env);
    char *whole;
    int code = begin_path(env, path, &whole);
    if (code) return code;
    sim_entry *entry = find(names, whole);
    if (is_root(whole))
        code = EBUSY;
    else if (!entry)
        code = ENOENT;
    for (size_t i = 0; !code && !entry->inode && i < names->count; i++)
        if (lies_in(names->entries[i].path, whole)) code = ENOTEMPTY;
    if (!code) remove_entry(names, entry);
    free(whole);
    return code;
}

int flr_sim_folder_make(flr_env *env, const char *path, bool private_)
{
    (void)private_;
    sim_names *names = names_of(env);
    char *whole;
    int code = begin_path(env, path, &whole);
    if (code) return code;
    if (is_root(whole) || find(names, whole)) code = EEXIST;
    if (!code) code = check_parent(names, whole);
    if (!code) code = add_entry(names, whole, NULL);
    if (code) free(whole);
    return code;
}

/* copies the file names of one folder (NULL: of all), in place of what the target had there */
static int copy_names(sim_names *to, const sim_names *from, const char *folder)
{
    sim_names copy = {0};
    int code = 0;
    for (int pass = 0; pass < 2; pass++) {
        const sim_names *source = pass ? from : to;
        for (size_t i = 0; !code && i < source->count; i++) {
            const sim_entry *entry = &source->entries[i];
            bool inside = !folder || lies_in(entry->path, folder);
            if (!entry->inode || inside != (pass == 1)) continue;
            char *path = strdup(entry->path);
            code = path ? add_entry(&copy, path, entry->inode) : ENOMEM;
            if (code) free(path);
        }
    }
    free_names(code ? &copy : to);
    if (!code) *to = copy;
    return code;
}

int flr_sim_folder_sync(flr_env *env, const char *path)
{
    sim_disk_state *disk = &((sim_node *)env)->disk;
    char *whole;
    int code = begin_path(env, path, &whole);
    if (code) return code;
    const sim_entry *entry = find(&disk->now, whole);
    if (!is_root(whole)) code = !entry ? ENOENT : entry->inode ? ENOTDIR : 0;
    if (!code) code = copy_names(&disk->synced, &disk->now, whole);
    free(whole);
    return code;
}

int flr_sim_folder_room(flr_env *env, const char *path, uint64_t *bytes)
{
    const sim_disk_state *disk = &((sim_node *)env)->disk;
    char *whole;
    int code = begin_path(env, path, &whole);
    if (code) return code;
    free(whole);
    uint64_t used = bytes_on_disk(&disk->now), capacity = disk->def.capacity;
    *bytes = capacity == 0 ? UINT64_MAX : capacity > used ? capacity - used : 0;
    return 0;
}

int flr_sim_folder_list(flr_env *env, const char *path, char ***names, size_t *count)
{
    const sim_names *all = names_of(env);
    char *whole;
    int code = begin_path(env, path, &whole);
    if (code) return code;
    const sim_entry *entry = find(all, whole);
    if (!is_root(whole)) code = !entry ? ENOENT : entry->inode ? ENOTDIR : 0;
    size_t used = 0;
    char **list = code ? NULL : malloc((all->count + 1) * sizeof *list);
    if (!code && !list) code = ENOMEM;
    for (size_t i = 0; !code && i < all->count; i++) {
        if (!lies_in(all->entries[i].path, whole)) continue;
        list[used] = strdup(strrchr(all->entries[i].path, '/') + 1);
        if (!list[used]) code = ENOMEM;
        used += !code;
    }
    free(whole);
    if (code) {
        while (used > 0) free(list[--used]);
        free(list);
        return code;
    }
    *names = list;
    *count = used;
    return 0;
}

bool flr_sim_cut(flr_env *env, const char *path, uint64_t size)
{
    char *whole = tidy(path);
    sim_entry *entry = whole ? find(names_of(env), whole) : NULL;
    free(whole);
    if (!entry || !entry->inode || entry->inode->size <= size) return false;
    entry->inode->size = (size_t)size;
    entry->inode->dirty = true;
    return true;
}

/* ---- crash ---- */

/* what is left of a file that was not synced: the old, the new, or a part of the new */
static void settle_inode(sim_disk_state *disk, sim_inode *inode)
{
    if (!inode->dirty) return;
    int64_t choice = flr_sim_random_below(&disk->random, 3);
    if (choice == 0) {
        inode->size = inode->synced_size;
        if (inode->size > 0) memcpy(inode->bytes, inode->synced, inode->size);
    } else if (choice == 1 && inode->size > 0) {
        size_t kept = (size_t)flr_sim_random_below(&disk->random, (int64_t)inode->size);
        memset(inode->bytes + kept, 0, inode->size - kept);
    }
    if (keep_content(inode) != 0) inode->dirty = false; // settled, though without memory to say so
}

void flr_sim_disk_crash(sim_disk_state *disk)
{
    // the folders survive; of each folder chance says whether its unsynced names do
    sim_names kept = {0};
    sim_names *now = &disk->now;
    for (size_t i = 0; i <= now->count; i++) {
        const char *folder = i < now->count ? now->entries[i].path : "/";
        if (i < now->count && now->entries[i].inode) continue;
        const sim_names *source = flr_sim_random_below(&disk->random, 2) ? now : &disk->synced;
        for (size_t k = 0; k < source->count; k++) {
            sim_entry *entry = &source->entries[k];
            if (!entry->inode || !lies_in(entry->path, folder)) continue;
            settle_inode(disk, entry->inode);
            char *path = strdup(entry->path);
            // without memory for a name the file is lost too; a crash may do that
            if (path && add_entry(&kept, path, entry->inode)) free(path);
        }
    }
    for (size_t i = 0; i < now->count; i++) {
        sim_entry *entry = &now->entries[i];
        if (entry->inode) continue;
        if (add_entry(&kept, entry->path, NULL) == 0) entry->path = NULL;
    }
    free_names(now);
    *now = kept;
    free_names(&disk->synced);
    // what is there after a crash is on the disk
    (void)copy_names(&disk->synced, &disk->now, NULL);
}

void flr_sim_disk_free(sim_disk_state *disk)
{
    free_names(&disk->now);
    free_names(&disk->synced);
}
