/* reads messages.def with the macros that are defined, takes other rows as nothing, and clears all macros
 *
 * No include guard: it is read several times. */
/* clang-format off */
#ifndef FLR_ENUM
#define FLR_ENUM(name, doc)
#endif
#ifndef FLR_VALUE
#define FLR_VALUE(NAME, number, doc)
#endif
#ifndef FLR_ENUM_END
#define FLR_ENUM_END(name)
#endif
#ifndef FLR_BITS
#define FLR_BITS(name, doc)
#endif
#ifndef FLR_BIT
#define FLR_BIT(NAME, bit, doc)
#endif
#ifndef FLR_BITS_END
#define FLR_BITS_END(name)
#endif
#ifndef FLR_STRUCT
#define FLR_STRUCT(name, doc)
#endif
#ifndef FLR_STRUCT_END
#define FLR_STRUCT_END(name)
#endif
#ifndef FLR_MESSAGE
#define FLR_MESSAGE(id, NAME, name, KIND, DIRECTION, doc)
#endif
#ifndef FLR_MESSAGE_END
#define FLR_MESSAGE_END(name)
#endif
#ifndef FLR_V
#define FLR_V(type, field, doc)
#endif
#ifndef FLR_S
#define FLR_S(type, field, doc)
#endif
#ifndef FLR_E
#define FLR_E(type, field, doc)
#endif
#ifndef FLR_T
#define FLR_T(field, max, doc)
#endif
#ifndef FLR_L
#define FLR_L(type, field, max, group, doc)
#endif
#ifndef FLR_LS
#define FLR_LS(type, field, max, doc)
#endif
#ifndef FLR_SINCE
#define FLR_SINCE(minor)
#endif
/* commands are messages; what else commands.def says about them is for command_rows.h */
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc) FLR_MESSAGE(id, NAME, name, COMMAND, TO_CONTROLLER, doc)
#define FLR_COMMAND_END(name) FLR_MESSAGE_END(name)
#define FLR_LOOP_COMMAND(NAME, name, LATE, journal, doc)
#define FLR_A(type, field, doc)
#define FLR_LOOP_COMMAND_END(name)
#define FLR_JOURNAL(NAME, name, word, REPLAY, doc)
#define FLR_J(type, field, doc)
#define FLR_JOURNAL_END(name)
#include "protocol/messages.def"
#undef FLR_ENUM
#undef FLR_VALUE
#undef FLR_ENUM_END
#undef FLR_BITS
#undef FLR_BIT
#undef FLR_BITS_END
#undef FLR_STRUCT
#undef FLR_STRUCT_END
#undef FLR_MESSAGE
#undef FLR_MESSAGE_END
#undef FLR_V
#undef FLR_S
#undef FLR_E
#undef FLR_T
#undef FLR_L
#undef FLR_LS
#undef FLR_SINCE
#undef FLR_COMMAND
#undef FLR_COMMAND_END
#undef FLR_LOOP_COMMAND
#undef FLR_A
#undef FLR_LOOP_COMMAND_END
#undef FLR_JOURNAL
#undef FLR_J
#undef FLR_JOURNAL_END
