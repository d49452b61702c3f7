/* The tables of the job: its sizes are in simulator_data.h, its values in simulator_data.c. */
#ifndef SIMULATOR_TABLES_H
#define SIMULATOR_TABLES_H

#include "simulator_data.h"

#define SIMULATOR_ROOM(n) ((n) > 0 ? (n) : 1) /* an array has at least one entry */

#ifdef __cplusplus
extern "C" {
#endif

/* The events of one guard: their name and kind, whether the state jumps, and when they count as rest. */
typedef struct simulator_mark {
    const char *name;
    int kind;
    int jumps;
    double shortest; /* [s] */
    int least;
    int stays;
} simulator_mark;

/* The domain of a formula: its ends, whether its derivative is infinite there, and the message beyond it. */
typedef struct simulator_domain {
    double low;
    double high;
    int steep;
    const char *sentence;
} simulator_domain;

/* A gimbal: the place in q of its second angle, one of its singular angles [rad], and the message there. */
typedef struct simulator_gimbal {
    int second;
    double angle;
    const char *sentence;
} simulator_gimbal;

extern const char *const simulator_model_name;
extern const char *const simulator_method;
extern const char *const simulator_header;                                  /* the first line of a file of samples */
extern const double simulator_memory[SIMULATOR_MEMORY];                     /* of the march, at the initial state */
extern const double simulator_u[SIMULATOR_ROOM(SIMULATOR_NU)];              /* inputs */
extern const double simulator_p[SIMULATOR_ROOM(SIMULATOR_NP)];              /* parameters */
extern const double simulator_limits[6];                                    /* see simulator.h */
extern const double simulator_times[SIMULATOR_ROOM(SIMULATOR_TIMES)];       /* sample times, if they are a list [s] */
extern const double simulator_clocks[SIMULATOR_ROOM(SIMULATOR_CLOCKS)][3];  /* ticks at (first + k step) / parts */
extern const int simulator_moves[SIMULATOR_ROOM(SIMULATOR_NQ)][2];          /* first velocity of a coordinate, count */
extern const char *const simulator_names[SIMULATOR_ROOM(SIMULATOR_COLUMNS)]; /* of q, v, x, m, u and p */
extern const char *const simulator_units[SIMULATOR_ROOM(SIMULATOR_COLUMNS)];
extern const char *const simulator_curves[SIMULATOR_ROOM(SIMULATOR_CURVES)]; /* titles in a file for gnuplot */
extern const char *const simulator_variables[SIMULATOR_ROOM(SIMULATOR_NS)];  /* entries of the state in messages */
extern const char *const simulator_owners[SIMULATOR_ROOM(SIMULATOR_NM)];     /* elements to which memory belongs */
extern const char *const simulator_kinds[SIMULATOR_KINDS];                   /* of events */
extern const char *const simulator_sentences[SIMULATOR_SENTENCES];           /* with gaps, the characters 1 to 8 */
extern const simulator_mark simulator_marks[SIMULATOR_ROOM(SIMULATOR_GUARDS)];
extern const simulator_domain simulator_domains[SIMULATOR_ROOM(SIMULATOR_DOMAINS)];
#if SIMULATOR_USER
const char *simulator_user_trouble(void); /* what code of the user returned that is not finite; NULL if nothing */
#endif
extern const simulator_gimbal simulator_gimbals[SIMULATOR_ROOM(SIMULATOR_GIMBALS)];

#ifdef __cplusplus
}
#endif

#endif
