/*
 * Steps one FMU for co-simulation by FMI 2.0, and says how long that took.
 *
 *     fmu_master LIBRARY GUID RESOURCES STEPS STEP REFERENCE...
 *
 * It prints the CPU time [s] of all calls of doStep, then the final values of the references.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct callbacks {
    void (*logger)(void *environment, const char *instance, int status, const char *category, const char *text, ...);
    void *(*allocate)(size_t count, size_t size);
    void (*release)(void *memory);
    void (*finished)(void *environment, int status);
    void *environment;
} callbacks;

typedef void *(*instantiate_function)(const char *, int, const char *, const char *, const callbacks *, int, int);
typedef int (*setup_function)(void *, int, double, double, int, double);
typedef int (*plain_function)(void *);
typedef int (*step_function)(void *, double, double, int);
typedef int (*get_function)(void *, const unsigned *, size_t, double *);

static void quiet(void *environment, const char *instance, int status, const char *category, const char *text, ...)
{
    (void)environment, (void)instance, (void)category;
    if (status > 1) fprintf(stderr, "%s\n", text);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static const callbacks own = {quiet, calloc, free, NULL, NULL};
    void *library = argc > 5 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    const long steps = argc > 5 ? atol(argv[4]) : 0;
    const double step = argc > 5 ? atof(argv[5]) : 0.0;
    double start, spent;
    void *fmu;
    int bad = 0;
    if (!library) {
        fprintf(stderr, "%s\n", argc > 5 ? dlerror() : "expected LIBRARY GUID RESOURCES STEPS STEP REFERENCE...");
        return 2;
    }
    fmu = ((instantiate_function)dlsym(library, "fmi2Instantiate"))("one", 1, argv[2], argv[3], &own, 0, 0);
    if (!fmu) return 3;
    bad |= ((setup_function)dlsym(library, "fmi2SetupExperiment"))(fmu, 0, 0.0, 0.0, 1, 1e9) > 1;
    bad |= ((plain_function)dlsym(library, "fmi2EnterInitializationMode"))(fmu) > 1;
    bad |= ((plain_function)dlsym(library, "fmi2ExitInitializationMode"))(fmu) > 1;
    {
        const step_function advance = (step_function)dlsym(library, "fmi2DoStep");
        start = now();
        for (long k = 0; k < steps && !bad; ++k) bad |= advance(fmu, step * (double)k, step, 1) > 1;
        spent = now() - start;
    }
    printf("%.9g", spent);
    for (int k = 6; k < argc; ++k) {
        const unsigned reference = (unsigned)atol(argv[k]);
        double value = 0.0;
        bad |= ((get_function)dlsym(library, "fmi2GetReal"))(fmu, &reference, 1, &value) > 1;
        printf(" %.17g", value);
    }
    printf("\n");
    return bad ? 4 : 0;
}
