/*
 * A whole run: from sample to sample until its end, an event that ends it, or a failure; and how it ended, in words.
 */
#ifndef SIMULATOR_RUN_H
#define SIMULATOR_RUN_H

#include "simulator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a run does and where its results go. Functions may be NULL. */
typedef struct simulator_plan {
    double until;        /* the end of the run [s]; its start is the present time of the simulator */
    double spacing;      /* the time between samples [s] */
    const double *times; /* or all sample times after the start [s], if they are not regular; else NULL */
    int count;           /* the number of these times */
    double most_events;  /* the run ends after so many events */
    long events;         /* the number of events before, where the run goes on from another one */
    /* gets each sample [q, v, x, m] at the time t [s]; `piece` counts the jumps of the state before it */
    void (*sample)(void *sink, double t, const double *row, int piece);
    /* gets each event at t [s]: its name, its kind, and the energy lost in it [J] */
    void (*event)(void *sink, double t, const char *name, const char *kind, double lost);
    void *sink;
} simulator_plan;

/* How a run ended: "finished", "stopped", "rest" or "failed", at t [s]. */
typedef struct simulator_outcome {
    const char *kind;
    double t;
    const char *sentence; /* with gaps, see simulator_message */
    const char *name;
    const char *unit;
    double value;
    double last;
    double h;
    long events;
    char text[64]; /* a value in words, which `name` may point to */
} simulator_outcome;

/* The plan of the job. */
void simulator_usual_plan(simulator_plan *plan);

/* Carries out a run from the present state on. Returns 1 if it reached its end, a stopping event or rest, else 0. */
int simulator_run(simulator *s, const simulator_plan *plan, simulator_outcome *outcome);

/* The outcome of a motion that cannot go on from the present state, with a status that another function has returned. */
void simulator_explain(simulator *s, int status, simulator_outcome *outcome);

/* Writes the message of an outcome into `text`, cut off after size - 1 characters; empty for a run that finished. */
void simulator_message(const simulator_outcome *outcome, char *text, int size);

#ifdef __cplusplus
}
#endif

#endif
