/* The model as differential equations with events, for other integrators. */
#include "simulator_exchange.h"

#include <math.h>
#include <string.h>

#include "simulator_model.h"

#define RETURNS 5 /* events in a row at which a guard moves less than the integrator errs: so many count as rest */
#define REST (SIMULATOR_NV + SIMULATOR_NX) /* the number of continuous states besides q */

/* SIMULATOR_GOING where all numbers are finite, else SIMULATOR_INFINITE. */
static int all_finite(const double *values, int count)
{
    for (int k = 0; k < count; ++k) {
        if (!isfinite(values[k])) return SIMULATOR_INFINITE;
    }
    return SIMULATOR_GOING;
}

int simulator_begin(simulator *s)
{
    s->limits[5] = SIMULATOR_MOST_EVENTS;
    return simulator_prepare(s);
}

void simulator_set_instant(simulator *s, double t)
{
    s->memory[SIMULATOR_AT_T] = t;
}

void simulator_get_continuous(const simulator *s, double *states)
{
    memcpy(states, s->memory + SIMULATOR_AT_BASE, SIMULATOR_NQ * sizeof *states);
    memcpy(states + SIMULATOR_NQ, s->memory + SIMULATOR_AT_S + SIMULATOR_NV, REST * sizeof *states);
}

int simulator_set_continuous(simulator *s, const double *states)
{
    if (all_finite(states, SIMULATOR_CONTINUOUS) != SIMULATOR_GOING) return SIMULATOR_INFINITE;
    memcpy(s->memory + SIMULATOR_AT_BASE, states, SIMULATOR_NQ * sizeof *states);
    memcpy(s->memory + SIMULATOR_AT_S + SIMULATOR_NV, states + SIMULATOR_NQ, REST * sizeof *states);
    return SIMULATOR_GOING;
}

int simulator_derivatives(simulator *s, double *rates)
{
    double states[SIMULATOR_ROOM(SIMULATOR_CONTINUOUS)];
    simulator_get_continuous(s, states);
    simulator_flow(&s->memory[SIMULATOR_AT_T], states, s->memory + SIMULATOR_AT_M_NEXT, s->u, s->p, rates);
    return all_finite(rates, SIMULATOR_CONTINUOUS);
}

int simulator_indicators(simulator *s, double *values)
{
#if SIMULATOR_INDICATORS > 0
    simulator_indicate(s->memory, s->u, s->p, values);
#else
    (void)s, (void)values;
#endif
    return all_finite(values, SIMULATOR_INDICATORS);
}

/* The time of the next tick of a clock [s]; infinity where there is none. */
static double next_tick(const simulator *s)
{
    double next = INFINITY;
    for (int k = 0; k < SIMULATOR_CLOCKS; ++k) {
        const double *clock = simulator_clocks[k];
        const double tick = (clock[0] + fmin(s->memory[SIMULATOR_AT_CLOCK + k] * clock[1], 1e300)) / clock[2];
        if (tick < next && tick < 1e299) next = tick;
    }
    return next;
}

int simulator_event(simulator *s, int *jumped, int *more, double *next_time)
{
    double status = 0.0, changed = 0.0, again = 0.0;
    s->memory[SIMULATOR_AT_T] = simulator_snapped(s->memory[SIMULATOR_AT_T]);
#if SIMULATOR_INDICATORS > 0
    double logged = 0.0, returned = -1.0;
    simulator_happen(s->memory, s->limits, s->u, s->p, s->next, &status, &changed, &again, s->fired, s->log, &logged,
                     &returned);
#else
    simulator_happen(s->memory, s->limits, s->u, s->p, s->next, &status, &changed, &again);
#endif
    memcpy(s->memory, s->next, sizeof s->memory);
    *jumped = changed > 0.0;
    *more = again > 0.0;
    *next_time = next_tick(s);
#if SIMULATOR_INDICATORS > 0
    s->logged = (int)logged;
    if (returned >= 0.0 && simulator_marks[(int)returned].least == 1) {
        if (++s->paces[(int)returned].returns >= RETURNS && status == SIMULATOR_GOING) status = SIMULATOR_REST;
    }
    if (logged > 0.0) {
        const int mark = (int)s->log[1];
        const double rest = simulator_record(s, mark, s->log[0]);
        s->paces[mark].returns = 0;
        const int stays = s->log[2] == 0.0 && simulator_marks[mark].stays;
        if (status == SIMULATOR_GOING && (rest > -INFINITY || stays)) status = SIMULATOR_REST;
        if (status == SIMULATOR_GOING && s->together >= SIMULATOR_MOST_SWITCHES) status = SIMULATOR_GIVEN_UP;
    }
#endif
    if (status != SIMULATOR_GOING) *more = 0;
    return (int)status;
}

int simulator_completed(simulator *s, int *event)
{
    double status = 0.0, asked = 0.0;
    simulator_complete(s->memory, s->limits, s->u, s->p, s->next, &status, &asked);
    memcpy(s->memory, s->next, sizeof s->memory);
    *event = asked > 0.0;
    return (int)status;
}

int simulator_directional(simulator *s, const int *unknowns, int nu, const int *knowns, int nk, const double *seed,
                          double *sensitivity)
{
    double states[SIMULATOR_ROOM(SIMULATOR_CONTINUOUS)], rates[SIMULATOR_ROOM(SIMULATOR_CONTINUOUS)] = {0.0};
    double along[SIMULATOR_ROOM(SIMULATOR_COLUMNS)] = {0.0}; /* the direction, by columns */
    const int inputs = SIMULATOR_ROW, parameters = SIMULATOR_ROW + SIMULATOR_NU;
    for (int k = 0; k < nk; ++k) {
        const int at = knowns[k];
        if (at < 0 || at >= SIMULATOR_COLUMNS || (at >= SIMULATOR_CONTINUOUS && at < inputs)) return -1;
        along[at] += seed[k];
    }
    simulator_get_continuous(s, states);
    simulator_slope(&s->memory[SIMULATOR_AT_T], states, s->memory + SIMULATOR_AT_M_NEXT, s->u, s->p, along, along + inputs,
                    along + parameters, rates);
    for (int k = 0; k < nu; ++k) {
        const int at = unknowns[k];
        if (at < 0 || at >= SIMULATOR_COLUMNS + SIMULATOR_CONTINUOUS) return -1;
        sensitivity[k] = at < SIMULATOR_COLUMNS ? along[at] : rates[at - SIMULATOR_COLUMNS];
    }
    return all_finite(sensitivity, nu);
}
