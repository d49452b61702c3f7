/*
 * The model as differential equations with events, for an integrator of your own or of another program: the functions
 * that model exchange of FMI needs. They work on the structure of simulator.h.
 *
 *     simulator_init(&s);                            initial values; change them by simulator_set
 *     simulator_begin(&s);                           ends the initialization
 *     do simulator_event(&s, &jumped, &more, &next); while (more);
 *     for each step of the integrator, which must not go beyond the time `next`:
 *         simulator_set_instant, simulator_set_continuous, simulator_derivatives      as often as it wants
 *         simulator_indicators at its end; where one has changed its sign: go back to that time
 *         simulator_completed(&s, &event);
 *         at the time `next`, where an indicator has changed its sign, where `event` is 1, and where inputs or
 *         parameters jump: simulator_event until `more` is 0; then start the integrator again where `jumped` was 1
 *
 * The continuous states are q, v and x, in the order of the columns 0 to SIMULATOR_CONTINUOUS - 1. A quaternion is four
 * of them, in the order w, x, y, z, and its rate is half of quaternion times angular velocity, whatever its length is: all
 * rates of other states are those of the quaternion of length 1. So its length is constant up to the errors of the
 * integrator. Loops and other constraints are satisfied by the accelerations, so their errors, too, are those of the
 * integrator. Where the length or a constraint is off by more than a tolerance, simulator_completed asks for an event,
 * and simulator_event sets quaternions to the length 1 and brings q and v onto the constraints.
 *
 * Functions return a status, SIMULATOR_GOING where all is well. Times are in seconds, units are SI units and radians.
 */
#ifndef SIMULATOR_EXCHANGE_H
#define SIMULATOR_EXCHANGE_H

#include "simulator.h"

#define SIMULATOR_CONTINUOUS (SIMULATOR_NQ + SIMULATOR_NV + SIMULATOR_NX) /* the number of continuous states */
#define SIMULATOR_INDICATORS SIMULATOR_GUARDS                            /* the number of event indicators */

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the initialization: the state is brought onto the constraints, elements sample whose clocks tick at the present
 * time, and the sides of all guards are found. Returns SIMULATOR_UNSOLVED where the constraints cannot be satisfied. */
int simulator_begin(simulator *s);

/* Sets the time [s] of the functions below. Unlike simulator_set_time it does not begin a new motion. */
void simulator_set_instant(simulator *s, double t);

/* The continuous states, SIMULATOR_CONTINUOUS numbers; and sets them. Returns SIMULATOR_INFINITE where one that is given
 * is not finite; the state then stays the same. */
void simulator_get_continuous(const simulator *s, double *states);
int simulator_set_continuous(simulator *s, const double *states);

/* The rates of the continuous states at the present time, state, memory, inputs and parameters. Returns
 * SIMULATOR_INFINITE where one of them is not finite. */
int simulator_derivatives(simulator *s, double *rates);

/* The event indicators, one for each guard. None is zero after an event: an indicator has then the sign of the side on
 * which its guard is. It changes its sign where simulator_event has to be called; what happens there, if anything, is
 * found by that function. Guards that do not count in the present phase have the value 1 or -1. */
int simulator_indicators(simulator *s, double *values);

/* One round of the events at the present time: brings the state onto the constraints, lets the state jump at one guard
 * that has changed its sign, and lets elements sample whose clocks tick now.
 *
 * jumped       1 where continuous states have changed, else 0
 * more         1 where the function has to be called again at this time, else 0
 * next_time    the time of the next tick of a clock [s]; infinity where there is none
 *
 * Returns SIMULATOR_GOING; SIMULATOR_STOPPED where an event ends the motion; SIMULATOR_ENOUGH where as many events have
 * happened as the job allows; SIMULATOR_REST where events of a guard come ever faster, or where it stays at zero, as that
 * of a ball that has stopped bouncing: the motion ends there, too; another status where the motion cannot go on. In all
 * of these cases the simulation has to be terminated. */
int simulator_event(simulator *s, int *jumped, int *more, double *next_time);

/* To be called after each step that the integrator has accepted. `event` is 1 where simulator_event has to be called at
 * this time: constraints or quaternions are off, or elements change their memory after steps. States do not change. */
int simulator_completed(simulator *s, int *event);

/* Exact directional derivatives: sensitivity[i] = sum over j of d unknown i / d known j * seed[j].
 *
 * unknowns     k below SIMULATOR_COLUMNS for the value of that column, SIMULATOR_COLUMNS + k for the rate of continuous
 *              state k
 * knowns       columns: continuous states, inputs and parameters
 *
 * Memory of elements is constant. Returns SIMULATOR_INFINITE where a derivative is not finite, and -1 for numbers that
 * are not listed here. */
int simulator_directional(simulator *s, const int *unknowns, int nu, const int *knowns, int nk, const double *seed,
                          double *sensitivity);

#ifdef __cplusplus
}
#endif

#endif
