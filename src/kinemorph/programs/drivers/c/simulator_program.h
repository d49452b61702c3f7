/* The command line of the program: its options, the files that it writes, and the sentence at its end. */
#ifndef SIMULATOR_PROGRAM_H
#define SIMULATOR_PROGRAM_H

#include <stdio.h>

#include "simulator_run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The options of one run. */
typedef struct simulator_options {
    const char *output; /* the file of samples; NULL is the standard output */
    const char *events; /* the file of events; NULL where none is written */
    const char *res;    /* the file for gnuplot, in EasyDyn's format; NULL where none is written */
    const char *van;    /* the file of frames for EasyDyn's viewer; NULL where none is written */
    double start;       /* [s] */
    int quiet;
    int given[SIMULATOR_ROOM(SIMULATOR_COLUMNS)]; /* 1 for columns that --set names */
    double values[SIMULATOR_ROOM(SIMULATOR_COLUMNS)];
} simulator_options;

/* Reads the command line into options, the simulator and the plan. Returns -1 to go on, else the exit status. */
int simulator_read_options(int argc, char **argv, simulator_options *options, simulator *s, simulator_plan *plan);

/* Where the results of a run go. */
typedef struct simulator_files {
    FILE *samples;
    FILE *events;
    FILE *res;
    FILE *van; /* frames */
    FILE *vol; /* shapes */
    const simulator *model;
    const simulator_options *options;
    long rows;
} simulator_files;

/* Opens the files that the options name and writes their first lines; accelerations are those of the model `s`.
 * Returns 0, or the exit status on failure. */
int simulator_open_files(simulator_files *files, const simulator_options *options, const simulator *s);

/* Writes a sample, or an event; functions of a simulator_plan whose sink are the files. */
void simulator_write_sample(void *files, double t, const double *row, int piece);
void simulator_write_event(void *files, double t, const char *name, const char *kind, double lost);

/* Closes the files and prints how the run ended: its kind, time [s], number of events and message.
 * Returns the exit status: 0, or 1 for a run that failed. */
int simulator_close_files(simulator_files *files, const char *kind, double t, long events, const char *message);

/* The whole program. */
int simulator_program(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
