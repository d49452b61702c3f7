/* The position control of an arm, as it runs on a microcontroller every 2 ms: a PID whose derivative is filtered and
 * whose integral stops where the voltage is at its limit. */
#include <stdbool.h>

#define PERIOD 0.002 /* s */
#define FILTER 0.01  /* s */
#define LIMIT 12.0   /* V */

static const double kp = 40.0, ki = 60.0, kd = 4.0; /* V/rad, V/(rad s), V s/rad */

enum { INTEGRAL, BEFORE, SLOPE, BEGUN }; /* what is stored from sample to sample */

static double limited(double u) { return u > LIMIT ? LIMIT : u < -LIMIT ? -LIMIT : u; }

void position_control(double t, const double *reads, double *drives, double *memory)
{
    const double error = reads[1] - reads[0]; /* goal minus measured angle, rad */
    const double before = memory[BEGUN] != 0.0 ? memory[BEFORE] : error;
    const double slope = (FILTER * memory[SLOPE] + kd * (error - before)) / (FILTER + PERIOD);
    const double integral = memory[INTEGRAL] + PERIOD * (ki * error);
    const double u = kp * error + slope + integral;
    const bool winds_up = (u > LIMIT && error > 0.0) || (u < -LIMIT && error < 0.0);
    (void)t;
    if (!winds_up) memory[INTEGRAL] = integral;
    memory[BEFORE] = error;
    memory[SLOPE] = slope;
    memory[BEGUN] = 1.0;
    drives[0] = limited(kp * error + slope + memory[INTEGRAL]);
}
