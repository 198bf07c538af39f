#include "support/shared.h"

const flr_sim_network flr_test_lan = {.delay_ns = FLR_SIM_MS, .udp_buffer = 1 << 20};

flr_sim_network flr_test_bad_network(uint64_t seed, flr_test_random *random)
{
    flr_sim_network network = flr_test_lan;
    network.delay_ns =
        (int64_t)(flr_test_random_range(random, 0, 1) * flr_test_random_range(random, 0, 1) * 1e9);
    if (seed % 16 == 0) network.delay_ns = FLR_SIM_S;
    network.jitter_ns = (int64_t)(flr_test_random_range(random, 0, 0.05) * 1e9);
    network.loss = flr_test_random_range(random, 0, 0.2);
    network.duplicate = flr_test_random_range(random, 0, 0.1);
    network.reorder = flr_test_random_range(random, 0, 0.1);
    network.reorder_ns = 20 * FLR_SIM_MS;
    return network;
}

void flr_test_print_membership(const flr_membership *membership)
{
    printf("epoch %u of %u, membership %u:", membership->epoch.count, membership->epoch.leader,
           membership->number);
    for (uint32_t i = 0; i < membership->member_count; i++)
        printf(" %u%s", membership->members[i].member,
               membership->members[i].away ? " (away)" : "");
    for (uint32_t i = 0; i < membership->part_count; i++) {
        const flr_membership_part *p = &membership->parts[i];
        printf("; part %u number %u frozen %u, held by", p->part, p->number, p->frozen);
        for (uint32_t k = 0; k < p->holder_count; k++) printf(" %u", p->holders[k]);
        printf(", owed by");
        for (uint32_t k = 0; k < p->unsettled_count; k++) printf(" %u", p->unsettled[k]);
    }
}
