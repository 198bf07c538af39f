/* client_requests.h: waiting, for the sources of the client. Thread: any. */
#ifndef FLR_CLIENT_CLIENT_REQUESTS_H
#define FLR_CLIENT_CLIENT_REQUESTS_H

#include "feeler/client.h"

/* A moment so many seconds from now, by the clock of waits. */
int64_t flr_client_deadline(double seconds);

/* With the lock held: waits for news. False: the moment has come. */
bool flr_client_wait(flr_client *client, int64_t until_ns);

#endif
