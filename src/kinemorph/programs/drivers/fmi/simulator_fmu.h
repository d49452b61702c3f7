/*
 * An instance of a functional mock-up unit, whatever the version of its interface: modes, values by their references,
 * steps, events, and states that are saved. The files for FMI 2.0 and FMI 3.0 call these functions.
 *
 * Value references: 0 is the time, then the columns of the model (q, v, x, m, u, p), the rates of q, v and x, the
 * further outputs, and the event indicators.
 */
#ifndef SIMULATOR_FMU_H
#define SIMULATOR_FMU_H

#include <stddef.h>

#include "simulator_exchange.h"
#include "simulator_fmu_data.h"
#include "simulator_run.h"

/* What a function answers; the numbers are those of the standard. */
enum { SIMULATOR_OK = 0, SIMULATOR_DISCARD = 2, SIMULATOR_ERROR = 3 };

/* The modes of an instance; a function names those in which it may be called by their sum. */
enum {
    SIMULATOR_MADE = 1,         /* instantiated */
    SIMULATOR_INITIALIZING = 2, /* between the two functions of initialization */
    SIMULATOR_AT_EVENT = 4,     /* model exchange: event mode */
    SIMULATOR_CONTINUOUSLY = 8, /* model exchange: continuous-time mode */
    SIMULATOR_STEPPING = 16,    /* co-simulation: between steps */
    SIMULATOR_ENDED = 32,       /* terminated */
    SIMULATOR_FAILED = 64       /* after an error in a step; it can be reset, restored or freed */
};
#define SIMULATOR_BEFORE (SIMULATOR_MADE | SIMULATOR_INITIALIZING)
#define SIMULATOR_EXCHANGING (SIMULATOR_AT_EVENT | SIMULATOR_CONTINUOUSLY)
#define SIMULATOR_RUNNING (SIMULATOR_EXCHANGING | SIMULATOR_STEPPING)

/* All of an instance that changes with time: a copy of it is a state that can be restored. */
typedef struct simulator_moment {
    simulator s;
    int mode;
    int over;         /* whether the model has asked to end the simulation */
    double last;      /* the time up to which the last step was computed [s] */
    double stop;      /* the time beyond which no step may go [s] */
    long events;      /* the number of events of all steps */
    double next_time; /* of the next time event [s]; infinity where there is none */
} simulator_moment;

typedef struct simulator_fmu simulator_fmu;

struct simulator_fmu {
    simulator_moment now;
    int exchange;    /* 1 for model exchange, 0 for co-simulation */
    int logging;     /* whether events are logged; errors always are */
    void (*log)(const simulator_fmu *f, int status, const char *category, const char *message);
    void (*callback)(void); /* the logger of the importing tool, which `log` calls */
    void *environment;      /* its first argument */
    char *name;             /* of the instance */
    int early;              /* FMI 3.0: whether a step may return early */
    int has_tolerance, has_stop; /* FMI 2.0: the experiment, until the initialization begins */
    double tolerance, start, stop;
    simulator view; /* the initial state that would follow from the values set so far */
    int viewed;     /* whether it is up to date; and these: */
    int rated, observed, indicated;
    double rates[SIMULATOR_ROOM(SIMULATOR_CONTINUOUS)];
    double outputs[SIMULATOR_ROOM(SIMULATOR_OUTPUTS)];
    double indicators[SIMULATOR_ROOM(SIMULATOR_INDICATORS)];
};

/* A new instance; NULL where there is no memory, or the token is that of another FMU. */
simulator_fmu *simulator_fmu_new(const char *name, const char *token, int exchange, int logging,
                                 void (*log)(const simulator_fmu *, int, const char *, const char *),
                                 void (*callback)(void), void *environment);
void simulator_fmu_free(simulator_fmu *f);

/* Whether a function may be called in the present mode; SIMULATOR_ERROR, with a message, where not. */
int simulator_fmu_may(const simulator_fmu *f, const char *function, int modes);

/* Logs an error and returns SIMULATOR_ERROR; `format` is that of printf. */
int simulator_fmu_refuse(const simulator_fmu *f, const char *format, ...);

/* Whether all arrays and places for results are there, as `given` says; SIMULATOR_ERROR, with a message, where not. */
int simulator_fmu_given(const simulator_fmu *f, const char *function, int given);

/* A function of the standard that this FMU does not announce. */
int simulator_fmu_lacks(const simulator_fmu *f, const char *function);

int simulator_fmu_initialize(simulator_fmu *f, const char *function, int has_tolerance, double tolerance, double start,
                             int has_stop, double stop);
int simulator_fmu_initialized(simulator_fmu *f, const char *function);
int simulator_fmu_terminate(simulator_fmu *f, const char *function);
int simulator_fmu_reset(simulator_fmu *f);

int simulator_fmu_get(simulator_fmu *f, const char *function, const unsigned *references, size_t n, double *values);
int simulator_fmu_set(simulator_fmu *f, const char *function, const unsigned *references, size_t n,
                      const double *values);

/* Co-simulation: from the time t by h [s]. SIMULATOR_DISCARD where the model ended before, as by a stopping event. */
int simulator_fmu_step(simulator_fmu *f, const char *function, double t, double h);

/* Model exchange. Rates and indicators that are not finite are SIMULATOR_DISCARD in continuous-time mode, where the
 * state may be a trial of the master's integrator, and SIMULATOR_ERROR in other modes. */
int simulator_fmu_enter(simulator_fmu *f, const char *function, int from, int mode);
int simulator_fmu_update(simulator_fmu *f, const char *function, int *more, int *jumped);
int simulator_fmu_completed(simulator_fmu *f, const char *function, int *event);
int simulator_fmu_set_time(simulator_fmu *f, const char *function, double t);
int simulator_fmu_set_states(simulator_fmu *f, const char *function, const double *states, size_t n);
int simulator_fmu_states(simulator_fmu *f, const char *function, double *states, size_t n);
int simulator_fmu_rates(simulator_fmu *f, const char *function, double *rates, size_t n);
int simulator_fmu_indicators(simulator_fmu *f, const char *function, double *values, size_t n);
int simulator_fmu_nominals(simulator_fmu *f, const char *function, double *values, size_t n);
int simulator_fmu_directional(simulator_fmu *f, const char *function, const unsigned *unknowns, size_t nu,
                              const unsigned *knowns, size_t nk, const double *seed, double *sensitivity);

/* States of an instance. */
int simulator_fmu_save(simulator_fmu *f, const char *function, void **state);
int simulator_fmu_restore(simulator_fmu *f, const char *function, const void *state);
int simulator_fmu_forget(void **state);
int simulator_fmu_size(const simulator_fmu *f, const char *function, size_t *size);
int simulator_fmu_write(simulator_fmu *f, const char *function, const void *state, unsigned char *bytes, size_t size);
int simulator_fmu_read(simulator_fmu *f, const char *function, const unsigned char *bytes, size_t size, void **state);

#endif
