/* host_address.h: where a host is that somebody joins. */
#ifndef FLR_HOST_ADDRESS_H
#define FLR_HOST_ADDRESS_H

#include "feeler/env.h"

/* HOST[:PORT], a name or a number; [HOST]:PORT where the number has colons. */
flr_result flr_host_address(const char *text, flr_address *address, flr_error *error);

#endif
