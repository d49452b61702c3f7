/* A whole run: chunks of samples, jumps of the state between them, and the outcome. */
#include "simulator_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulator_model.h"

#define PENDING (2 * SIMULATOR_LOG_LENGTH) /* jumps that wait for the samples before them */
#define BEFORE (4 + SIMULATOR_NC)          /* where the state before a jump begins in its row of the log */
#define AFTER (BEFORE + SIMULATOR_ROW)
#define PI 3.14159265358979323846

typedef struct run {
    simulator *s;
    const simulator_plan *plan;
    simulator_outcome *outcome;
    double start;
    double first, step, parts; /* regular sample times are (first + k step) / parts */
    int skipped;               /* the number of given sample times that are not after the start */
    long count;                /* the number of samples */
    long next;                 /* the number of the next sample */
    double log[PENDING][SIMULATOR_LOG_WIDTH];
    int pending;
    double last;  /* the time of the last sample that was delivered, in this piece */
    int piece;
    int empty; /* whether this piece has no sample yet */
    int ended;
    double begin[SIMULATOR_ROOM(SIMULATOR_NQ)]; /* the configuration from which gimbals move to their singular angles */
    int close; /* whether a gimbal is near a singular angle, and the time [s] and the number of steps since when */
    double close_time, close_steps;
    int last_mark; /* of the last event */
} run;

/* ── sample times ─────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The ratio of whole numbers up to 1e6 that equals x up to rounding, by its continued fraction; 0 if there is none. */
static int ratio(double x, double *over, double *under)
{
    double rest = fabs(x), p0 = 1.0, q0 = 0.0, p1 = floor(rest), q1 = 1.0;
    for (int k = 0; k < 40; ++k) {
        double part = rest - floor(rest), whole, p, q;
        if (fabs(p1 / q1 - fabs(x)) <= 4.0 * 2.220446049250313e-16 * fabs(x)) {
            *over = x < 0.0 ? -p1 : p1;
            *under = q1;
            return 1;
        }
        if (part <= 0.0) return 0;
        rest = 1.0 / part;
        whole = floor(rest);
        p = whole * p1 + p0;
        q = whole * q1 + q0;
        if (q > 1e6) return 0;
        p0 = p1, q0 = q1, p1 = p, q1 = q;
    }
    return 0;
}

/* Sets the formula of regular sample times: only its division rounds, so that sample times that should coincide do. */
static void plan_times(run *r)
{
    const simulator_plan *plan = r->plan;
    const double start = r->start, length = plan->until - r->start;
    double a, b, c, d, parts = 0.0;
    if (plan->times) { /* those between the start and the end, and both of these */
        r->count = 2;
        for (int k = 0; k < plan->count; ++k) {
            if (plan->times[k] <= start) r->skipped = k + 1;
            else if (plan->times[k] < plan->until) r->count += 1;
        }
        return;
    }
    if (ratio(plan->spacing, &a, &b) && ratio(start, &c, &d)) {
        double x = b, y = d;
        while (y > 0.0) {
            const double rest = fmod(x, y);
            x = y, y = rest;
        }
        parts = b / x * d;
        if (parts > 1e9) parts = 0.0;
    }
    if (parts > 0.0) {
        r->first = c * (parts / d), r->step = a * (parts / b), r->parts = parts;
    } else {
        r->first = start, r->step = plan->spacing, r->parts = 1.0;
    }
    r->count = (long)floor(length / plan->spacing * (1.0 + 1e-12) + 1e-9) + 1;
    if (plan->until - (r->first + (double)(r->count - 1) * r->step) / r->parts > 1e-9 * length) r->count += 1;
}

/* The time of sample k [s]; the last one is the end of the run. */
static double sample_time(const run *r, long k)
{
    if (k == 0) return r->start;
    if (k >= r->count - 1) return simulator_snapped(r->plan->until);
    if (r->plan->times) return simulator_snapped(r->plan->times[r->skipped + k - 1]);
    return simulator_snapped((r->first + (double)k * r->step) / r->parts);
}

/* ── outcomes ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void end(run *r, const char *kind, double t, const char *sentence, const char *name)
{
    r->outcome->kind = kind;
    r->outcome->t = t;
    r->outcome->sentence = sentence;
    r->outcome->name = name;
    r->ended = 1;
}

static void report(run *r, double t, int mark, const char *kind, double lost)
{
    r->last_mark = mark;
    r->outcome->events += 1;
    if (r->plan->event) r->plan->event(r->plan->sink, t, simulator_marks[mark].name, kind, lost);
}

/* Records a jump; returns 0 where the run came to rest before it, so that it does not count. */
static int jumped(run *r, const double *row)
{
    const int mark = (int)row[1];
    const double t = row[0];
    const simulator_pace *own = &r->s->paces[mark];
    double rest;
    int kind = simulator_marks[mark].kind, pushed = 0;
    for (int k = 0; k < SIMULATOR_NC; ++k) pushed |= row[4 + k] != 0.0;
    if (kind == SIMULATOR_IMPACT && !pushed) kind = SIMULATOR_SWITCH;
    rest = simulator_record(r->s, mark, t);
    if (simulator_marks[mark].least > 0) r->outcome->last = own->count > 1 ? own->times[2] - own->times[1] : 0.0;
    if (rest > -INFINITY) {
        report(r, rest, mark, simulator_kinds[SIMULATOR_REST_KIND], 0.0);
        end(r, "rest", rest, SIMULATOR_SAYS_COMES_TO_REST, simulator_marks[mark].name);
        simulator_go_back(r->s, row);
        return 0;
    }
    report(r, t, mark, simulator_kinds[kind], row[3]);
    if (row[2] == 0.0 && simulator_marks[mark].stays) {
        report(r, t, mark, simulator_kinds[SIMULATOR_REST_KIND], 0.0);
        end(r, "rest", t, SIMULATOR_SAYS_STAYS_AT_ZERO, simulator_marks[mark].name);
        simulator_go_back(r->s, row);
        return 1;
    }
    if (r->s->together >= SIMULATOR_MOST_SWITCHES) {
        end(r, "failed", t, SIMULATOR_SAYS_ENDLESS, simulator_marks[mark].name);
    }
    return 1;
}

/* Ends the run where a formula is outside its domain at a configuration q, or nearer than `edge` to an end of it at
 * which its derivative is infinite. */
static void watch_domains(run *r, double t, const double *q, double edge)
{
#if SIMULATOR_DOMAINS > 0
    double values[SIMULATOR_DOMAINS];
    simulator_arguments(&t, q, r->s->p, values);
    for (int k = 0; k < SIMULATOR_DOMAINS && !r->ended; ++k) {
        const simulator_domain *own = &simulator_domains[k];
        const double inner = own->steep ? edge : 0.0, value = values[k];
        if (value >= own->low + inner && value <= own->high - inner) continue;
        end(r, "failed", t, own->sentence, r->outcome->text);
        if (!isfinite(value)) {
            strcpy(r->outcome->text, "not a number");
        } else {
            const int inside = isfinite(own->high) && value >= own->low && value <= own->high;
            sprintf(r->outcome->text, "%.9g%s", value, inside ? ", where the domain ends" : "");
        }
    }
#else
    (void)r, (void)t, (void)q, (void)edge;
#endif
}

/* The first gimbal whose second angle at q is nearer than `edge` [rad] to a singular angle, or has passed one since the
 * configuration `begin`, unless that is NULL; -1 if there is none. Angles so large that their digits do not show this are
 * not near. */
static int gimbal_at(const double *q, double edge, const double *begin)
{
    for (int k = 0; k < SIMULATOR_GIMBALS; ++k) {
        const double angle = q[simulator_gimbals[k].second], turns = (angle - simulator_gimbals[k].angle) / PI;
        if (fabs(turns - rint(turns)) * PI < edge && 2.220446049250313e-16 * fabs(angle) < edge) return k;
        if (begin && floor(turns) != floor((begin[simulator_gimbals[k].second] - simulator_gimbals[k].angle) / PI)) return k;
    }
    return -1;
}

/* Ends the run where a gimbal is at its singular angle, see `gimbal_at`; `last` is the configuration before q. */
static void watch_gimbals(run *r, double t, const double *q, double edge, const double *begin, const double *last)
{
    const int found = gimbal_at(q, edge, begin);
    if (found >= 0) {
        const simulator_gimbal *own = &simulator_gimbals[found];
        end(r, "failed", t, own->sentence, r->outcome->text);
        sprintf(r->outcome->text, "%.6g", (own->angle + PI * rint((last[own->second] - own->angle) / PI)) * 180.0 / PI);
    }
}

/* Ends a run that has failed or diverges where its coordinates end: near a singular angle, or the end of a domain. */
static void watch_now(run *r, int domains)
{
    const double *q = r->s->memory + SIMULATOR_AT_BASE, t = simulator_time(r->s);
    if (domains) {
        double after[SIMULATOR_ROOM(SIMULATOR_NQ)] = {0.0}, h = r->s->memory[SIMULATOR_AT_H];
        for (int k = 0; k < SIMULATOR_NQ; ++k) {
            after[k] = q[k];
#if SIMULATOR_NQ == SIMULATOR_NV
            after[k] += h * r->s->memory[SIMULATOR_AT_S + SIMULATOR_NV + k];
#endif
        }
        watch_domains(r, t, q, SIMULATOR_DOMAIN_NEAR);
        if (!r->ended) watch_domains(r, t + h, after, 0.0);
    }
    if (!r->ended) watch_gimbals(r, t, q, SIMULATOR_GIMBAL_NEAR, NULL, q);
}

/* The number of samples of the last call before the first one whose coordinates mean nothing, which ends the run. */
static int watch_samples(run *r)
{
    const simulator *s = r->s;
    const double *last = r->begin;
    int k = 0;
    for (; k < s->done; ++k) {
        const double *row = s->rows + k * SIMULATOR_ROW;
        watch_domains(r, s->times[k], row, SIMULATOR_DOMAIN_EDGE);
        if (!r->ended) watch_gimbals(r, s->times[k], row, SIMULATOR_GIMBAL_EDGE, r->begin, last);
        if (r->ended) break;
        last = row;
    }
    if (s->done > 0) memcpy(r->begin, last, sizeof r->begin[0] * SIMULATOR_NQ);
    return k;
}

/* Says why the march has failed at its present state. */
static void explain(run *r, int status)
{
    simulator *s = r->s;
    const double *state = s->memory + SIMULATOR_AT_S, t = simulator_time(s);
    double rate[SIMULATOR_ROOM(SIMULATOR_NS)] = {0.0}, worst = -2.0;
    int first = 0, good = 1, bad = -1, whole = 1;
    const char *sentence = SIMULATOR_SAYS_TOO_SHORT;
#if SIMULATOR_NM > 0
    if (status == SIMULATOR_TICK) { /* samples again, to find the value that is not finite */
        s->ready = 0;
        simulator_prepare(s);
        for (int k = SIMULATOR_NM - 1; k >= 0; --k) {
            if (!isfinite(s->memory[SIMULATOR_AT_M_NEXT + k])) first = k;
        }
        end(r, "failed", t, SIMULATOR_SAYS_NOT_SAMPLED, simulator_names[SIMULATOR_ROW - SIMULATOR_NM + first] + 2);
        r->outcome->unit = simulator_owners[first];
        r->outcome->value = s->memory[SIMULATOR_AT_M_NEXT + first];
        return;
    }
#endif
#if SIMULATOR_USER
    if (simulator_user_trouble()) {
        end(r, "failed", t, SIMULATOR_SAYS_USER_NOT_FINITE, simulator_user_trouble());
        return;
    }
#endif
#if SIMULATOR_GUARDS > 0
    if (status == SIMULATOR_GIVEN_UP) { /* too many jumps at one instant */
        end(r, "failed", t, SIMULATOR_SAYS_ENDLESS, simulator_marks[(int)s->log[1]].name);
        return;
    }
#endif
    watch_now(r, 1);
    if (r->ended) return;
    simulator_rate(&s->memory[SIMULATOR_AT_T], s->memory + SIMULATOR_AT_BASE, state, s->memory + SIMULATOR_AT_M_NEXT,
                   s->u, s->p, rate);
    for (int k = 0; k < SIMULATOR_NS; ++k) {
        const double growth = simulator_variables[k][0] ? fabs(rate[k]) / (1.0 + fabs(state[k])) : -1.0;
        if (!isfinite(rate[k]) && bad < 0) bad = k;
        if (!(fabs(state[k]) < SIMULATOR_RUN_AWAY)) good = 0;
        if (k >= SIMULATOR_NV && k < 2 * SIMULATOR_NV && !isfinite(state[k])) whole = 0;
        if (growth > worst) worst = growth, first = k;
    }
    if (bad >= 0 && good) {
        sentence = SIMULATOR_SAYS_RATE_NOT_FINITE;
        first = bad;
    } else if (status == SIMULATOR_LOST) {
        sentence = SIMULATOR_SAYS_LOST;
    } else if (status == SIMULATOR_BREACH) {
        sentence = SIMULATOR_SAYS_BREAKS_CONSTRAINTS;
    } else if (SIMULATOR_SAYS_IMPULSES_NOT_FOUND[0] && !whole) {
        sentence = SIMULATOR_SAYS_IMPULSES_NOT_FOUND;
    } else if (status == SIMULATOR_INFINITE) {
        sentence = SIMULATOR_SAYS_NOT_FINITE;
    } else if (status == SIMULATOR_UNSOLVED) {
        sentence = SIMULATOR_SAYS_UNSOLVED;
    } else if (fabs(state[first]) > SIMULATOR_FAR) {
        sentence = SIMULATOR_SAYS_GROWS;
    }
    end(r, "failed", t, sentence, simulator_variables[first]);
    r->outcome->value = state[first];
}

/* Ends a run whose steps dwindle because a gimbal comes to its singular angle: at the pace since it came near, the run
 * would take more than SIMULATOR_HOPELESS steps. */
static void look_at_gimbals(run *r)
{
    const double *q = r->s->memory + SIMULATOR_AT_BASE, t = simulator_time(r->s);
    const double steps = (double)(simulator_accepted(r->s) + simulator_rejected(r->s));
    if (gimbal_at(q, SIMULATOR_GIMBAL_NEAR, NULL) < 0) {
        r->close = 0;
    } else if (!r->close) {
        r->close = 1, r->close_time = t, r->close_steps = steps;
    } else if ((steps - r->close_steps) * (r->plan->until - r->start) > SIMULATOR_HOPELESS * (t - r->close_time)) {
        watch_gimbals(r, t, q, SIMULATOR_GIMBAL_NEAR, NULL, q);
    }
}

/* Ends the run where a velocity of a robot is too large to mean anything, and where a gimbal locks. */
static void look(run *r)
{
    const double *v = r->s->memory + SIMULATOR_AT_S + SIMULATOR_NV;
    int worst = -1;
    if (!SIMULATOR_ROBOT) return;
    for (int k = 0; k < SIMULATOR_NV; ++k) {
        if (fabs(v[k]) > SIMULATOR_SENSELESS && (worst < 0 || fabs(v[k]) > fabs(v[worst]))) worst = k;
    }
    if (worst < 0) {
        if (!SIMULATOR_FIXED) look_at_gimbals(r);
        return;
    }
    watch_now(r, 0);
    if (r->ended) return;
    end(r, "failed", simulator_time(r->s), SIMULATOR_SAYS_DIVERGES, simulator_variables[SIMULATOR_NV + worst]);
    r->outcome->value = v[worst];
    r->outcome->unit = simulator_units[SIMULATOR_NQ + worst];
}

void simulator_message(const simulator_outcome *outcome, char *text, int size)
{
    int n = 0;
    text[0] = '\0';
    for (const char *c = outcome->sentence; *c && n < size - 1; ++c) {
        char number[40];
        const char *piece = number;
        number[0] = *c, number[1] = '\0';
        switch (*c) {
        case 1: snprintf(number, sizeof number, "%.9g", outcome->t); break;
        case 2: piece = outcome->name; break;
        case 3: snprintf(number, sizeof number, "%.3g", outcome->value); break;
        case 4: snprintf(number, sizeof number, "%g", outcome->h); break;
        case 5: snprintf(number, sizeof number, "%g", outcome->h / 10.0); break;
        case 6: snprintf(number, sizeof number, "%.2g", outcome->last); break;
        case 7: piece = outcome->unit; break;
        case 8: snprintf(number, sizeof number, "%ld", outcome->events); break;
        default: break;
        }
        for (; *piece && n < size - 1; ++piece) text[n++] = *piece;
    }
    text[n] = '\0';
}

/* ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Delivers a sample, unless this piece has one at this time already. */
static void deliver(run *r, double t, const double *row)
{
    if (!r->empty && r->last == t) return;
    r->empty = 0;
    r->last = t;
    if (r->plan->sample) r->plan->sample(r->plan->sink, t, row, r->piece);
}

/* Delivers the present state as a sample. */
static void deliver_present(run *r)
{
    double row[SIMULATOR_ROOM(SIMULATOR_ROW)] = {0.0};
    for (int k = 0; k < SIMULATOR_ROW; ++k) row[k] = simulator_get(r->s, k);
    deliver(r, simulator_time(r->s), row);
}

/* Delivers samples, and the jumps between them; a jump waits until all samples before it are there. */
static void store(run *r, int kept)
{
    simulator *s = r->s;
    const double following = r->next < r->count ? sample_time(r, r->next) : INFINITY;
    double most = INFINITY; /* beyond the end of the run nothing is delivered */
    int k = 0, taken = 0;
    for (; taken < r->pending && r->log[taken][0] <= following && !r->ended; ++taken) {
        const double *row = r->log[taken], t = row[0];
        const int counts = jumped(r, row);
        if (r->ended) most = counts ? t : -INFINITY;
        int cut = simulator_marks[(int)row[1]].jumps;
        if (simulator_marks[(int)row[1]].kind == SIMULATOR_IMPACT) { /* without impulses it only switches modes */
            cut = 0;
            for (int j = 0; j < SIMULATOR_NC; ++j) cut |= row[4 + j] != 0.0;
        }
        for (; k < kept && s->times[k] < t; ++k) deliver(r, s->times[k], s->rows + k * SIMULATOR_ROW);
        if (!cut) continue;
        deliver(r, t, row + BEFORE);
        if (!counts) continue;
        r->piece += 1;
        r->empty = 1;
        deliver(r, t, row + AFTER);
        for (; k < kept && s->times[k] <= t; ++k) continue;
    }
    for (; k < kept && s->times[k] <= most; ++k) deliver(r, s->times[k], s->rows + k * SIMULATOR_ROW);
    r->pending -= taken;
    memmove(r->log, r->log + taken, sizeof r->log[0] * (size_t)r->pending);
}

/* One call of the march through the next samples up to the time `stop` [s]; returns its status. */
static int through(run *r, double stop)
{
    simulator *s = r->s;
    int count = 0, status;
    while (count < SIMULATOR_SAMPLES - 1 && r->next + count < r->count && sample_time(r, r->next + count) <= stop) {
        s->times[count] = sample_time(r, r->next + count);
        count += 1;
    }
    status = simulator_march(s, count, stop);
    r->next += s->done;
    for (int k = 0; k < s->logged && r->pending < PENDING; ++k) {
        memcpy(r->log[r->pending++], s->log + k * SIMULATOR_LOG_WIDTH, sizeof r->log[0]);
    }
    if (SIMULATOR_DOMAINS + SIMULATOR_GIMBALS > 0) {
        const int kept = watch_samples(r);
        const simulator_outcome failed = *r->outcome;
        const int left = r->ended;
        r->ended = 0;
        store(r, kept);
        if (left && !r->ended) { /* no jump has ended the run before */
            const long events = r->outcome->events;
            *r->outcome = failed;
            r->outcome->events = events;
            r->outcome->name = r->outcome->text;
            r->ended = 1;
        }
    } else {
        store(r, s->done);
    }
    return status;
}

void simulator_usual_plan(simulator_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->until = SIMULATOR_UNTIL;
    plan->spacing = SIMULATOR_SPACING;
    plan->times = SIMULATOR_TIMES > 0 ? simulator_times : NULL;
    plan->count = SIMULATOR_TIMES;
    plan->most_events = SIMULATOR_MOST_EVENTS;
}

void simulator_explain(simulator *s, int status, simulator_outcome *outcome)
{
    run r;
    memset(&r, 0, sizeof r);
    memset(outcome, 0, sizeof *outcome);
    outcome->name = outcome->unit = "";
    outcome->h = s->memory[SIMULATOR_AT_H];
    r.s = s, r.outcome = outcome;
    explain(&r, status);
}

int simulator_run(simulator *s, const simulator_plan *plan, simulator_outcome *outcome)
{
    const double until = simulator_snapped(plan->until); /* the time of the last sample */
    run r;
    int status;
    memset(&r, 0, sizeof r);
    memset(outcome, 0, sizeof *outcome);
    outcome->name = outcome->unit = "";
    outcome->h = s->memory[SIMULATOR_AT_H];
    outcome->events = plan->events;
    r.s = s, r.plan = plan, r.outcome = outcome;
    r.start = simulator_time(s);
    r.empty = 1;
    s->limits[5] = plan->most_events;
    plan_times(&r);
    status = simulator_prepare(s);
    deliver_present(&r);
    memcpy(r.begin, s->memory + SIMULATOR_AT_BASE, sizeof r.begin[0] * SIMULATOR_NQ);
    r.next = 1;
    if (status == SIMULATOR_UNSOLVED) {
        end(&r, "failed", r.start, SIMULATOR_SAYS_NOT_CLOSED, "");
    } else if (status != SIMULATOR_GOING) {
        explain(&r, status);
    }
    while (!r.ended && (simulator_time(s) < until || r.next < r.count)) {
        status = through(&r, until);
        if (!r.ended) look(&r);
        if (r.ended || status == SIMULATOR_GOING || status == SIMULATOR_BUDGET || status == SIMULATOR_LOGGED) continue;
        while (!r.ended && r.next < r.count && sample_time(&r, r.next) <= simulator_time(s)) {
            through(&r, simulator_time(s)); /* samples that did not fit into the call */
        }
        if (r.ended) break;
        if ((status == SIMULATOR_STOPPED || status == SIMULATOR_ENOUGH) && !simulator_marks[r.last_mark].jumps &&
            simulator_marks[r.last_mark].kind != SIMULATOR_SWITCH) {
            deliver_present(&r); /* the state has not jumped, so that there is no sample yet */
        }
        if (status == SIMULATOR_STOPPED) {
            end(&r, "stopped", simulator_time(s), SIMULATOR_SAYS_STOPPED_BY, simulator_marks[r.last_mark].name);
        } else if (status == SIMULATOR_ENOUGH) {
            const int one = outcome->events == 1;
            end(&r, "stopped", simulator_time(s), one ? SIMULATOR_SAYS_STOPPED_AFTER_ONE : SIMULATOR_SAYS_STOPPED_AFTER,
                "");
        } else {
            explain(&r, status);
        }
    }
    if (!r.ended) end(&r, "finished", simulator_time(s), "", "");
    return strcmp(outcome->kind, "failed") != 0;
}
