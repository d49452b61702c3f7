/*
 * ops_float32: every op, newton
 *
 * Emitted by Kinemorph. Numbers are of type float, in SI units and radians.
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
extern "C" __global__ void __launch_bounds__(128) every_op(int n, const float *__restrict__ x0, const float *__restrict__ x1, const float *__restrict__ x2, float *__restrict__ add, float *__restrict__ sub, float *__restrict__ mul, float *__restrict__ div_, float *__restrict__ neg, float *__restrict__ sqrt_, float *__restrict__ pow_, float *__restrict__ exp_, float *__restrict__ log_, float *__restrict__ sin_, float *__restrict__ cos_, float *__restrict__ tan_, float *__restrict__ asin_, float *__restrict__ acos_, float *__restrict__ atan2_, float *__restrict__ abs_, float *__restrict__ sign, float *__restrict__ floor_, float *__restrict__ min_, float *__restrict__ max_, float *__restrict__ lt, float *__restrict__ le, float *__restrict__ eq, float *__restrict__ where)
{
    const size_t states = (size_t)n;
    const size_t state = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (state >= states) return;
    const float n0 = x0[0 * states + state];
    const float n1 = x1[0 * states + state];
    const float n2 = n0 + n1;
    add[0 * states + state] = n2;
    const float n3 = n0 - n1;
    sub[0 * states + state] = n3;
    const float n4 = n0 * n1;
    mul[0 * states + state] = n4;
    const float n5 = n0 / n1;
    div_[0 * states + state] = n5;
    const float n6 = -(n0);
    neg[0 * states + state] = n6;
    const float n7 = sqrtf(n0);
    sqrt_[0 * states + state] = n7;
    const float n8 = powf(n0, n1);
    pow_[0 * states + state] = n8;
    const float n9 = expf(n0);
    exp_[0 * states + state] = n9;
    const float n10 = logf(n0);
    log_[0 * states + state] = n10;
    const float n11 = sinf(n0);
    sin_[0 * states + state] = n11;
    const float n12 = cosf(n0);
    cos_[0 * states + state] = n12;
    const float n13 = tanf(n0);
    tan_[0 * states + state] = n13;
    const float n14 = asinf(n0);
    asin_[0 * states + state] = n14;
    const float n15 = acosf(n0);
    acos_[0 * states + state] = n15;
    const float n16 = atan2f(n0, n1);
    atan2_[0 * states + state] = n16;
    const float n17 = fabsf(n0);
    abs_[0 * states + state] = n17;
    const float n18 = n0 > 0.0f ? 1.0f : (n0 < 0.0f ? -1.0f : n0);
    sign[0 * states + state] = n18;
    const float n19 = floorf(n0);
    floor_[0 * states + state] = n19;
    const float n20 = n0 < n1 || n0 != n0 ? n0 : n1;
    min_[0 * states + state] = n20;
    const float n21 = n0 > n1 || n0 != n0 ? n0 : n1;
    max_[0 * states + state] = n21;
    const float n22 = n0 < n1 ? 1.0f : 0.0f;
    lt[0 * states + state] = n22;
    const float n23 = n0 <= n1 ? 1.0f : 0.0f;
    le[0 * states + state] = n23;
    const float n24 = n0 == n1 ? 1.0f : 0.0f;
    eq[0 * states + state] = n24;
    const float n25 = x2[0 * states + state];
    const float n26 = n0 != 0.0f ? n1 : n25;
    where[0 * states + state] = n26;
}

/*
 * newton: 11 operations (mul 4, lt 2, add 2, sub 1, abs 1, div 1)
 *   in   x       1 number
 *   out  root    1 number
 *   out  passes  1 number
 */
static __device__ void newton_2(const float *__restrict__ x, float *__restrict__ root, float *__restrict__ passes)
{
    float going[1] = {0.0f};
    root[0] = x[0];
    passes[0] = 0.0f;
    going[0] = 1.0f;
    while (going[0] > 0.0f) {
        {
            const float n0 = fmaf(root[0], -root[0], x[0]);
            const float n1 = fabsf(n0);
            const float n2 = 1e-09f * x[0];
            const float n3 = n2 < n1 ? 1.0f : 0.0f;
            const float n4 = passes[0] < 40.0f ? 1.0f : 0.0f;
            const float n5 = n3 * n4;
            going[0] = n5;
        }
        {
            const float n0 = x[0] / root[0];
            const float n1 = root[0] + n0;
            const float n2 = 0.5f * n1;
            root[0] = n2;
        }
        passes[0] = passes[0] + 1.0f;
    }
}

/*
 * newton: 11 operations (mul 4, lt 2, add 2, sub 1, abs 1, div 1)
 *   in   x       1 number
 *   out  root    1 number
 *   out  passes  1 number
 */
extern "C" __global__ void __launch_bounds__(128) newton(int n, const float *__restrict__ x, float *__restrict__ root, float *__restrict__ passes)
{
    const size_t states = (size_t)n;
    const size_t state = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (state >= states) return;
    float t0[1];
    float t1[1];
    float t2[1];
    for (int i0 = 0; i0 < 1; ++i0) t0[i0] = x[i0 * states + state];
    newton_2(t0, t1, t2);
    for (int i0 = 0; i0 < 1; ++i0) root[i0 * states + state] = t1[i0];
    for (int i0 = 0; i0 < 1; ++i0) passes[i0 * states + state] = t2[i0];
}

#ifndef __CUDACC_RTC__
#include "ops_float32.cuh"

int every_op_launch(int n, const float *x0, const float *x1, const float *x2, float *add, float *sub, float *mul, float *div_, float *neg, float *sqrt_, float *pow_, float *exp_, float *log_, float *sin_, float *cos_, float *tan_, float *asin_, float *acos_, float *atan2_, float *abs_, float *sign, float *floor_, float *min_, float *max_, float *lt, float *le, float *eq, float *where, void *stream)
{
    if (n <= 0) return 0;
    every_op<<<((unsigned)n + 127u) / 128u, 128, 0, (cudaStream_t)stream>>>(n, x0, x1, x2, add, sub, mul, div_, neg, sqrt_, pow_, exp_, log_, sin_, cos_, tan_, asin_, acos_, atan2_, abs_, sign, floor_, min_, max_, lt, le, eq, where);
    return (int)cudaGetLastError();
}

int newton_launch(int n, const float *x, float *root, float *passes, void *stream)
{
    if (n <= 0) return 0;
    newton<<<((unsigned)n + 127u) / 128u, 128, 0, (cudaStream_t)stream>>>(n, x, root, passes);
    return (int)cudaGetLastError();
}

#endif
