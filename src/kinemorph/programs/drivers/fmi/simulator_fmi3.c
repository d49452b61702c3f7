/* The functions of FMI 3.0 for co-simulation and model exchange: each calls a function of simulator_fmu.c. */
#include "simulator_fmi3.h"

#include <math.h>

#include "simulator_fmu.h"

#define EXPORTED(type, name) FMI3_EXPORT type FMI3_NAME(name)
#define NEEDED(f) if (!(f)) return fmi3Error

static void fmi3_log(const simulator_fmu *f, int status, const char *category, const char *message)
{
    const fmi3LogMessageCallback callback = (fmi3LogMessageCallback)f->callback;
    if (callback) callback(f->environment, (fmi3Status)status, category, message);
}

/* ── instances ────────────────────────────────────────────────────────────────────────────────────────────────────── */

EXPORTED(const char *, fmi3GetVersion)(void)
{
    return "3.0";
}

EXPORTED(fmi3Instance, fmi3InstantiateModelExchange)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)resources, (void)visible;
    return simulator_fmu_new(name, token, 1, logging, fmi3_log, (void (*)(void))log, environment);
}

EXPORTED(fmi3Instance, fmi3InstantiateCoSimulation)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3Boolean eventMode, fmi3Boolean early, const fmi3ValueReference *intermediate, size_t nIntermediate,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    simulator_fmu *f = simulator_fmu_new(name, token, 0, logging, fmi3_log, (void (*)(void))log, environment);
    (void)resources, (void)visible, (void)intermediate, (void)nIntermediate, (void)update;
    if (!f) return NULL;
    f->early = early;
    if (!eventMode) return f;
    simulator_fmu_refuse(f, "%s: event mode is asked for, which the co-simulation of this FMU does not have: its events "
                            "are handled within steps.", __func__);
    simulator_fmu_free(f);
    return NULL;
}

EXPORTED(fmi3Instance, fmi3InstantiateScheduledExecution)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3ClockUpdateCallback update,
    fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)update, (void)lock, (void)unlock;
    if (log) log(environment, fmi3Error, "logStatusError", "This FMU has no scheduled execution. Use co-simulation.");
    return NULL;
}

EXPORTED(void, fmi3FreeInstance)(fmi3Instance f)
{
    simulator_fmu_free(f);
}

EXPORTED(fmi3Status, fmi3SetDebugLogging)(fmi3Instance instance, fmi3Boolean logging, size_t n,
                                          const fmi3String *categories)
{
    simulator_fmu *f = instance;
    (void)n, (void)categories;
    NEEDED(f);
    f->logging = logging;
    return fmi3OK;
}

EXPORTED(fmi3Status, fmi3EnterInitializationMode)(fmi3Instance f, fmi3Boolean hasTolerance, fmi3Float64 tolerance,
                                                  fmi3Float64 start, fmi3Boolean hasStop, fmi3Float64 stop)
{
    NEEDED(f);
    return simulator_fmu_initialize(f, __func__, hasTolerance, tolerance, start, hasStop, stop);
}

EXPORTED(fmi3Status, fmi3ExitInitializationMode)(fmi3Instance f)
{
    NEEDED(f);
    return simulator_fmu_initialized(f, __func__);
}

EXPORTED(fmi3Status, fmi3Terminate)(fmi3Instance f)
{
    NEEDED(f);
    return simulator_fmu_terminate(f, __func__);
}

EXPORTED(fmi3Status, fmi3Reset)(fmi3Instance f)
{
    NEEDED(f);
    return simulator_fmu_reset(f);
}

/* ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Whether there is a number for each reference: all variables are scalars. */
static int fmi3_paired(const simulator_fmu *f, const char *function, size_t n, size_t values)
{
    if (n == values) return fmi3OK;
    return simulator_fmu_refuse(f, "%s: %lu values are given for %lu references; expected one for each.", function,
                                (unsigned long)values, (unsigned long)n);
}

EXPORTED(fmi3Status, fmi3GetFloat64)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                     fmi3Float64 *values, size_t nValues)
{
    NEEDED(f);
    if (fmi3_paired(f, __func__, n, nValues)) return fmi3Error;
    return simulator_fmu_get(f, __func__, references, n, values);
}

EXPORTED(fmi3Status, fmi3SetFloat64)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                     const fmi3Float64 *values, size_t nValues)
{
    NEEDED(f);
    if (fmi3_paired(f, __func__, n, nValues)) return fmi3Error;
    return simulator_fmu_set(f, __func__, references, n, values);
}

/* Variables of other types do not exist: only calls without references are right. */
static fmi3Status fmi3_none(const simulator_fmu *f, const char *function, size_t n)
{
    NEEDED(f);
    if (n == 0) return fmi3OK;
    return simulator_fmu_refuse(f, "%s: all variables of this FMU are of the type Float64, and references of another "
                                   "type are given.", function);
}

#define NO_VARIABLES(type)                                                                                              \
    EXPORTED(fmi3Status, fmi3Get##type)(fmi3Instance f, const fmi3ValueReference *references, size_t n,                 \
                                        fmi3##type *values, size_t nValues)                                             \
    {                                                                                                                   \
        (void)references, (void)values, (void)nValues;                                                                  \
        return fmi3_none(f, __func__, n);                                                                               \
    }                                                                                                                   \
    EXPORTED(fmi3Status, fmi3Set##type)(fmi3Instance f, const fmi3ValueReference *references, size_t n,                 \
                                        const fmi3##type *values, size_t nValues)                                       \
    {                                                                                                                   \
        (void)references, (void)values, (void)nValues;                                                                  \
        return fmi3_none(f, __func__, n);                                                                               \
    }

NO_VARIABLES(Float32)
NO_VARIABLES(Int8)
NO_VARIABLES(UInt8)
NO_VARIABLES(Int16)
NO_VARIABLES(UInt16)
NO_VARIABLES(Int32)
NO_VARIABLES(UInt32)
NO_VARIABLES(Int64)
NO_VARIABLES(UInt64)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

EXPORTED(fmi3Status, fmi3GetBinary)(fmi3Instance f, const fmi3ValueReference *references, size_t n, size_t *sizes,
                                    fmi3Binary *values, size_t nValues)
{
    (void)references, (void)sizes, (void)values, (void)nValues;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3SetBinary)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                    const size_t *sizes, const fmi3Binary *values, size_t nValues)
{
    (void)references, (void)sizes, (void)values, (void)nValues;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3GetClock)(fmi3Instance f, const fmi3ValueReference *references, size_t n, fmi3Clock *values)
{
    (void)references, (void)values;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3SetClock)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                   const fmi3Clock *values)
{
    (void)references, (void)values;
    return fmi3_none(f, __func__, n);
}

/* ── states and derivatives ───────────────────────────────────────────────────────────────────────────────────────── */

EXPORTED(fmi3Status, fmi3GetFMUState)(fmi3Instance f, fmi3FMUState *state)
{
    NEEDED(f);
    return simulator_fmu_save(f, __func__, state);
}

EXPORTED(fmi3Status, fmi3SetFMUState)(fmi3Instance f, fmi3FMUState state)
{
    NEEDED(f);
    return simulator_fmu_restore(f, __func__, state);
}

EXPORTED(fmi3Status, fmi3FreeFMUState)(fmi3Instance f, fmi3FMUState *state)
{
    NEEDED(f);
    return simulator_fmu_forget(state);
}

EXPORTED(fmi3Status, fmi3SerializedFMUStateSize)(fmi3Instance f, fmi3FMUState state, size_t *size)
{
    (void)state;
    NEEDED(f);
    return simulator_fmu_size(f, __func__, size);
}

EXPORTED(fmi3Status, fmi3SerializeFMUState)(fmi3Instance f, fmi3FMUState state, fmi3Byte *bytes, size_t size)
{
    NEEDED(f);
    return simulator_fmu_write(f, __func__, state, bytes, size);
}

EXPORTED(fmi3Status, fmi3DeserializeFMUState)(fmi3Instance f, const fmi3Byte *bytes, size_t size, fmi3FMUState *state)
{
    NEEDED(f);
    return simulator_fmu_read(f, __func__, bytes, size, state);
}

EXPORTED(fmi3Status, fmi3GetDirectionalDerivative)(
    fmi3Instance f, const fmi3ValueReference *unknowns, size_t nUnknowns, const fmi3ValueReference *knowns,
    size_t nKnowns, const fmi3Float64 *seed, size_t nSeed, fmi3Float64 *sensitivity, size_t nSensitivity)
{
    NEEDED(f);
    if (fmi3_paired(f, __func__, nKnowns, nSeed) || fmi3_paired(f, __func__, nUnknowns, nSensitivity)) return fmi3Error;
    return simulator_fmu_directional(f, __func__, unknowns, nUnknowns, knowns, nKnowns, seed, sensitivity);
}

EXPORTED(fmi3Status, fmi3GetAdjointDerivative)(
    fmi3Instance f, const fmi3ValueReference *unknowns, size_t nUnknowns, const fmi3ValueReference *knowns,
    size_t nKnowns, const fmi3Float64 *seed, size_t nSeed, fmi3Float64 *sensitivity, size_t nSensitivity)
{
    (void)unknowns, (void)nUnknowns, (void)knowns, (void)nKnowns, (void)seed, (void)nSeed, (void)sensitivity;
    (void)nSensitivity;
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

EXPORTED(fmi3Status, fmi3GetNumberOfVariableDependencies)(fmi3Instance f, fmi3ValueReference reference, size_t *n)
{
    (void)reference, (void)n;
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

EXPORTED(fmi3Status, fmi3GetVariableDependencies)(fmi3Instance f, fmi3ValueReference dependent, size_t *elements,
                                                  fmi3ValueReference *independents, size_t *independentElements,
                                                  fmi3DependencyKind *kinds, size_t n)
{
    (void)dependent, (void)elements, (void)independents, (void)independentElements, (void)kinds, (void)n;
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

/* ── co-simulation ────────────────────────────────────────────────────────────────────────────────────────────────── */

EXPORTED(fmi3Status, fmi3DoStep)(fmi3Instance instance, fmi3Float64 t, fmi3Float64 h, fmi3Boolean noEarlierState,
                                 fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last)
{
    simulator_fmu *f = instance;
    int status;
    (void)noEarlierState;
    NEEDED(f);
    if (simulator_fmu_given(f, __func__, event && terminate && early && last)) return fmi3Error;
    status = simulator_fmu_step(f, __func__, t, h);
    *event = *early = false;
    *terminate = f->now.over != 0;
    *last = f->now.last;
    if (status != SIMULATOR_DISCARD) return (fmi3Status)status;
    *early = f->early && f->now.last < t + h;
    return fmi3OK; /* the end of the simulation is no failure of the step */
}

EXPORTED(fmi3Status, fmi3EnterStepMode)(fmi3Instance f)
{
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

EXPORTED(fmi3Status, fmi3GetOutputDerivatives)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                               const fmi3Int32 *orders, fmi3Float64 *values, size_t nValues)
{
    (void)references, (void)n, (void)orders, (void)values, (void)nValues;
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

/* ── model exchange ───────────────────────────────────────────────────────────────────────────────────────────────── */

EXPORTED(fmi3Status, fmi3EnterEventMode)(fmi3Instance f)
{
    NEEDED(f);
    return simulator_fmu_enter(f, __func__, SIMULATOR_CONTINUOUSLY, SIMULATOR_AT_EVENT);
}

EXPORTED(fmi3Status, fmi3EnterContinuousTimeMode)(fmi3Instance f)
{
    NEEDED(f);
    return simulator_fmu_enter(f, __func__, SIMULATOR_AT_EVENT, SIMULATOR_CONTINUOUSLY);
}

EXPORTED(fmi3Status, fmi3UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *more, fmi3Boolean *terminate,
                                               fmi3Boolean *nominals, fmi3Boolean *values, fmi3Boolean *hasNext,
                                               fmi3Float64 *next)
{
    simulator_fmu *f = instance;
    int again = 0, jumped = 0, status;
    NEEDED(f);
    if (simulator_fmu_given(f, __func__, more && terminate && nominals && values && hasNext && next)) return fmi3Error;
    status = simulator_fmu_update(f, __func__, &again, &jumped);
    *more = again && !f->now.over;
    *terminate = f->now.over;
    *nominals = false;
    *values = jumped;
    *hasNext = isfinite(f->now.next_time);
    *next = isfinite(f->now.next_time) ? f->now.next_time : 0.0;
    return (fmi3Status)status;
}

EXPORTED(fmi3Status, fmi3CompletedIntegratorStep)(fmi3Instance instance, fmi3Boolean noEarlierState, fmi3Boolean *event,
                                                  fmi3Boolean *terminate)
{
    simulator_fmu *f = instance;
    int found = 0, status;
    (void)noEarlierState;
    NEEDED(f);
    if (simulator_fmu_given(f, __func__, event && terminate)) return fmi3Error;
    status = simulator_fmu_completed(f, __func__, &found);
    *event = found;
    *terminate = f->now.over;
    return (fmi3Status)status;
}

EXPORTED(fmi3Status, fmi3EvaluateDiscreteStates)(fmi3Instance f)
{
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

EXPORTED(fmi3Status, fmi3SetTime)(fmi3Instance f, fmi3Float64 t)
{
    NEEDED(f);
    return simulator_fmu_set_time(f, __func__, t);
}

EXPORTED(fmi3Status, fmi3SetContinuousStates)(fmi3Instance f, const fmi3Float64 *states, size_t n)
{
    NEEDED(f);
    return simulator_fmu_set_states(f, __func__, states, n);
}

EXPORTED(fmi3Status, fmi3GetContinuousStates)(fmi3Instance f, fmi3Float64 *states, size_t n)
{
    NEEDED(f);
    return simulator_fmu_states(f, __func__, states, n);
}

EXPORTED(fmi3Status, fmi3GetContinuousStateDerivatives)(fmi3Instance f, fmi3Float64 *rates, size_t n)
{
    NEEDED(f);
    return simulator_fmu_rates(f, __func__, rates, n);
}

EXPORTED(fmi3Status, fmi3GetEventIndicators)(fmi3Instance f, fmi3Float64 *values, size_t n)
{
    NEEDED(f);
    return simulator_fmu_indicators(f, __func__, values, n);
}

EXPORTED(fmi3Status, fmi3GetNominalsOfContinuousStates)(fmi3Instance f, fmi3Float64 *values, size_t n)
{
    NEEDED(f);
    return simulator_fmu_nominals(f, __func__, values, n);
}

EXPORTED(fmi3Status, fmi3GetNumberOfContinuousStates)(fmi3Instance f, size_t *n)
{
    NEEDED(f);
    if (simulator_fmu_given(f, __func__, n != NULL)) return fmi3Error;
    *n = SIMULATOR_CONTINUOUS;
    return fmi3OK;
}

EXPORTED(fmi3Status, fmi3GetNumberOfEventIndicators)(fmi3Instance f, size_t *n)
{
    NEEDED(f);
    if (simulator_fmu_given(f, __func__, n != NULL)) return fmi3Error;
    *n = SIMULATOR_INDICATORS;
    return fmi3OK;
}

/* ── what this FMU does not have: structural parameters, clocks, partitions ───────────────────────────────────────── */

EXPORTED(fmi3Status, fmi3EnterConfigurationMode)(fmi3Instance f)
{
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

EXPORTED(fmi3Status, fmi3ExitConfigurationMode)(fmi3Instance f)
{
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

EXPORTED(fmi3Status, fmi3GetIntervalDecimal)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                             fmi3Float64 *intervals, fmi3IntervalQualifier *qualifiers)
{
    (void)references, (void)intervals, (void)qualifiers;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3GetIntervalFraction)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                              fmi3UInt64 *counters, fmi3UInt64 *resolutions,
                                              fmi3IntervalQualifier *qualifiers)
{
    (void)references, (void)counters, (void)resolutions, (void)qualifiers;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3GetShiftDecimal)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                          fmi3Float64 *shifts)
{
    (void)references, (void)shifts;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3GetShiftFraction)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                           fmi3UInt64 *counters, fmi3UInt64 *resolutions)
{
    (void)references, (void)counters, (void)resolutions;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3SetIntervalDecimal)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                             const fmi3Float64 *intervals)
{
    (void)references, (void)intervals;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3SetIntervalFraction)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                              const fmi3UInt64 *counters, const fmi3UInt64 *resolutions)
{
    (void)references, (void)counters, (void)resolutions;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3SetShiftDecimal)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                          const fmi3Float64 *shifts)
{
    (void)references, (void)shifts;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3SetShiftFraction)(fmi3Instance f, const fmi3ValueReference *references, size_t n,
                                           const fmi3UInt64 *counters, const fmi3UInt64 *resolutions)
{
    (void)references, (void)counters, (void)resolutions;
    return fmi3_none(f, __func__, n);
}

EXPORTED(fmi3Status, fmi3ActivateModelPartition)(fmi3Instance f, fmi3ValueReference clock, fmi3Float64 t)
{
    (void)clock, (void)t;
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}
