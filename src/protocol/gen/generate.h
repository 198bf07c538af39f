/* the parts of flr_protocol_gen: each prints what takes the place of a line @NAME@ in a template */
#ifndef FLR_PROTOCOL_GEN_GENERATE_H
#define FLR_PROTOCOL_GEN_GENERATE_H

#include <stdio.h>

#include "protocol/codec.h"
#include "protocol/message_table.h"

void flr_gen_page_messages(FILE *out); /* docs: a section for each message */
void flr_gen_page_types(FILE *out);    /* docs: structures, enumerations, bits */
void flr_gen_script_table(FILE *out);  /* the table for the page's codec */
void flr_gen_script_types(FILE *out);  /* the same for TypeScript */
void flr_gen_dictionary(FILE *out);    /* for libFuzzer */

#endif
