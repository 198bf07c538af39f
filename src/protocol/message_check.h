/* what a value has to be, in the table's words */
#ifndef FLR_PROTOCOL_MESSAGE_CHECK_H
#define FLR_PROTOCOL_MESSAGE_CHECK_H

#include <stddef.h>

#include "protocol/message_table.h"

/* Why the value at `value` (as C has it, except that a flag is a byte) cannot be, as the end of a sentence; NULL: it can. */
const char *flr_wire_check_value(const flr_wire_field *field, const void *value);

/* The same for a list of numbers, all at once. `*index`: of the first that cannot be. */
const char *flr_wire_check_list(const flr_wire_field *field, const void *items, uint32_t count,
                                uint32_t *index);

/* … and for a text. */
const char *flr_wire_check_text(const char *text, uint32_t size);

#endif
