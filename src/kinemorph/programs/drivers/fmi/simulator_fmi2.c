/* The functions of FMI 2.0 for co-simulation and model exchange: each calls a function of simulator_fmu.c. */
#include "simulator_fmi2.h"

#include <math.h>

#include "simulator_fmu.h"

#define EXPORTED(type, name) FMI2_EXPORT type FMI2_NAME(name)
#define NEEDED(f) if (!(f)) return fmi2Error

static void fmi2_log(const simulator_fmu *f, int status, const char *category, const char *message)
{
    const fmi2CallbackLogger logger = (fmi2CallbackLogger)f->callback;
    if (logger) logger(f->environment, f->name, (fmi2Status)status, category, "%s", message);
}

/* ── instances ────────────────────────────────────────────────────────────────────────────────────────────────────── */

EXPORTED(const char *, fmi2GetTypesPlatform)(void)
{
    return "default";
}

EXPORTED(const char *, fmi2GetVersion)(void)
{
    return "2.0";
}

EXPORTED(fmi2Component, fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                         const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                                         fmi2Boolean logging)
{
    (void)resources, (void)visible;
    return simulator_fmu_new(name, guid, type == fmi2ModelExchange, logging, fmi2_log,
                             functions ? (void (*)(void))functions->logger : NULL,
                             functions ? functions->componentEnvironment : NULL);
}

EXPORTED(void, fmi2FreeInstance)(fmi2Component f)
{
    simulator_fmu_free(f);
}

EXPORTED(fmi2Status, fmi2SetDebugLogging)(fmi2Component component, fmi2Boolean logging, size_t n,
                                          const fmi2String *categories)
{
    simulator_fmu *f = component;
    (void)n, (void)categories;
    NEEDED(f);
    f->logging = logging;
    return fmi2OK;
}

EXPORTED(fmi2Status, fmi2SetupExperiment)(fmi2Component component, fmi2Boolean hasTolerance, fmi2Real tolerance,
                                          fmi2Real start, fmi2Boolean hasStop, fmi2Real stop)
{
    simulator_fmu *f = component;
    NEEDED(f);
    if (simulator_fmu_may(f, __func__, SIMULATOR_MADE)) return fmi2Error;
    f->has_tolerance = hasTolerance, f->tolerance = tolerance;
    f->start = start;
    f->has_stop = hasStop, f->stop = stop;
    return fmi2OK;
}

EXPORTED(fmi2Status, fmi2EnterInitializationMode)(fmi2Component component)
{
    simulator_fmu *f = component;
    NEEDED(f);
    return simulator_fmu_initialize(f, __func__, f->has_tolerance, f->tolerance, f->start, f->has_stop, f->stop);
}

EXPORTED(fmi2Status, fmi2ExitInitializationMode)(fmi2Component f)
{
    NEEDED(f);
    return simulator_fmu_initialized(f, __func__);
}

EXPORTED(fmi2Status, fmi2Terminate)(fmi2Component f)
{
    NEEDED(f);
    return simulator_fmu_terminate(f, __func__);
}

EXPORTED(fmi2Status, fmi2Reset)(fmi2Component f)
{
    NEEDED(f);
    return simulator_fmu_reset(f);
}

/* ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

EXPORTED(fmi2Status, fmi2GetReal)(fmi2Component f, const fmi2ValueReference *references, size_t n, fmi2Real *values)
{
    NEEDED(f);
    return simulator_fmu_get(f, __func__, references, n, values);
}

EXPORTED(fmi2Status, fmi2SetReal)(fmi2Component f, const fmi2ValueReference *references, size_t n,
                                  const fmi2Real *values)
{
    NEEDED(f);
    return simulator_fmu_set(f, __func__, references, n, values);
}

#define NO_VARIABLES(type)                                                                                              \
    EXPORTED(fmi2Status, fmi2Get##type)(fmi2Component f, const fmi2ValueReference *references, size_t n,                \
                                        fmi2##type *values)                                                             \
    {                                                                                                                   \
        (void)references, (void)values;                                                                                 \
        return fmi2_none(f, __func__, n);                                                                               \
    }                                                                                                                   \
    EXPORTED(fmi2Status, fmi2Set##type)(fmi2Component f, const fmi2ValueReference *references, size_t n,                \
                                        const fmi2##type *values)                                                       \
    {                                                                                                                   \
        (void)references, (void)values;                                                                                 \
        return fmi2_none(f, __func__, n);                                                                               \
    }

/* Variables of other types do not exist: only calls without references are right. */
static fmi2Status fmi2_none(const simulator_fmu *f, const char *function, size_t n)
{
    NEEDED(f);
    if (n == 0) return fmi2OK;
    return simulator_fmu_refuse(f, "%s: all variables of this FMU are of the type Real, and references of another type "
                                   "are given.", function);
}

NO_VARIABLES(Integer)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

/* ── states and derivatives ───────────────────────────────────────────────────────────────────────────────────────── */

EXPORTED(fmi2Status, fmi2GetFMUstate)(fmi2Component f, fmi2FMUstate *state)
{
    NEEDED(f);
    return simulator_fmu_save(f, __func__, state);
}

EXPORTED(fmi2Status, fmi2SetFMUstate)(fmi2Component f, fmi2FMUstate state)
{
    NEEDED(f);
    return simulator_fmu_restore(f, __func__, state);
}

EXPORTED(fmi2Status, fmi2FreeFMUstate)(fmi2Component f, fmi2FMUstate *state)
{
    NEEDED(f);
    return simulator_fmu_forget(state);
}

EXPORTED(fmi2Status, fmi2SerializedFMUstateSize)(fmi2Component f, fmi2FMUstate state, size_t *size)
{
    (void)state;
    NEEDED(f);
    return simulator_fmu_size(f, __func__, size);
}

EXPORTED(fmi2Status, fmi2SerializeFMUstate)(fmi2Component f, fmi2FMUstate state, fmi2Byte *bytes, size_t size)
{
    NEEDED(f);
    return simulator_fmu_write(f, __func__, state, (unsigned char *)bytes, size);
}

EXPORTED(fmi2Status, fmi2DeSerializeFMUstate)(fmi2Component f, const fmi2Byte *bytes, size_t size, fmi2FMUstate *state)
{
    NEEDED(f);
    return simulator_fmu_read(f, __func__, (const unsigned char *)bytes, size, state);
}

EXPORTED(fmi2Status, fmi2GetDirectionalDerivative)(fmi2Component f, const fmi2ValueReference *unknowns,
                                                   size_t nUnknowns, const fmi2ValueReference *knowns, size_t nKnowns,
                                                   const fmi2Real *seed, fmi2Real *sensitivity)
{
    NEEDED(f);
    return simulator_fmu_directional(f, __func__, unknowns, nUnknowns, knowns, nKnowns, seed, sensitivity);
}

/* ── co-simulation ────────────────────────────────────────────────────────────────────────────────────────────────── */

EXPORTED(fmi2Status, fmi2DoStep)(fmi2Component f, fmi2Real t, fmi2Real h, fmi2Boolean noEarlierState)
{
    (void)noEarlierState;
    NEEDED(f);
    return simulator_fmu_step(f, __func__, t, h);
}

EXPORTED(fmi2Status, fmi2CancelStep)(fmi2Component f)
{
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

EXPORTED(fmi2Status, fmi2SetRealInputDerivatives)(fmi2Component f, const fmi2ValueReference *references, size_t n,
                                                  const fmi2Integer *orders, const fmi2Real *values)
{
    (void)references, (void)n, (void)orders, (void)values;
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

EXPORTED(fmi2Status, fmi2GetRealOutputDerivatives)(fmi2Component f, const fmi2ValueReference *references, size_t n,
                                                   const fmi2Integer *orders, fmi2Real *values)
{
    (void)references, (void)n, (void)orders, (void)values;
    NEEDED(f);
    return simulator_fmu_lacks(f, __func__);
}

/* Steps do not run in the background: there is nothing to ask for but how the last one ended. */
EXPORTED(fmi2Status, fmi2GetStatus)(fmi2Component f, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)kind, (void)value;
    NEEDED(f);
    simulator_fmu_lacks(f, __func__);
    return fmi2Discard;
}

EXPORTED(fmi2Status, fmi2GetIntegerStatus)(fmi2Component f, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind, (void)value;
    NEEDED(f);
    simulator_fmu_lacks(f, __func__);
    return fmi2Discard;
}

EXPORTED(fmi2Status, fmi2GetStringStatus)(fmi2Component f, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind, (void)value;
    NEEDED(f);
    simulator_fmu_lacks(f, __func__);
    return fmi2Discard;
}

EXPORTED(fmi2Status, fmi2GetRealStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value)
{
    simulator_fmu *f = component;
    NEEDED(f);
    if (simulator_fmu_given(f, __func__, value != NULL)) return fmi2Error;
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = f->now.last;
    return fmi2OK;
}

EXPORTED(fmi2Status, fmi2GetBooleanStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value)
{
    simulator_fmu *f = component;
    NEEDED(f);
    if (simulator_fmu_given(f, __func__, value != NULL)) return fmi2Error;
    if (kind != fmi2Terminated) return fmi2Discard;
    *value = f->now.over;
    return fmi2OK;
}

/* ── model exchange ───────────────────────────────────────────────────────────────────────────────────────────────── */

EXPORTED(fmi2Status, fmi2EnterEventMode)(fmi2Component f)
{
    NEEDED(f);
    return simulator_fmu_enter(f, __func__, SIMULATOR_CONTINUOUSLY, SIMULATOR_AT_EVENT);
}

EXPORTED(fmi2Status, fmi2EnterContinuousTimeMode)(fmi2Component f)
{
    NEEDED(f);
    return simulator_fmu_enter(f, __func__, SIMULATOR_AT_EVENT, SIMULATOR_CONTINUOUSLY);
}

EXPORTED(fmi2Status, fmi2NewDiscreteStates)(fmi2Component component, fmi2EventInfo *info)
{
    simulator_fmu *f = component;
    int again = 0, jumped = 0, status;
    NEEDED(f);
    if (simulator_fmu_given(f, __func__, info != NULL)) return fmi2Error;
    status = simulator_fmu_update(f, __func__, &again, &jumped);
    info->newDiscreteStatesNeeded = again && !f->now.over;
    info->terminateSimulation = f->now.over;
    info->nominalsOfContinuousStatesChanged = 0;
    info->valuesOfContinuousStatesChanged = jumped;
    info->nextEventTimeDefined = isfinite(f->now.next_time) != 0;
    info->nextEventTime = isfinite(f->now.next_time) ? f->now.next_time : 0.0;
    return (fmi2Status)status;
}

EXPORTED(fmi2Status, fmi2CompletedIntegratorStep)(fmi2Component component, fmi2Boolean noEarlierState,
                                                  fmi2Boolean *event, fmi2Boolean *terminate)
{
    simulator_fmu *f = component;
    int found = 0, status;
    (void)noEarlierState;
    NEEDED(f);
    if (simulator_fmu_given(f, __func__, event && terminate)) return fmi2Error;
    status = simulator_fmu_completed(f, __func__, &found);
    *event = found;
    *terminate = f->now.over;
    return (fmi2Status)status;
}

EXPORTED(fmi2Status, fmi2SetTime)(fmi2Component f, fmi2Real t)
{
    NEEDED(f);
    return simulator_fmu_set_time(f, __func__, t);
}

EXPORTED(fmi2Status, fmi2SetContinuousStates)(fmi2Component f, const fmi2Real *states, size_t n)
{
    NEEDED(f);
    return simulator_fmu_set_states(f, __func__, states, n);
}

EXPORTED(fmi2Status, fmi2GetContinuousStates)(fmi2Component f, fmi2Real *states, size_t n)
{
    NEEDED(f);
    return simulator_fmu_states(f, __func__, states, n);
}

EXPORTED(fmi2Status, fmi2GetDerivatives)(fmi2Component f, fmi2Real *rates, size_t n)
{
    NEEDED(f);
    return simulator_fmu_rates(f, __func__, rates, n);
}

EXPORTED(fmi2Status, fmi2GetEventIndicators)(fmi2Component f, fmi2Real *values, size_t n)
{
    NEEDED(f);
    return simulator_fmu_indicators(f, __func__, values, n);
}

EXPORTED(fmi2Status, fmi2GetNominalsOfContinuousStates)(fmi2Component f, fmi2Real *values, size_t n)
{
    NEEDED(f);
    return simulator_fmu_nominals(f, __func__, values, n);
}
