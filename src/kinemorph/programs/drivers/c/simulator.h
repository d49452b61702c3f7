/*
 * A model that can be advanced in time: the library form of the program, for loops of your own.
 *
 *     static simulator s;
 *     simulator_init(&s);
 *     simulator_set(&s, simulator_find("u.motor"), 1.5);
 *     simulator_advance(&s, 0.001);
 *     double angle = simulator_get(&s, simulator_find("q.elbow"));
 *
 * Nothing is allocated. All data are in the structure, so that several of them do not disturb each other.
 * Units are SI units and radians.
 */
#ifndef SIMULATOR_H
#define SIMULATOR_H

#include "simulator_tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The times of the last events of one guard, which may come ever faster. */
typedef struct simulator_pace {
    double times[3];
    int count;
    int quick;
    int returns; /* for integrators of others: events in a row at which it has gone back without a jump */
} simulator_pace;

typedef struct simulator {
    double memory[SIMULATOR_MEMORY]; /* of the march, see simulator_model.h */
    double next[SIMULATOR_MEMORY];
    double u[SIMULATOR_ROOM(SIMULATOR_NU)]; /* inputs */
    double p[SIMULATOR_ROOM(SIMULATOR_NP)]; /* parameters */
    double limits[6];                       /* rtol, atol, smallest step, largest step, most steps, most events */
    double times[SIMULATOR_SAMPLES];        /* sample times of the next call [s] */
    double rows[SIMULATOR_SAMPLES * SIMULATOR_ROOM(SIMULATOR_ROW)]; /* samples [q, v, x, m] of the last call */
    double fired[SIMULATOR_ROOM(SIMULATOR_GUARDS)];
    double log[SIMULATOR_LOG_LENGTH * SIMULATOR_LOG_WIDTH]; /* jumps of the last call */
    int done;                                               /* the number of samples of the last call */
    int logged;                                             /* the number of its jumps */
    int ready;                                              /* whether the next step can be taken */
    double kept[2 * SIMULATOR_ROOM(SIMULATOR_NV)]; /* 1 for coordinates, then for velocities that were set, else 0 */
    double moved; /* from outside: 0 or, where they have been set, 0.5 for parameters, 1 for the state, 2 for the time */
    simulator_pace paces[SIMULATOR_ROOM(SIMULATOR_GUARDS)]; /* of events that were recorded */
    double last_jump;                                       /* the time of the last of them [s] */
    int together;                                           /* the number of those at the same instant before it */
} simulator;

/* The initial state of the job. */
void simulator_init(simulator *s);

/* The number of a column by its name, such as "q.elbow", "v.elbow", "u.motor" or "p.payload"; -1 if there is none. */
int simulator_find(const char *name);

/* The name of column k, from 0 to SIMULATOR_COLUMNS - 1, and its unit. */
const char *simulator_name(int k);
const char *simulator_unit(int k);

/* The present value of column k. */
double simulator_get(const simulator *s, int k);

/* Sets column k; returns 0, or -1 for memory of elements (m) and for columns that do not exist, which stay the same.
 * Where there are constraints, values that were set are kept before the next step and the others follow; where all
 * coordinates were set, each of them may change by rounding. */
int simulator_set(simulator *s, int k, double value);

/* The present time [s]; and sets it. */
double simulator_time(const simulator *s);
void simulator_set_time(simulator *s, double t);

/* Sets the size of all steps [s], or for methods that choose their steps the size of the next one. */
void simulator_set_step(simulator *s, double h);

/* The number of accepted and of rejected steps so far. */
long simulator_accepted(const simulator *s);
long simulator_rejected(const simulator *s);

/* Prepares the first step after values were set; the other functions do this by themselves. Returns a status. */
int simulator_prepare(simulator *s);

/* One call of the march: through the first `count` of s->times, no step beyond `stop` [s]. Returns a status. */
int simulator_march(simulator *s, int count, double stop);

/* Advances to a time [s]. Returns SIMULATOR_GOING, or the status with which the motion has ended before it: SIMULATOR_REST
 * where events come ever faster, or where a guard stays at zero. */
int simulator_advance(simulator *s, double until);

/* Records an event of guard `mark` at t [s], as s->log has it. Returns the time at which these events accumulate [s] if
 * they come ever faster, so that the motion comes to rest, and else -INFINITY. */
double simulator_record(simulator *s, int mark, double t);

/* Goes back to the time and the state after a jump of the last call, a row of s->log. */
void simulator_go_back(simulator *s, const double *row);

/* The time [s], replaced by the sample time of an element that differs from it by rounding only. */
double simulator_snapped(double t);

#ifdef __cplusplus
}
#endif

#endif
