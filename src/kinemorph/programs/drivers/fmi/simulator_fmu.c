/* An instance of a functional mock-up unit: what both versions of the interface have in common. */
#include "simulator_fmu.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if SIMULATOR_OUTPUTS > 0
#include "simulator_outputs.h"
#endif

#define LONGEST 2048 /* characters of a message */
#define AT_RATES (1 + SIMULATOR_COLUMNS)
#define AT_OUTPUTS (AT_RATES + SIMULATOR_CONTINUOUS)
#define AT_INDICATORS (AT_OUTPUTS + SIMULATOR_OUTPUTS)
#define VALUES (AT_INDICATORS + SIMULATOR_INDICATORS)

static const char *const fmu_modes[] = {
    "after its instantiation", "in initialization mode", "in event mode", "in continuous-time mode",
    "between steps",           "after its end",          "after an error",
};

/* ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

int simulator_fmu_refuse(const simulator_fmu *f, const char *format, ...)
{
    char text[LONGEST];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    f->log(f, SIMULATOR_ERROR, "logStatusError", text);
    return SIMULATOR_ERROR;
}

int simulator_fmu_may(const simulator_fmu *f, const char *function, int modes)
{
    char text[LONGEST] = "";
    int present = 0;
    if (f->now.mode & modes) return SIMULATOR_OK;
    for (int k = 0; k < 7; ++k) {
        if (f->now.mode & 1 << k) present = k;
        if (!(modes & 1 << k)) continue;
        if (text[0]) strcat(text, " or ");
        strcat(text, fmu_modes[k]);
    }
    return simulator_fmu_refuse(f, "%s was called %s; expected a call %s.", function, fmu_modes[present], text);
}

int simulator_fmu_given(const simulator_fmu *f, const char *function, int given)
{
    if (given) return SIMULATOR_OK;
    return simulator_fmu_refuse(f, "%s: NULL is given for an array or for the place of a result; expected its address.",
                                function);
}

int simulator_fmu_lacks(const simulator_fmu *f, const char *function)
{
    return simulator_fmu_refuse(f, "%s is an optional function that this FMU does not offer. Do not call it.", function);
}

/* Says why the model cannot go on with this status, and marks the instance as failed. */
static int fmu_fail(simulator_fmu *f, int status)
{
    simulator_outcome outcome;
    char text[LONGEST];
    simulator_explain(&f->now.s, status, &outcome);
    simulator_message(&outcome, text, sizeof text);
    f->now.mode = SIMULATOR_FAILED;
    return simulator_fmu_refuse(f, "%s", text);
}

/* ── instances ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Values that depend on the state, the inputs or the parameters have to be computed again. */
static void fmu_outdate(simulator_fmu *f)
{
    f->viewed = f->rated = f->observed = f->indicated = 0;
}

static void fmu_begin(simulator_fmu *f)
{
    memset(&f->now, 0, sizeof f->now);
    simulator_init(&f->now.s);
    f->now.mode = SIMULATOR_MADE;
    f->now.last = simulator_time(&f->now.s);
    f->now.stop = f->now.next_time = INFINITY;
    f->start = f->now.last;
    f->has_tolerance = f->has_stop = 0;
    fmu_outdate(f);
}

simulator_fmu *simulator_fmu_new(const char *name, const char *token, int exchange, int logging,
                                 void (*log)(const simulator_fmu *, int, const char *, const char *),
                                 void (*callback)(void), void *environment)
{
    simulator_fmu *f = calloc(1, sizeof *f);
    const size_t length = name ? strlen(name) : 0;
    if (!f) return NULL;
    f->name = calloc(length + 1, 1);
    f->exchange = exchange;
    f->logging = logging;
    f->log = log;
    f->callback = callback;
    f->environment = environment;
    if (f->name && length) memcpy(f->name, name, length);
    if (f->name && token && strcmp(token, SIMULATOR_TOKEN) == 0) {
        fmu_begin(f);
        return f;
    }
    if (f->name) {
        simulator_fmu_refuse(f, "The token of the model description is '%.100s'; expected '%s'. The binary belongs to "
                                "another model description.", token ? token : "", SIMULATOR_TOKEN);
    }
    simulator_fmu_free(f);
    return NULL;
}

void simulator_fmu_free(simulator_fmu *f)
{
    if (f) free(f->name);
    free(f);
}

int simulator_fmu_reset(simulator_fmu *f)
{
    fmu_begin(f);
    return SIMULATOR_OK;
}

int simulator_fmu_initialize(simulator_fmu *f, const char *function, int has_tolerance, double tolerance, double start,
                             int has_stop, double stop)
{
    simulator *s = &f->now.s;
    if (simulator_fmu_may(f, function, SIMULATOR_MADE)) return SIMULATOR_ERROR;
    if (!isfinite(start)) return simulator_fmu_refuse(f, "%s: the start is %g s; expected a number.", function, start);
    if (has_stop && !(stop >= start)) {
        return simulator_fmu_refuse(f, "%s: the end is %g s; expected one not before %g s.", function, stop, start);
    }
    if (has_tolerance && !(tolerance > 0.0 && isfinite(tolerance))) {
        return simulator_fmu_refuse(f, "%s: the tolerance is %g; expected a number above 0.", function, tolerance);
    }
    if (has_tolerance && SIMULATOR_ADAPTIVE && !SIMULATOR_FIXED) { /* both change in the same ratio */
        s->limits[1] *= tolerance / s->limits[0];
        s->limits[0] = tolerance;
    }
    simulator_set_time(s, start);
    f->now.last = start;
    f->now.stop = has_stop ? stop : INFINITY;
    f->now.mode = SIMULATOR_INITIALIZING;
    fmu_outdate(f);
    return SIMULATOR_OK;
}

int simulator_fmu_initialized(simulator_fmu *f, const char *function)
{
    int status;
    if (simulator_fmu_may(f, function, SIMULATOR_INITIALIZING)) return SIMULATOR_ERROR;
    status = f->exchange ? simulator_begin(&f->now.s) : simulator_prepare(&f->now.s);
    fmu_outdate(f);
    if (status == SIMULATOR_UNSOLVED) {
        f->now.mode = SIMULATOR_FAILED;
        return simulator_fmu_refuse(f, "%s", SIMULATOR_SAYS_NOT_CLOSED);
    }
    if (status != SIMULATOR_GOING) return fmu_fail(f, status);
    for (int k = 0; k < SIMULATOR_ROW - SIMULATOR_NM; ++k) { /* only finite values can be set */
        if (isfinite(simulator_get(&f->now.s, k))) continue;
        f->now.mode = SIMULATOR_FAILED;
        return simulator_fmu_refuse(f, "%s: the initial state has no finite value of '%.200s'. Set quaternions whose length "
                                       "is near 1, and values that are not so large.", function, simulator_name(k));
    }
    f->now.mode = f->exchange ? SIMULATOR_AT_EVENT : SIMULATOR_STEPPING;
    return SIMULATOR_OK;
}

int simulator_fmu_terminate(simulator_fmu *f, const char *function)
{
    if (simulator_fmu_may(f, function, SIMULATOR_RUNNING)) return SIMULATOR_ERROR;
    f->now.mode = SIMULATOR_ENDED;
    return SIMULATOR_OK;
}

/* ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The model from which values are read: before the end of the initialization, with the initial state that follows
 * from the values set so far; NULL, with a message, where there is none. */
static simulator *fmu_model(simulator_fmu *f)
{
    if (f->now.mode != SIMULATOR_INITIALIZING || f->now.s.ready) return &f->now.s;
    if (!f->viewed) {
        f->view = f->now.s;
        f->viewed = simulator_prepare(&f->view) == SIMULATOR_GOING ? 1 : -1;
    }
    if (f->viewed > 0) return &f->view;
    simulator_fmu_refuse(f, "%s", SIMULATOR_SAYS_NOT_CLOSED);
    return NULL;
}

/* Says that a value is not finite at the present state. In continuous-time mode this may be a trial of the master's
 * integrator, which can go back and take a smaller step. */
static int fmu_not_finite(const simulator_fmu *f, const char *function, const char *what, const char *name)
{
    const int trial = f->now.mode == SIMULATOR_CONTINUOUSLY;
    char text[LONGEST];
    snprintf(text, sizeof text, "%s: the %s '%.200s' is not finite at t = %.9g s.%s", function, what, name,
             simulator_time(&f->now.s), trial ? " Take a smaller step." : "");
    if (!trial) return simulator_fmu_refuse(f, "%s", text);
    f->log(f, SIMULATOR_DISCARD, "logStatusDiscard", text);
    return SIMULATOR_DISCARD;
}

/* The further outputs of the model. */
static void fmu_observe(simulator *s, double *outputs)
{
#if SIMULATOR_OUTPUTS > 0
    double states[SIMULATOR_ROOM(SIMULATOR_CONTINUOUS)];
    simulator_get_continuous(s, states);
    simulator_observe(&s->memory[SIMULATOR_AT_T], states, s->memory + SIMULATOR_AT_M_NEXT, s->u, s->p, outputs);
#else
    (void)s, (void)outputs;
#endif
}

/* The value with a reference that exists, at the model s. */
static double fmu_value(simulator_fmu *f, simulator *s, unsigned reference)
{
    if (reference == 0) return simulator_time(s);
    if (reference < AT_RATES) return simulator_get(s, (int)reference - 1);
    if (reference < AT_OUTPUTS) {
        if (!f->rated) f->rated = simulator_derivatives(s, f->rates) == SIMULATOR_GOING;
        return f->rates[reference - AT_RATES];
    }
    if (reference < AT_INDICATORS) {
        if (!f->observed) fmu_observe(s, f->outputs);
        f->observed = 1;
        return f->outputs[reference - AT_OUTPUTS];
    }
    if (!f->indicated) f->indicated = simulator_indicators(s, f->indicators) == SIMULATOR_GOING;
    return f->indicators[reference - AT_INDICATORS];
}

int simulator_fmu_get(simulator_fmu *f, const char *function, const unsigned *references, size_t n, double *values)
{
    simulator *s = fmu_model(f);
    if (!s || simulator_fmu_given(f, function, n == 0 || (references && values))) return SIMULATOR_ERROR;
    for (size_t k = 0; k < n; ++k) {
        if (references[k] >= VALUES) {
            return simulator_fmu_refuse(f, "%s: the value reference %u does not exist; expected one below %u.", function,
                                        references[k], (unsigned)VALUES);
        }
        values[k] = fmu_value(f, s, references[k]);
    }
    return SIMULATOR_OK;
}

/* The modes in which column k may be set; 0 for values that nobody may set. */
static int fmu_settable(int k)
{
    if (k < 0 || k >= SIMULATOR_COLUMNS) return 0;
    if (k < SIMULATOR_ROW - SIMULATOR_NM) return SIMULATOR_BEFORE;
    if (k < SIMULATOR_ROW) return 0;
    if (k < SIMULATOR_ROW + SIMULATOR_NU) return SIMULATOR_BEFORE | SIMULATOR_RUNNING;
    return SIMULATOR_BEFORE | SIMULATOR_AT_EVENT | SIMULATOR_STEPPING;
}

int simulator_fmu_set(simulator_fmu *f, const char *function, const unsigned *references, size_t n,
                      const double *values)
{
    if (simulator_fmu_may(f, function, SIMULATOR_BEFORE | SIMULATOR_RUNNING) ||
        simulator_fmu_given(f, function, n == 0 || (references && values))) {
        return SIMULATOR_ERROR;
    }
    for (size_t k = 0; k < n; ++k) {
        const int column = references[k] < VALUES ? (int)references[k] - 1 : -1, modes = fmu_settable(column);
        if (!modes) {
            return simulator_fmu_refuse(f, "%s: the value with the reference %u cannot be set; expected an input, a "
                                           "parameter or an initial state.", function, references[k]);
        }
        if (!(modes & f->now.mode)) {
            return simulator_fmu_refuse(f, "%s: '%.200s' cannot be set at this time; expected %s.", function,
                                        simulator_name(column), modes == SIMULATOR_BEFORE
                                            ? "a call before the end of the initialization"
                                            : "a call outside of continuous-time mode");
        }
        if (!isfinite(values[k])) {
            return simulator_fmu_refuse(f, "%s: '%.200s' is %g; expected a finite number.", function,
                                        simulator_name(column), values[k]);
        }
    }
    for (size_t k = 0; k < n; ++k) simulator_set(&f->now.s, (int)references[k] - 1, values[k]);
    fmu_outdate(f);
    return SIMULATOR_OK;
}

/* ── co-simulation ────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Logs an event of a step. */
static void fmu_event(void *sink, double t, const char *name, const char *kind, double lost)
{
    const simulator_fmu *f = sink;
    char text[LONGEST];
    (void)lost;
    if (!f->logging) return;
    snprintf(text, sizeof text, "At t = %.17g s: %s, %s.", t, name, kind);
    f->log(f, SIMULATOR_OK, "logEvents", text);
}

int simulator_fmu_step(simulator_fmu *f, const char *function, double t, double h)
{
    simulator *s = &f->now.s;
    const double now = simulator_time(s), slack = 1e-9 * (1.0 + fabs(now));
    simulator_plan plan;
    simulator_outcome outcome;
    char text[LONGEST];
    if (simulator_fmu_may(f, function, SIMULATOR_STEPPING)) return SIMULATOR_ERROR;
    if (f->now.over) {
        return simulator_fmu_refuse(f, "%s: the model has asked to end the simulation at %.9g s. Terminate or reset it.",
                                    function, f->now.last);
    }
    if (!(fabs(t - now) <= slack)) {
        return simulator_fmu_refuse(f, "%s: the step begins at %.9g s; expected %.9g s, the end of the last one.",
                                    function, t, now);
    }
    if (!(h >= 0.0) || !isfinite(h)) {
        return simulator_fmu_refuse(f, "%s: the step size is %g s; expected a number above 0.", function, h);
    }
    if (t + h > f->now.stop + slack) {
        return simulator_fmu_refuse(f, "%s: the step ends at %.9g s; expected a time up to %.9g s, the end of the "
                                       "simulation.", function, t + h, f->now.stop);
    }
    f->now.last = now;
    memset(&plan, 0, sizeof plan);
    plan.until = t + h;
    plan.spacing = plan.until - now;
    plan.most_events = SIMULATOR_MOST_EVENTS;
    plan.events = f->now.events;
    plan.event = fmu_event;
    plan.sink = f;
    if (!(plan.spacing > 0.0)) return SIMULATOR_OK;
    simulator_run(s, &plan, &outcome);
    fmu_outdate(f);
    f->now.last = outcome.t;
    f->now.events = outcome.events;
    if (strcmp(outcome.kind, "finished") == 0) return SIMULATOR_OK;
    simulator_message(&outcome, text, sizeof text);
    if (strcmp(outcome.kind, "failed") == 0) {
        f->now.mode = SIMULATOR_FAILED;
        return simulator_fmu_refuse(f, "%s", text);
    }
    f->now.over = 1;
    f->log(f, SIMULATOR_DISCARD, "logStatusDiscard", text);
    return SIMULATOR_DISCARD;
}

/* ── model exchange ───────────────────────────────────────────────────────────────────────────────────────────────── */

int simulator_fmu_enter(simulator_fmu *f, const char *function, int from, int mode)
{
    if (simulator_fmu_may(f, function, from)) return SIMULATOR_ERROR;
    f->now.mode = mode;
    return SIMULATOR_OK;
}

/* After a call that may end the simulation: a stopping event is no error. */
static int fmu_after(simulator_fmu *f, int status)
{
    char text[LONGEST];
    fmu_outdate(f);
    if (status == SIMULATOR_GOING) return SIMULATOR_OK;
    if (status != SIMULATOR_STOPPED && status != SIMULATOR_ENOUGH && status != SIMULATOR_REST) {
        return fmu_fail(f, status);
    }
    f->now.over = 1;
    snprintf(text, sizeof text, "The motion of '%s' ends at t = %.9g s: %s.", simulator_model_name,
             simulator_time(&f->now.s), status == SIMULATOR_REST ? "it is at rest" : "an event has stopped it");
    f->log(f, SIMULATOR_OK, "logEvents", text);
    return SIMULATOR_OK;
}

int simulator_fmu_update(simulator_fmu *f, const char *function, int *more, int *jumped)
{
    if (simulator_fmu_may(f, function, SIMULATOR_AT_EVENT)) return SIMULATOR_ERROR;
    return fmu_after(f, simulator_event(&f->now.s, jumped, more, &f->now.next_time));
}

int simulator_fmu_completed(simulator_fmu *f, const char *function, int *event)
{
    if (simulator_fmu_may(f, function, SIMULATOR_CONTINUOUSLY)) return SIMULATOR_ERROR;
    return fmu_after(f, simulator_completed(&f->now.s, event));
}

int simulator_fmu_set_time(simulator_fmu *f, const char *function, double t)
{
    if (simulator_fmu_may(f, function, SIMULATOR_EXCHANGING)) return SIMULATOR_ERROR;
    if (!isfinite(t)) return simulator_fmu_refuse(f, "%s: the time is %g s; expected a number.", function, t);
    if (simulator_time(&f->now.s) != t) {
        simulator_set_instant(&f->now.s, t);
        fmu_outdate(f);
    }
    return SIMULATOR_OK;
}

/* Whether an array of n numbers is there and has the right length. */
static int fmu_length(simulator_fmu *f, const char *function, const double *array, size_t n, int wanted)
{
    if (n == (size_t)wanted) return simulator_fmu_given(f, function, n == 0 || array);
    return simulator_fmu_refuse(f, "%s: %lu numbers are given; expected %d.", function, (unsigned long)n, wanted);
}

int simulator_fmu_set_states(simulator_fmu *f, const char *function, const double *states, size_t n)
{
    if (simulator_fmu_may(f, function, SIMULATOR_CONTINUOUSLY) || fmu_length(f, function, states, n, SIMULATOR_CONTINUOUS)) {
        return SIMULATOR_ERROR;
    }
    for (size_t k = 0; k < n; ++k) {
        if (!isfinite(states[k])) {
            return simulator_fmu_refuse(f, "%s: '%.200s' is %g; expected a finite number.", function,
                                        simulator_name((int)k), states[k]);
        }
    }
    fmu_outdate(f);
    return simulator_set_continuous(&f->now.s, states) == SIMULATOR_GOING ? SIMULATOR_OK : SIMULATOR_ERROR;
}

int simulator_fmu_states(simulator_fmu *f, const char *function, double *states, size_t n)
{
    simulator *s = fmu_model(f);
    if (!s || fmu_length(f, function, states, n, SIMULATOR_CONTINUOUS)) return SIMULATOR_ERROR;
    simulator_get_continuous(s, states);
    return SIMULATOR_OK;
}

int simulator_fmu_rates(simulator_fmu *f, const char *function, double *rates, size_t n)
{
    simulator *s = fmu_model(f);
    if (!s || fmu_length(f, function, rates, n, SIMULATOR_CONTINUOUS)) return SIMULATOR_ERROR;
    for (size_t k = 0; k < n; ++k) {
        rates[k] = fmu_value(f, s, AT_RATES + (unsigned)k);
        if (!isfinite(rates[k])) return fmu_not_finite(f, function, "rate of", simulator_name((int)k));
    }
    return SIMULATOR_OK;
}

int simulator_fmu_indicators(simulator_fmu *f, const char *function, double *values, size_t n)
{
    simulator *s = fmu_model(f);
    char name[40];
    if (!s || fmu_length(f, function, values, n, SIMULATOR_INDICATORS)) return SIMULATOR_ERROR;
    for (size_t k = 0; k < n; ++k) {
        values[k] = fmu_value(f, s, AT_INDICATORS + (unsigned)k);
        if (isfinite(values[k])) continue;
        snprintf(name, sizeof name, "indicator[%lu]", (unsigned long)k + 1);
        return fmu_not_finite(f, function, "value of", name);
    }
    return SIMULATOR_OK;
}

int simulator_fmu_nominals(simulator_fmu *f, const char *function, double *values, size_t n)
{
    if (fmu_length(f, function, values, n, SIMULATOR_CONTINUOUS)) return SIMULATOR_ERROR;
    for (size_t k = 0; k < n; ++k) values[k] = 1.0;
    return SIMULATOR_OK;
}

/* The derivatives of the further outputs in the direction `seed` of the columns `given`. */
static void fmu_slopes(simulator *s, const int *given, int n, const double *seed, double *slopes)
{
#if SIMULATOR_OUTPUTS > 0
    double states[SIMULATOR_ROOM(SIMULATOR_CONTINUOUS)], moved[SIMULATOR_COLUMNS] = {0.0};
    simulator_get_continuous(s, states);
    for (int k = 0; k < n; ++k) moved[given[k]] += seed[k];
    simulator_observe_forward(&s->memory[SIMULATOR_AT_T], states, s->memory + SIMULATOR_AT_M_NEXT, s->u, s->p, moved,
                              moved + SIMULATOR_ROW, moved + SIMULATOR_ROW + SIMULATOR_NU, slopes);
#else
    (void)s, (void)given, (void)n, (void)seed, (void)slopes;
#endif
}

int simulator_fmu_directional(simulator_fmu *f, const char *function, const unsigned *unknowns, size_t nu,
                              const unsigned *knowns, size_t nk, const double *seed, double *sensitivity)
{
    simulator *s = fmu_model(f);
    int given[VALUES], wanted[VALUES];
    double slopes[SIMULATOR_ROOM(SIMULATOR_OUTPUTS)] = {0.0};
    if (!s || simulator_fmu_given(f, function, (nu == 0 || (unknowns && sensitivity)) && (nk == 0 || (knowns && seed)))) {
        return SIMULATOR_ERROR;
    }
    if (nk > VALUES || nu > VALUES) {
        return simulator_fmu_refuse(f, "%s: %lu unknowns and %lu knowns are given; expected at most %d of each.",
                                    function, (unsigned long)nu, (unsigned long)nk, VALUES);
    }
    for (size_t k = 0; k < nk; ++k) {
        given[k] = knowns[k] > 0 && knowns[k] < AT_RATES ? (int)knowns[k] - 1 : -1;
        if (fmu_settable(given[k])) continue;
        return simulator_fmu_refuse(f, "%s: the value with the reference %u is no known; expected a continuous state, "
                                       "an input or a parameter.", function, knowns[k]);
    }
    for (size_t k = 0; k < nu; ++k) { /* further outputs are filled in below, the others by the model */
        if (unknowns[k] == 0 || unknowns[k] >= AT_INDICATORS) {
            return simulator_fmu_refuse(f, "%s: the value with the reference %u is no unknown; expected an output or the "
                                           "rate of a state.", function, unknowns[k]);
        }
        wanted[k] = unknowns[k] < AT_OUTPUTS ? (int)unknowns[k] - 1 : 0;
    }
    if (simulator_directional(s, wanted, (int)nu, given, (int)nk, seed, sensitivity) != SIMULATOR_GOING) {
        return simulator_fmu_refuse(f, "%s: a derivative is not finite at t = %.9g s.", function, simulator_time(s));
    }
    fmu_slopes(s, given, (int)nk, seed, slopes);
    for (size_t k = 0; k < nu; ++k) {
        if (unknowns[k] >= AT_OUTPUTS) sensitivity[k] = slopes[unknowns[k] - AT_OUTPUTS];
    }
    return SIMULATOR_OK;
}

/* ── states ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

int simulator_fmu_save(simulator_fmu *f, const char *function, void **state)
{
    if (simulator_fmu_given(f, function, state != NULL)) return SIMULATOR_ERROR;
    if (!*state) *state = malloc(sizeof f->now);
    if (!*state) return simulator_fmu_refuse(f, "%s: there is no memory for a state.", function);
    memcpy(*state, &f->now, sizeof f->now);
    return SIMULATOR_OK;
}

int simulator_fmu_restore(simulator_fmu *f, const char *function, const void *state)
{
    const simulator_moment *then = state;
    if (!state) return simulator_fmu_refuse(f, "%s: no state is given; expected one of this FMU.", function);
    if (then->mode & (f->exchange ? SIMULATOR_STEPPING : SIMULATOR_EXCHANGING)) {
        return simulator_fmu_refuse(f, "%s: the state is that of an instance for %s, and this one is for %s. Restore a "
                                       "state of the same kind.", function,
                                    f->exchange ? "co-simulation" : "model exchange",
                                    f->exchange ? "model exchange" : "co-simulation");
    }
    memcpy(&f->now, state, sizeof f->now);
    fmu_outdate(f);
    return SIMULATOR_OK;
}

int simulator_fmu_forget(void **state)
{
    if (state) {
        free(*state);
        *state = NULL;
    }
    return SIMULATOR_OK;
}

#define BYTES (sizeof SIMULATOR_TOKEN + sizeof(simulator_moment)) /* of a state that is serialized */

int simulator_fmu_size(const simulator_fmu *f, const char *function, size_t *size)
{
    if (simulator_fmu_given(f, function, size != NULL)) return SIMULATOR_ERROR;
    *size = BYTES;
    return SIMULATOR_OK;
}

int simulator_fmu_write(simulator_fmu *f, const char *function, const void *state, unsigned char *bytes, size_t size)
{
    if (!state || !bytes || size < BYTES) {
        return simulator_fmu_refuse(f, "%s: %lu bytes are given; expected a state and at least %lu bytes.", function,
                                    (unsigned long)size, (unsigned long)BYTES);
    }
    memcpy(bytes, SIMULATOR_TOKEN, sizeof SIMULATOR_TOKEN);
    memcpy(bytes + sizeof SIMULATOR_TOKEN, state, sizeof(simulator_moment));
    return SIMULATOR_OK;
}

int simulator_fmu_read(simulator_fmu *f, const char *function, const unsigned char *bytes, size_t size, void **state)
{
    if (simulator_fmu_given(f, function, bytes && state)) return SIMULATOR_ERROR;
    if (size < BYTES || memcmp(bytes, SIMULATOR_TOKEN, sizeof SIMULATOR_TOKEN) != 0) {
        return simulator_fmu_refuse(f, "%s: the bytes are not a state of this FMU.", function);
    }
    if (!*state) *state = malloc(sizeof(simulator_moment));
    if (!*state) return simulator_fmu_refuse(f, "%s: there is no memory for a state.", function);
    memcpy(*state, bytes + sizeof SIMULATOR_TOKEN, sizeof(simulator_moment));
    return SIMULATOR_OK;
}
