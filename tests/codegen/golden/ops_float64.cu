/*
 * ops_float64: every op, newton
 *
 * Emitted by Kinemorph. Numbers are of type double, in SI units and radians.
 * Entry e of state s stands at array[e * n + s]; one thread evaluates one state.
 * A launcher takes pointers to device memory and a cudaStream_t, and answers with the cudaError_t of the launch.
 * For the same bits, nvcc: --fmad=false. Products that are rounded together with a sum are written as fma().
 */

/*
 * every op: 24 operations (add 1, sub 1, mul 1, div 1, neg 1, sqrt 1, pow 1, exp 1, log 1, sin 1, cos 1, tan 1, asin 1, acos 1, atan2 1, abs 1, sign 1, floor 1, min 1, max 1, lt 1, le 1, eq 1, where 1)
 *   in   x0      1 number
 *   in   x1      1 number
 *   in   x2      1 number
 *   out  add     1 number
 *   out  sub     1 number
 *   out  mul     1 number
 *   out  div_    1 number ('div' in the model)
 *   out  neg     1 number
 *   out  sqrt_   1 number ('sqrt' in the model)
 *   out  pow_    1 number ('pow' in the model)
 *   out  exp_    1 number ('exp' in the model)
 *   out  log_    1 number ('log' in the model)
 *   out  sin_    1 number ('sin' in the model)
 *   out  cos_    1 number ('cos' in the model)
 *   out  tan_    1 number ('tan' in the model)
 *   out  asin_   1 number ('asin' in the model)
 *   out  acos_   1 number ('acos' in the model)
 *   out  atan2_  1 number ('atan2' in the model)
 *   out  abs_    1 number ('abs' in the model)
 *   out  sign    1 number
 *   out  floor_  1 number ('floor' in the model)
 *   out  min_    1 number ('min' in the model)
 *   out  max_    1 number ('max' in the model)
 *   out  lt      1 number
 *   out  le      1 number
 *   out  eq      1 number
 *   out  where   1 number
 */
extern "C" __global__ void __launch_bounds__(128) every_op(int n, const double *__restrict__ x0, const double *__restrict__ x1, const double *__restrict__ x2, double *__restrict__ add, double *__restrict__ sub, double *__restrict__ mul, double *__restrict__ div_, double *__restrict__ neg, double *__restrict__ sqrt_, double *__restrict__ pow_, double *__restrict__ exp_, double *__restrict__ log_, double *__restrict__ sin_, double *__restrict__ cos_, double *__restrict__ tan_, double *__restrict__ asin_, double *__restrict__ acos_, double *__restrict__ atan2_, double *__restrict__ abs_, double *__restrict__ sign, double *__restrict__ floor_, double *__restrict__ min_, double *__restrict__ max_, double *__restrict__ lt, double *__restrict__ le, double *__restrict__ eq, double *__restrict__ where)
{
    const size_t states = (size_t)n;
    const size_t state = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (state >= states) return;
    const double n0 = x0[0 * states + state];
    const double n1 = x1[0 * states + state];
    const double n2 = n0 + n1;
    add[0 * states + state] = n2;
    const double n3 = n0 - n1;
    sub[0 * states + state] = n3;
    const double n4 = n0 * n1;
    mul[0 * states + state] = n4;
    const double n5 = n0 / n1;
    div_[0 * states + state] = n5;
    const double n6 = -(n0);
    neg[0 * states + state] = n6;
    const double n7 = sqrt(n0);
    sqrt_[0 * states + state] = n7;
    const double n8 = pow(n0, n1);
    pow_[0 * states + state] = n8;
    const double n9 = exp(n0);
    exp_[0 * states + state] = n9;
    const double n10 = log(n0);
    log_[0 * states + state] = n10;
    const double n11 = sin(n0);
    sin_[0 * states + state] = n11;
    const double n12 = cos(n0);
    cos_[0 * states + state] = n12;
    const double n13 = tan(n0);
    tan_[0 * states + state] = n13;
    const double n14 = asin(n0);
    asin_[0 * states + state] = n14;
    const double n15 = acos(n0);
    acos_[0 * states + state] = n15;
    const double n16 = atan2(n0, n1);
    atan2_[0 * states + state] = n16;
    const double n17 = fabs(n0);
    abs_[0 * states + state] = n17;
    const double n18 = n0 > 0.0 ? 1.0 : (n0 < 0.0 ? -1.0 : n0);
    sign[0 * states + state] = n18;
    const double n19 = floor(n0);
    floor_[0 * states + state] = n19;
    const double n20 = n0 < n1 || n0 != n0 ? n0 : n1;
    min_[0 * states + state] = n20;
    const double n21 = n0 > n1 || n0 != n0 ? n0 : n1;
    max_[0 * states + state] = n21;
    const double n22 = n0 < n1 ? 1.0 : 0.0;
    lt[0 * states + state] = n22;
    const double n23 = n0 <= n1 ? 1.0 : 0.0;
    le[0 * states + state] = n23;
    const double n24 = n0 == n1 ? 1.0 : 0.0;
    eq[0 * states + state] = n24;
    const double n25 = x2[0 * states + state];
    const double n26 = n0 != 0.0 ? n1 : n25;
    where[0 * states + state] = n26;
}

/*
 * newton: 11 operations (mul 4, lt 2, add 2, sub 1, abs 1, div 1)
 *   in   x       1 number
 *   out  root    1 number
 *   out  passes  1 number
 */
static __device__ void newton_2(const double *__restrict__ x, double *__restrict__ root, double *__restrict__ passes)
{
    double going[1] = {0.0};
    root[0] = x[0];
    passes[0] = 0.0;
    going[0] = 1.0;
    while (going[0] > 0.0) {
        {
            const double n0 = fma(root[0], -root[0], x[0]);
            const double n1 = fabs(n0);
            const double n2 = 1e-09 * x[0];
            const double n3 = n2 < n1 ? 1.0 : 0.0;
            const double n4 = passes[0] < 40.0 ? 1.0 : 0.0;
            const double n5 = n3 * n4;
            going[0] = n5;
        }
        {
            const double n0 = x[0] / root[0];
            const double n1 = root[0] + n0;
            const double n2 = 0.5 * n1;
            root[0] = n2;
        }
        passes[0] = passes[0] + 1.0;
    }
}

/*
 * newton: 11 operations (mul 4, lt 2, add 2, sub 1, abs 1, div 1)
 *   in   x       1 number
 *   out  root    1 number
 *   out  passes  1 number
 */
extern "C" __global__ void __launch_bounds__(128) newton(int n, const double *__restrict__ x, double *__restrict__ root, double *__restrict__ passes)
{
    const size_t states = (size_t)n;
    const size_t state = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (state >= states) return;
    double t0[1];
    double t1[1];
    double t2[1];
    for (int i0 = 0; i0 < 1; ++i0) t0[i0] = x[i0 * states + state];
    newton_2(t0, t1, t2);
    for (int i0 = 0; i0 < 1; ++i0) root[i0 * states + state] = t1[i0];
    for (int i0 = 0; i0 < 1; ++i0) passes[i0 * states + state] = t2[i0];
}

#ifndef __CUDACC_RTC__
#include "ops_float64.cuh"

int every_op_launch(int n, const double *x0, const double *x1, const double *x2, double *add, double *sub, double *mul, double *div_, double *neg, double *sqrt_, double *pow_, double *exp_, double *log_, double *sin_, double *cos_, double *tan_, double *asin_, double *acos_, double *atan2_, double *abs_, double *sign, double *floor_, double *min_, double *max_, double *lt, double *le, double *eq, double *where, void *stream)
{
    if (n <= 0) return 0;
    every_op<<<((unsigned)n + 127u) / 128u, 128, 0, (cudaStream_t)stream>>>(n, x0, x1, x2, add, sub, mul, div_, neg, sqrt_, pow_, exp_, log_, sin_, cos_, tan_, asin_, acos_, atan2_, abs_, sign, floor_, min_, max_, lt, le, eq, where);
    return (int)cudaGetLastError();
}

int newton_launch(int n, const double *x, double *root, double *passes, void *stream)
{
    if (n <= 0) return 0;
    newton<<<((unsigned)n + 127u) / 128u, 128, 0, (cudaStream_t)stream>>>(n, x, root, passes);
    return (int)cudaGetLastError();
}

#endif
