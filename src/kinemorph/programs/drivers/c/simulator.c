/* The library form of the program: a model at one state, and functions that advance it. */
#include "simulator.h"

#include <math.h>
#include <string.h>

#include "simulator_model.h"

#define NEAR 1e-9 /* of a period: a time that is nearer to a sample time counts as that sample time */

void simulator_init(simulator *s)
{
    memset(s, 0, sizeof *s);
    memcpy(s->memory, simulator_memory, sizeof s->memory);
    memcpy(s->u, simulator_u, sizeof s->u);
    memcpy(s->p, simulator_p, sizeof s->p);
    memcpy(s->limits, simulator_limits, sizeof s->limits);
    s->last_jump = -INFINITY;
}

int simulator_find(const char *name)
{
    for (int k = 0; k < SIMULATOR_COLUMNS; ++k) {
        if (strcmp(simulator_names[k], name) == 0) return k;
    }
    return -1;
}

const char *simulator_name(int k)
{
    return k >= 0 && k < SIMULATOR_COLUMNS ? simulator_names[k] : "";
}

const char *simulator_unit(int k)
{
    return k >= 0 && k < SIMULATOR_COLUMNS ? simulator_units[k] : "";
}

/* The place of column k; NULL for a column that does not exist. */
static double *place(simulator *s, int k)
{
    if (k < 0 || k >= SIMULATOR_COLUMNS) return NULL;
    if (k < SIMULATOR_NQ) return s->memory + SIMULATOR_AT_BASE + k;
    k -= SIMULATOR_NQ;
    if (k < SIMULATOR_NV + SIMULATOR_NX) return s->memory + SIMULATOR_AT_S + SIMULATOR_NV + k;
    k -= SIMULATOR_NV + SIMULATOR_NX;
    if (k < SIMULATOR_NM) return s->memory + SIMULATOR_AT_M_NEXT + k;
    k -= SIMULATOR_NM;
    return k < SIMULATOR_NU ? s->u + k : s->p + (k - SIMULATOR_NU);
}

double simulator_get(const simulator *s, int k)
{
    const double *found = place((simulator *)s, k);
    return found ? *found : NAN;
}

int simulator_set(simulator *s, int k, double value)
{
    double *found = place(s, k);
    if (!found || (k >= SIMULATOR_ROW - SIMULATOR_NM && k < SIMULATOR_ROW)) return -1;
    if (*found != value) {
        *found = value;
        s->ready = 0;
        if (k < SIMULATOR_ROW) s->moved = fmax(s->moved, 1.0);
        if (k >= SIMULATOR_ROW + SIMULATOR_NU) s->moved = fmax(s->moved, 0.5);
    }
    if (k < SIMULATOR_NQ) {
        for (int j = 0; j < simulator_moves[k][1]; ++j) s->kept[simulator_moves[k][0] + j] = 1.0;
    } else if (k < SIMULATOR_NQ + SIMULATOR_NV) {
        s->kept[SIMULATOR_NV + k - SIMULATOR_NQ] = 1.0;
    }
    return 0;
}

double simulator_time(const simulator *s)
{
    return s->memory[SIMULATOR_AT_T];
}

void simulator_set_time(simulator *s, double t)
{
    if (s->memory[SIMULATOR_AT_T] != t) {
        s->memory[SIMULATOR_AT_T] = t;
        s->ready = 0;
        s->moved = 2.0;
    }
}

void simulator_set_step(simulator *s, double h)
{
    s->memory[SIMULATOR_AT_H] = h;
}

long simulator_accepted(const simulator *s)
{
    return (long)s->memory[SIMULATOR_AT_ACCEPTED];
}

long simulator_rejected(const simulator *s)
{
    return (long)s->memory[SIMULATOR_AT_REJECTED];
}

int simulator_prepare(simulator *s)
{
    double status = 0.0;
    if (s->ready) return SIMULATOR_GOING;
    simulator_start(s->memory, &s->moved, s->kept, s->u, s->p, s->next, &status);
    memcpy(s->memory, s->next, sizeof s->memory);
    s->ready = 1;
    s->moved = 0.0;
    memset(s->kept, 0, sizeof s->kept);
    return (int)status;
}

int simulator_march(simulator *s, int count, double stop)
{
    double done = 0.0, status = 0.0, logged = 0.0, wanted = count;
    int begun = simulator_prepare(s);
    s->done = s->logged = 0;
    if (begun != SIMULATOR_GOING) return begun;
    for (int k = count; k < SIMULATOR_SAMPLES; ++k) s->times[k] = 0.0;
#if SIMULATOR_GUARDS > 0
    simulator_steps(s->memory, s->times, &wanted, &stop, s->limits, s->u, s->p, s->next, s->rows, &done, &status,
                    s->fired, s->log, &logged);
#else
    simulator_steps(s->memory, s->times, &wanted, &stop, s->limits, s->u, s->p, s->next, s->rows, &done, &status);
#endif
    memcpy(s->memory, s->next, sizeof s->memory);
    s->done = (int)done;
    s->logged = (int)logged;
    return (int)status;
}

/* Whether the motion has come to rest in the last call; goes back there. */
static int rested(simulator *s)
{
    for (int k = 0; k < s->logged; ++k) {
        const double *row = s->log + k * SIMULATOR_LOG_WIDTH;
        const double rest = simulator_record(s, (int)row[1], row[0]);
        if (rest == -INFINITY && (row[2] != 0.0 || !simulator_marks[(int)row[1]].stays)) continue;
        simulator_go_back(s, row);
        return 1;
    }
    return 0;
}

int simulator_advance(simulator *s, double until)
{
    int status = simulator_prepare(s);
    until = simulator_snapped(until);
    while (status == SIMULATOR_GOING && simulator_time(s) < until) {
        s->times[0] = until;
        status = simulator_march(s, 1, until);
        if (rested(s)) return SIMULATOR_REST;
        if (status == SIMULATOR_BUDGET || status == SIMULATOR_LOGGED) status = SIMULATOR_GOING;
    }
    return status;
}

double simulator_record(simulator *s, int mark, double t)
{
    simulator_pace *own = &s->paces[mark];
    const int least = simulator_marks[mark].least;
    double before, last, share;
    if (t < s->last_jump) memset(s->paces, 0, sizeof s->paces); /* another motion, which has begun before */
    s->together = fabs(t - s->last_jump) < SIMULATOR_RESOLUTION ? s->together + 1 : 0;
    s->last_jump = t;
    if (least == 0) return -INFINITY;
    own->times[0] = own->times[1], own->times[1] = own->times[2], own->times[2] = t;
    if (own->count < 3) own->count += 1;
    last = own->times[2] - own->times[1];
    if (least == 1 && own->count > 1 && last < SIMULATOR_RESOLUTION) return t;
    if (own->count < 3) return -INFINITY;
    before = own->times[1] - own->times[0];
    own->quick = last < simulator_marks[mark].shortest ? own->quick + 1 : 0;
    if (own->quick < least || (last > before && own->quick < SIMULATOR_MOST_QUICK)) return -INFINITY;
    share = before > 0.0 ? last / before : 0.0;
    return share < 1.0 ? t + last * share / (1.0 - share) : t;
}

void simulator_go_back(simulator *s, const double *row)
{
    const double *state = row + 4 + SIMULATOR_NC + SIMULATOR_ROW;
    for (int k = 0; k < SIMULATOR_ROW; ++k) *place(s, k) = state[k];
    for (int k = 0; k < SIMULATOR_NV; ++k) s->memory[SIMULATOR_AT_S + k] = 0.0;
    s->memory[SIMULATOR_AT_T] = row[0];
    s->ready = 0;
    s->moved = 2.0;
}

double simulator_snapped(double t)
{
    for (int k = 0; k < SIMULATOR_CLOCKS; ++k) {
        const double first = simulator_clocks[k][0], step = simulator_clocks[k][1], parts = simulator_clocks[k][2];
        double number, at;
        if (step >= 1e300) continue; /* a clock that ticks once, at the start */
        number = rint((t * parts - first) / step);
        at = (first + (number > 0.0 ? number : 0.0) * step) / parts;
        if (fabs(t - at) <= NEAR * step / parts) t = at;
    }
    return t;
}
