/* Calls the functions of a model's controllers: reads messages from its standard input, answers on its standard output.
 *
 *     message   number of the controller, t, reads, memory        all of type double
 *     answer    drives, memory
 *
 * It ends where its input ends. The table of functions is in table.h. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "functions.h"

typedef struct {
    void (*call)(double t, const double *reads, double *drives, double *memory);
    int reads, drives, memory;
    double time_limit; /* [s]; 0 where there is none */
} server_function;

#include "table.h"

enum { GUARD = 8 }; /* numbers behind each array, which a function must not change */

static double server_message[2 + MOST_NUMBERS + GUARD];
static double server_drives[MOST_NUMBERS + GUARD], server_memory[MOST_NUMBERS + GUARD];

/* After this time the process ends by itself: nobody may be left to end it. */
static void server_alarm(double seconds) {
    struct itimerval timer = {{0, 0}, {0, 0}};
    timer.it_value.tv_sec = (long)seconds;
    timer.it_value.tv_usec = (long)((seconds - (double)(long)seconds) * 1e6);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void server_guard(double *values, int count, double fill) {
    for (int i = 0; i < count; ++i) values[i] = fill;
    for (int i = 0; i < GUARD; ++i) values[count + i] = -1.25e300;
}

static int server_guarded(const double *values, int count) {
    for (int i = 0; i < GUARD; ++i)
        if (values[count + i] != -1.25e300) return 0;
    return 1;
}

static int server_write(int file, const double *values, int count) {
    const char *bytes = (const char *)values;
    size_t left = sizeof(double) * (size_t)count;
    while (left > 0) {
        const ssize_t done = write(file, bytes, left);
        if (done <= 0) return 0;
        bytes += done;
        left -= (size_t)done;
    }
    return 1;
}

int main(void) {
    /* C that prints or reads must not disturb the messages: what it prints goes to the standard error */
    const int in = dup(0), out = dup(1), nothing = open("/dev/null", O_RDWR);
    dup2(nothing, 0);
    dup2(2, 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (;;) {
        const server_function *f = NULL;
        size_t got = 0;
        while (f == NULL || got < sizeof(double) * (size_t)(2 + f->reads + f->memory)) {
            const ssize_t some = read(in, (char *)server_message + got, sizeof server_message - got);
            if (some <= 0) return 0;
            got += (size_t)some;
            if (got >= 2 * sizeof(double)) f = &server_table[(int)server_message[0]];
        }
        server_guard(server_drives, f->drives, NAN); /* an output that is not written is found */
        server_guard(server_memory, f->memory, 0.0);
        memcpy(server_memory, server_message + 2 + f->reads, sizeof(double) * (size_t)f->memory);
        for (int i = 0; i < GUARD; ++i) server_message[2 + f->reads + i] = NAN; /* a signal that is not read is found */
        if (f->time_limit > 0.0) server_alarm(f->time_limit + 1.0);
        f->call(server_message[1], server_message + 2, server_drives, server_memory);
        if (f->time_limit > 0.0) server_alarm(0.0);
        if (!server_guarded(server_drives, f->drives)) _exit(BEYOND_DRIVES);
        if (!server_guarded(server_memory, f->memory)) _exit(BEYOND_MEMORY);
        memcpy(server_drives + f->drives, server_memory, sizeof(double) * (size_t)f->memory);
        if (!server_write(out, server_drives, f->drives + f->memory)) return 0;
    }
}
