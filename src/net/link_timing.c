/* round trip, clocks, loss, rates */
#include "net/link_timing.h"

#include <math.h>
#include <string.h>

static const int64_t second = 1000000000, period = 10 * 1000000000ll;
/* s added to what an answer takes: the other may hold an acknowledgement back for some milliseconds, and either side may be
 * called late by its loop */
static const double slack = 0.015;
/* s while no round trip was measured yet */
static const double late_at_first = 0.3;
/* clocks of two machines drift apart by less than this: a sample becomes worse with its age */
static const double drift = 100e-6;

void flr_link_timing_begin(flr_link_timing *pulse, int64_t now)
{
    memset(pulse, 0, sizeof *pulse);
    pulse->period_ns = pulse->second_ns = now;
    pulse->bound_ns = INT64_MAX;
}

double flr_link_timing_least(const flr_link_timing *pulse)
{
    double now = pulse->least[0], before = pulse->least[1];
    if (now == 0 || before == 0) return now + before;
    return now < before ? now : before;
}

double flr_link_timing_usual(const flr_link_timing *pulse)
{
    // the deviation grows with a queue of our own, too: but not beyond what the least of a whole round trip's packets shows
    return pulse->rtt == 0 ? 0 : flr_link_timing_least(pulse) + pulse->jitter;
}

int64_t flr_link_timing_wrong(const flr_link_timing *pulse, int64_t now)
{
    if (pulse->bound_ns == INT64_MAX) return INT64_MAX;
    return pulse->bound_ns + (int64_t)((double)(now - pulse->sampled_ns) * drift);
}

double flr_link_timing_late(const flr_link_timing *pulse)
{
    return pulse->rtt == 0 ? late_at_first : pulse->rtt + 4 * pulse->jitter + slack;
}

/* one round trip; `theirs` is the middle of the time that the other had it, by its clock */
static void sample(flr_link_timing *pulse, int64_t now, int64_t trip_ns, int64_t offset_ns)
{
    double rtt = (double)trip_ns * 1e-9;
    if (pulse->rtt == 0) {
        pulse->rtt = rtt;
        pulse->jitter = rtt / 2;
    } else {
        pulse->jitter += (fabs(rtt - pulse->rtt) - pulse->jitter) / 4;
        pulse->rtt += (rtt - pulse->rtt) / 8;
    }
    // the least of two periods, so that a way that became longer is noticed after a while
    if (now - pulse->period_ns > period) {
        pulse->least[1] = pulse->least[0];
        pulse->least[0] = 0;
        pulse->period_ns = now;
    }
    if (pulse->least[0] == 0 || rtt < pulse->least[0]) pulse->least[0] = rtt;
    // the two ways may differ by all of the round trip: half of it is the bound. The best sample counts.
    int64_t bound = trip_ns / 2 + 1000; // held_us is rounded
    if (bound <= flr_link_timing_wrong(pulse, now)) {
        pulse->offset_ns = offset_ns;
        pulse->bound_ns = bound;
        pulse->sampled_ns = now;
    }
}

double flr_link_timing_came(flr_link_timing *pulse, int64_t now, uint64_t number,
                            const flr_link_timing_times *times, size_t size)
{
    pulse->in.bytes += size;
    pulse->in.packets++;
    if (number > pulse->highest) {
        pulse->highest = number;
        pulse->newest_ns = times->sent_ns;
        pulse->newest_here_ns = now;
    }
    // each echo counts once; one that says what cannot be does not count
    if (times->echo_ns <= pulse->echoed_ns || times->echo_ns > now) return 0;
    int64_t held = (int64_t)times->held_us * 1000, trip = now - times->echo_ns - held;
    if (trip < 1) trip = 1; // 0 stands for unknown
    pulse->echoed_ns = times->echo_ns;
    // when we sent the echoed one and when it came there; when this one was sent there and came here. Differences are taken
    // without sign: the other's clock may say anything
    uint64_t came_there = (uint64_t)times->sent_ns - (uint64_t)held;
    int64_t there = (int64_t)(came_there - (uint64_t)times->echo_ns);
    int64_t back = (int64_t)((uint64_t)times->sent_ns - (uint64_t)now);
    sample(pulse, now, trip, there / 2 + back / 2);
    return (double)trip * 1e-9;
}

flr_link_timing_times flr_link_timing_sent(flr_link_timing *pulse, int64_t now, size_t size)
{
    pulse->out.bytes += size;
    pulse->out.packets++;
    flr_link_timing_times times = {.sent_ns = now};
    int64_t held = (now - pulse->newest_here_ns) / 1000;
    if (pulse->newest_here_ns > 0 && held >= 0 && held < UINT32_MAX) {
        times.echo_ns = pulse->newest_ns;
        times.held_us = (uint32_t)held;
    }
    return times;
}

static void end_second(flr_link_timing_flow *flow, double duration)
{
    flow->bytes_rate = (double)(flow->bytes - flow->bytes_then) / duration;
    flow->packets_rate = (double)(flow->packets - flow->packets_then) / duration;
    flow->bytes_then = flow->bytes;
    flow->packets_then = flow->packets;
}

int64_t flr_link_timing_tick(flr_link_timing *pulse, int64_t now)
{
    if (now - pulse->second_ns < second) return pulse->second_ns + second;
    uint64_t numbered = pulse->highest - pulse->highest_then;
    if (numbered > 0) {
        double got = (double)(pulse->in.packets - pulse->in.packets_then);
        double loss = got < (double)numbered ? 1 - got / (double)numbered : 0;
        // over about four seconds; the first one counts as it is
        double weight = pulse->highest_then == 0 ? 1 : 0.25;
        pulse->loss_in += (loss - pulse->loss_in) * weight;
    }
    pulse->highest_then = pulse->highest;
    double duration = (double)(now - pulse->second_ns) * 1e-9;
    end_second(&pulse->in, duration);
    end_second(&pulse->out, duration);
    pulse->second_ns = now;
    return now + second;
}
