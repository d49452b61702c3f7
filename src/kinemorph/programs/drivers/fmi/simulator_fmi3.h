/*
 * The types of FMI 3.0 that its functions use, as the standard defines them: https://fmi-standard.org/docs/3.0/
 *
 * A tool that links several FMUs into one program defines FMI3_FUNCTION_PREFIX, which comes before all names of functions.
 */
#ifndef SIMULATOR_FMI3_H
#define SIMULATOR_FMI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef FMI3_FUNCTION_PREFIX
#define FMI3_JOIN(a, b) a##b
#define FMI3_JOINED(a, b) FMI3_JOIN(a, b)
#define FMI3_NAME(name) FMI3_JOINED(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI3_NAME(name) name
#endif

#if defined _WIN32
#define FMI3_EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define FMI3_EXPORT __attribute__((visibility("default")))
#else
#define FMI3_EXPORT
#endif

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef bool fmi3Clock;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                                       fmi3String message);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment, fmi3Float64 time,
                                               fmi3Boolean setRequested, fmi3Boolean getAllowed, fmi3Boolean finished,
                                               fmi3Boolean canReturnEarly, fmi3Boolean *earlyRequested,
                                               fmi3Float64 *earlyTime);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

#endif
