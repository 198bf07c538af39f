/* doctor.h: the checks of `feeler doctor`. Each says one thing through flr_doctor_say(). */
#ifndef FLR_DOCTOR_H
#define FLR_DOCTOR_H

#include <jansson.h>

#include "command.h"

typedef struct flr_doctor flr_doctor;

/* One line: what `value` is, whether that is fine, and if not, what to do. `numbers` (taken over,
 * may be NULL) is what a program would want to read. */
void flr_doctor_say(flr_doctor *doctor, const char *name, bool fine, const char *value,
                    const char *advice, json_t *numbers);

/* doctor_machine.c */
void flr_doctor_system(flr_doctor *doctor, flr_env *env);
/* "Xeon …, 2 cores usable, avx512": for recordings and the like. Returns `text`. */
enum { FLR_MACHINE_TEXT_SIZE = 256 };
const char *flr_machine_print(char text[FLR_MACHINE_TEXT_SIZE]);
void flr_doctor_processor(flr_doctor *doctor, flr_env *env);
void flr_doctor_simd(flr_doctor *doctor, flr_env *env);
void flr_doctor_memory(flr_doctor *doctor, flr_env *env);
void flr_doctor_huge_pages(flr_doctor *doctor, flr_env *env);
void flr_doctor_cache(flr_doctor *doctor, flr_env *env);
void flr_doctor_import(flr_doctor *doctor, flr_env *env);
void flr_doctor_terminal(flr_doctor *doctor, flr_env *env);

/* doctor_time.c */
void flr_doctor_realtime(flr_doctor *doctor, flr_env *env);
void flr_doctor_locked(flr_doctor *doctor, flr_env *env);
void flr_doctor_clock(flr_doctor *doctor, flr_env *env);

/* doctor_loop.c */
void flr_doctor_timer(flr_doctor *doctor, flr_env *env);
void flr_doctor_kernel(flr_doctor *doctor, flr_env *env);
void flr_doctor_governor(flr_doctor *doctor, flr_env *env);
void flr_doctor_isolated(flr_doctor *doctor, flr_env *env);

/* doctor_devices.c */
void flr_doctor_devices(flr_doctor *doctor, flr_env *env);

/* doctor_usb.c: what is plugged in and known, in /sys below the environment's FEELER_DOCTOR_ROOT (default: /) */
void flr_doctor_usb(flr_doctor *doctor);

/* doctor_share.c */
void flr_doctor_share(flr_doctor *doctor, flr_env *env);

/* The first line of a small file such as those under /sys, without its newline, from the heap
 * (free); NULL when it cannot be read. */
char *flr_doctor_first_line(const char *path);

#endif
