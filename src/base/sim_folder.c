/* simulation: locks and whole folders of the disk in memory */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sim.h"

/* Costs no time and cannot fail: it does not reach the disk. */
int flr_sim_file_lock(flr_file *file)
{
    const sim_node *node = (const sim_node *)file->env;
    sim_file *mine = (sim_file *)file;
    sim_inode *inode = mine->inode;
    if (!node->up || mine->crashes != node->crashes) return EIO;
    if (node->disk.def.no_locks) return ENOTSUP;
    // those who went down with the node hold nothing
    const sim_file *holder = (const sim_file *)inode->locked;
    if (holder && holder != mine && holder->crashes == node->crashes) return EWOULDBLOCK;
    inode->locked = file;
    for (size_t i = 0; i < node->disk.now.count; i++)
        if (node->disk.now.entries[i].inode == inode) return 0;
    return ESTALE;
}

int flr_sim_tree_remove(flr_env *env, const char *path)
{
    char **names = NULL;
    size_t count = 0;
    int first = flr_sim_folder_list(env, path, &names, &count);
    if (first && first != ENOTDIR) return first;
    first = 0;
    for (size_t i = 0; i < count; i++) {
        char *inside;
        int code = asprintf(&inside, "%s/%s", path, names[i]) < 0 ? ENOMEM : 0;
        if (!code) {
            code = flr_sim_tree_remove(env, inside);
            free(inside);
        }
        if (code && !first) first = code;
        free(names[i]);
    }
    free(names);
    int code = flr_sim_path_remove(env, path);
    return first ? first : code;
}

int flr_sim_folder_tighten(flr_env *env, const char *path, unsigned flags)
{
    (void)env, (void)path, (void)flags; // there are no access rights and no links here
    return 0;
}
