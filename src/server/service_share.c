/* a shared session beside the clients: its packets are looked at when they come, by the thread of the service */
#include "server/service_internal.h"
#include "server/upload.h"

static const int64_t round_ns = INT64_C(5000000); /* the service is woken this often at least */
static const int64_t pause_ns = INT64_C(500000);  /* … and at most, however many packets come */

/* Waits for packets, which the service then reads, or for the time at which states are due: the service's own timers are
 * too coarse for a thousand in a second. */
static void *watch(void *context)
{
    flr_service *service = context;
    flr_env *env = service->def.engine.env;
    const int64_t period = (int64_t)(1e9 / service->share_rate);
    int64_t due = flr_clock_ns(env);
    while (!atomic_load_explicit(&service->ending, memory_order_acquire)) {
        flr_wait wait = {.socket = flr_share_socket(service->share), .wanted = FLR_WAIT_READ};
        int64_t now = flr_clock_ns(env), until = now + round_ns;
        // a round that came late does not put off the next ones
        while (due <= now) due += period * (1 + (now - due) / period);
        (void)flr_env_wait(env, &wait, 1, due < until ? due : until, NULL);
        flr_service_wake(service);
        int64_t rest = flr_clock_ns(env) + pause_ns;
        flr_sleep_until(env, due < rest ? due : rest);
    }
    return NULL;
}

flr_result flr_service_set_share(flr_service *service, const flr_share_def *def, flr_error *error)
{
    flr_share_def mine = *def;
    flr_env *env = service->def.engine.env;
    flr_result result = FLR_OK;
    mine.engine = service->engine;
    mine.env = env;
    if (def->folder) {
        result = flr_upload_folder(env, def->folder, service->shared, sizeof service->shared,
                                   &service->shared_lock, error);
        mine.folder = service->shared;
    }
    if (result == FLR_OK) result = flr_share_create(&mine, &service->share, error);
    if (result != FLR_OK) return result;
    flr_hub_set_share(service->hub, service->share);
    service->share_rate = mine.rate;
    /* without the thread packets wait for the next round, no more than that */
    service->watching = pthread_create(&service->watcher, NULL, watch, service) == 0;
    return FLR_OK;
}

flr_share *flr_service_share(const flr_service *service) { return service->share; }

void flr_service_end_share(flr_service *service)
{
    atomic_store_explicit(&service->ending, true, memory_order_release);
    if (service->watching) pthread_join(service->watcher, NULL);
    service->watching = false;
    if (service->hub) flr_hub_set_share(service->hub, NULL);
    flr_share_destroy(service->share);
    service->share = NULL;
    if (service->shared_lock)
        flr_upload_folder_remove(service->def.engine.env, service->shared, service->shared_lock);
    service->shared_lock = NULL;
    service->shared[0] = 0;
}

static json_t *members_of(const flr_session *session)
{
    json_t *members = json_array();
    flr_session_person person;
    for (uint32_t i = 0; flr_session_person_at(session, i, &person); i++)
        json_array_append_new(members, json_pack("{s:i,s:s,s:b,s:b,s:b}", "member", person.member,
                                                 "name", person.name, "leads", person.leader,
                                                 "ready", person.ready, "away", person.away));
    return members;
}

json_t *flr_service_membership(const flr_service *service)
{
    const flr_session *session = flr_share_session(service->share);
    const flr_membership *membership = flr_session_membership(session);
    flr_epoch epoch = flr_session_epoch(session);
    char address[FLR_ADDRESS_TEXT_SIZE];
    flr_address_print(flr_connections_address(flr_session_connections((flr_session *)session)),
                      address);
    json_t *owned = json_array();
    for (uint32_t i = 0; i < membership->part_count; i++)
        if (flr_session_owns(session, membership->parts[i].part))
            json_array_append_new(owned, json_integer(membership->parts[i].part));
    return json_pack("{s:s,s:i,s:[I,i],s:I,s:i,s:o,s:o}", "address", address, "self",
                     (int)flr_session_self(session), "epoch", (json_int_t)epoch.count,
                     (int)epoch.leader, "changes", (json_int_t)flr_session_changes(session),
                     "open_parts", (int)membership->part_count, "owned", owned, "list",
                     members_of(session));
}
