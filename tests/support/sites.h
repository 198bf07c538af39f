/* sites.h: a shared session of whole controllers under simulated clocks, network and disks: each site has an engine with its
 * physics and loop, its share in the session, a scene that travels, and a user whose hand goes where it is told.
 *
 *     flr_test_sites s;
 *     flr_test_sites_begin(&s, 1, &flr_test_lan, 3, 1000);
 *     flr_test_sites_open(&s);
 *     s.sites[1].to = flr_vec3_make(0, 0, 0.1);
 *     flr_test_sites_pass(&s, 2);
 *     flr_test_sites_end(&s);
 *
 * While time passes it is checked that no part has two owners of one epoch, that somebody leads again in time, that couplings
 * give no more than they got, and that nobody who was in fails. */
#ifndef FLR_TEST_SITES_H
#define FLR_TEST_SITES_H

#include "collab/share.h"
#include "support/accounts.h"
#include "support/shared.h"

/* MOVED: parts that can be taken, "block" and "brick" (1 and 2), above a plate (0) */
enum { FLR_TEST_SITES = 3, FLR_TEST_MOVED = 2 };

typedef struct flr_test_site {
    struct flr_test_sites *session;
    flr_env *env;
    flr_address address;
    flr_engine *engine;
    flr_share *share;
    bool up, joined;
    int64_t frame_ns, service_ns, due_ns;
    uint64_t scene_limit; /* of what it takes from others; 0: the default */
    double slow;          /* a host that does not keep up runs every so-many-th frame */
    flr_vec3 at, to;      /* the hand, and where it goes at 0.3 m/s */
    bool press;
    double energy;
    double released;                      /* s: when its user let go last */
    char warning[FLR_ERROR_MESSAGE_SIZE]; /* the last one */
} flr_test_site;

typedef struct flr_test_sites {
    flr_sim *sim;
    flr_test_random random;
    flr_test_site sites[FLR_TEST_SITES];
    uint32_t count;
    /* what users do by themselves, every 0.2 to 1 s; NULL: nothing */
    void (*play)(flr_test_site *site);
    bool busy; /* users take parts */
    double rate, voxel;
    flr_part_kind kind; /* of what can be taken */
    uint32_t moved;     /* how many that are: FLR_TEST_MOVED, or those and small ones in rows */
    uint64_t seed, frames;
    flr_test_accounts accounts;
    bool ghosted;      /* something was in the way of a part for longer than patience */
    double leaderless; /* s: since when, because the leader crashed; 0: it did not */
    bool failed;
    bool
        by_chance; /* one of many by their seeds: it goes on when it fails, and says how to run it again */
} flr_test_sites;

/* `count` sites, none of them up; `rate` frames per second. */
void flr_test_sites_begin(flr_test_sites *sites, uint64_t seed, const flr_sim_network *network,
                          uint32_t count, double rate);
/* Fails the test where a check did, unless it is a random one. */
void flr_test_sites_end(flr_test_sites *sites);

/* A controller starts; the one without a host has the scene, the others get it. */
void flr_test_site_start(flr_test_site *site, const flr_test_site *host);
void flr_test_site_stop(flr_test_site *site);
/* Who is not up joins the first. */
void flr_test_sites_join(flr_test_sites *sites);
/* All who are up have the scene, within so many seconds. */
void flr_test_sites_await_ready(flr_test_sites *sites, double seconds);
/* The first starts, all others join, and have the scene. */
void flr_test_sites_open(flr_test_sites *sites);

double flr_test_sites_now(const flr_test_sites *sites); /* s */
void flr_test_sites_pass(flr_test_sites *sites, double seconds);

/* False: it does not show such a part. */
bool flr_test_site_pose(flr_test_site *site, uint32_t index, flr_pose *pose);
/* How far instances are apart, at most; metres, and rad by `turn`. */
double flr_test_sites_apart(flr_test_sites *sites, double *turn);
/* All have everything at the same place, and nobody is busy with anything. */
bool flr_test_sites_agree(flr_test_sites *sites);
/* Prints what each site knows. */
void flr_test_sites_describe(flr_test_sites *sites);

/* a parameter that changes nothing here but itself: impulses are not used */
double flr_test_site_restitution(const flr_test_site *site);
void flr_test_site_set_restitution(flr_test_site *site, double value);

/* Says once what does not hold; the session goes on, so that those after it are tried, too. */
void flr_test_sites_check(flr_test_sites *sites, bool holds, const char *condition);
#define sites_check(sites, condition) flr_test_sites_check(sites, condition, #condition)

#endif
