/* reads commands.def with the macros that are defined, takes other rows as nothing, and clears all macros. The fields of messages are
 * left out: commands use the message's body.
 *
 * No include guard: it is read several times. */
/* clang-format off */
#ifndef FLR_COMMAND
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc)
#endif
#ifndef FLR_COMMAND_END
#define FLR_COMMAND_END(name)
#endif
#ifndef FLR_LOOP_COMMAND
#define FLR_LOOP_COMMAND(NAME, name, LATE, journal, doc)
#endif
#ifndef FLR_LOOP_COMMAND_END
#define FLR_LOOP_COMMAND_END(name)
#endif
#ifndef FLR_A
#define FLR_A(type, field, doc)
#endif
#ifndef FLR_JOURNAL
#define FLR_JOURNAL(NAME, name, word, REPLAY, doc)
#endif
#ifndef FLR_JOURNAL_END
#define FLR_JOURNAL_END(name)
#endif
#ifndef FLR_J
#define FLR_J(type, field, doc)
#endif
#define FLR_V(type, field, doc)
#define FLR_E(type, field, doc)
#define FLR_SINCE(minor)
#include "protocol/commands.def"
#undef FLR_COMMAND
#undef FLR_COMMAND_END
#undef FLR_LOOP_COMMAND
#undef FLR_LOOP_COMMAND_END
#undef FLR_A
#undef FLR_JOURNAL
#undef FLR_JOURNAL_END
#undef FLR_J
#undef FLR_V
#undef FLR_E
#undef FLR_SINCE
