/*
 * The types of FMI 2.0 that its functions use, as the standard defines them: https://fmi-standard.org/downloads/
 *
 * A tool that links several FMUs into one program defines FMI2_FUNCTION_PREFIX, which comes before all names of functions.
 */
#ifndef SIMULATOR_FMI2_H
#define SIMULATOR_FMI2_H

#include <stddef.h>

#ifdef FMI2_FUNCTION_PREFIX
#define FMI2_JOIN(a, b) a##b
#define FMI2_JOINED(a, b) FMI2_JOIN(a, b)
#define FMI2_NAME(name) FMI2_JOINED(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI2_NAME(name) name
#endif

#if defined _WIN32
#define FMI2_EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define FMI2_EXPORT __attribute__((visibility("default")))
#else
#define FMI2_EXPORT
#endif

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status,
                                   fmi2String category, fmi2String message, ...);

typedef struct fmi2CallbackFunctions {
    fmi2CallbackLogger logger;
    void *(*allocateMemory)(size_t count, size_t size);
    void (*freeMemory)(void *memory);
    void (*stepFinished)(fmi2ComponentEnvironment environment, fmi2Status status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct fmi2EventInfo {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

#endif
