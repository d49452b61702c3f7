/*
 * A controller and its plant in plain C, around the files model.c and model.h that 05_model_in_c.py writes.
 *
 *     cc -O2 -std=c99 main.c model.c -lm -o main && ./main
 *
 * The arm moves from one pose to another in 1 s and stands for half a second, twice:
 *     0  a spring and a damper at every joint, tuned to the inertia in the first pose, and gravity compensated
 *     1  the same, with the inverse dynamics in place of constant inertias
 * One line every 10 ms: controller, time, reference[6], q[6], v[6], tau[6], acceleration[6].
 */

#include "model.h"

#include <stdio.h>

enum { N = PUMA_INVERSE_DYNAMICS_Q_SIZE };

static const double FROM[N] = {0.0, -0.8, 0.3, 0.0, 0.5, 0.0};
static const double TO[N] = {1.2, 0.4, -0.6, 1.0, -0.5, 1.5};

/* The reference at time t [s]: a polynomial of degree five, at rest at both ends. */
static void reference(double t, double *q, double *v, double *a)
{
    const double s = t < 1.0 ? t : 1.0;
    for (int k = 0; k < N; ++k) {
        const double d = TO[k] - FROM[k];
        q[k] = FROM[k] + d * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
        v[k] = d * 30.0 * s * s * (1.0 - s) * (1.0 - s);
        a[k] = d * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s);
    }
}

static void print(const double *x)
{
    for (int k = 0; k < N; ++k) printf(" %.17g", x[k]);
}

static void run(int controller)
{
    const double dt = 1e-3, omega = 30.0; /* s, rad/s */
    double q[N], v[N] = {0.0}, M[N * N];
    for (int k = 0; k < N; ++k) q[k] = FROM[k];
    puma_mass_matrix(q, M);

    for (int step = 0; step <= 1500; ++step) {
        double wanted[N], rate[N], a[N], tau[N], acceleration[N];
        reference(step * dt, wanted, rate, a);
        for (int k = 0; k < N; ++k) a[k] += omega * omega * (wanted[k] - q[k]) + 2.0 * omega * (rate[k] - v[k]);
        if (controller == 0) {
            puma_gravity_forces(q, tau);
            for (int k = 0; k < N; ++k) tau[k] += M[N * k + k] * a[k];
        } else {
            puma_inverse_dynamics(q, v, a, tau);
        }
        puma_forward_dynamics(q, v, tau, acceleration);
        if (step % 10 == 0) {
            printf("%d %.17g", controller, step * dt);
            print(wanted), print(q), print(v), print(tau), print(acceleration);
            printf("\n");
        }
        for (int k = 0; k < N; ++k) {
            v[k] += dt * acceleration[k];
            q[k] += dt * v[k];
        }
    }
}

int main(void)
{
    run(0);
    run(1);
    return 0;
}
