// Contacts of points in the vertical plane as relations of Siconos: the gap, and its derivatives, column by column.
//
// A point (X, Z) of a body touches the ground, or the top of the body below at the height TOP in its axes; RADIUS is
// that of a ball about the point, on the ground only. q has (x, z, pitch) of the body, then of the body below.

#include <math.h>

static void touching(const double* data, const double* q, double* y, double* G) {
    const double X = data[0], Z = data[1], radius = data[2], top = data[4];
    const double c = cos(q[2]), s = sin(q[2]);
    const double ax = q[0] + c * X + s * Z, az = q[1] - s * X + c * Z;
    const double jx = -s * X + c * Z, jz = -c * X - s * Z;  // of the point, per rad of its body
    double nx = 0.0, nz = 1.0, tx = 1.0, tz = 0.0, dx = ax, dz = az;
    if (data[3] >= 0.0) {
        nx = sin(q[5]), nz = cos(q[5]), tx = nz, tz = -nx;
        dx = ax - q[3], dz = az - q[4];
    }
    if (y) y[0] = nx * dx + nz * dz - top - radius;
    if (!G) return;
    G[0] = nx, G[1] = tx, G[2] = nz, G[3] = tz;
    G[4] = nx * jx + nz * jz, G[5] = tx * jx + tz * jz - radius;
    if (data[3] >= 0.0) {
        G[6] = -nx, G[7] = -tx, G[8] = -nz, G[9] = -tz;
        G[10] = -(nx * dz - nz * dx), G[11] = -(tx * dz - tz * dx);
    }
}

#define POINT(k, ...)                                                                                             \
    static const double data##k[] = {__VA_ARGS__};                                                                \
    void h##k(unsigned nq, double* q, unsigned ny, double* y, unsigned nz, double* z) { touching(data##k, q, y, 0); } \
    void g##k(unsigned nq, double* q, unsigned ny, double* G, unsigned nz, double* z) { touching(data##k, q, 0, G); }
