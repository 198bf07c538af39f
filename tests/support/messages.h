/* messages.h: messages with any values, made from the protocol's table */
#ifndef FLR_TEST_MESSAGES_H
#define FLR_TEST_MESSAGES_H

#include "protocol/codec.h"
#include "support/test.h"

/* A message of this type. Texts and lists are `items` long at most (numbers in groups: groups). What it points to is
 * allocated and belongs to the caller: free with flr_test_message_free(). The same random numbers give the same message
 * everywhere. */
flr_message flr_test_message(const flr_wire_message *type, flr_test_random *random, uint32_t items);
void flr_test_message_free(flr_message *message);

/* One line of JSON with all fields of a decoded message, for other languages to compare: numbers with 17 digits, an
 * infinite one as null. */
void flr_test_message_print(const flr_message *message, FILE *out);

/* Hexadecimal digits to bytes; how many. */
size_t flr_test_unhex(const char *text, uint8_t *bytes, size_t capacity);

#endif
