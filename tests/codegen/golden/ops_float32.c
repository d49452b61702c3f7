/*
 * ops_float32: every op, newton, picked twice, in place
 *
 * Emitted by Kinemorph. Numbers are of type float, in SI units and radians.
 * Each function evaluates one state; outputs must not overlap inputs.
 * C99 (gcc: -std=c99, or -ffp-contract=off for the same bits); link with the math library (-lm).
 */

#include "ops_float32.h"

#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
#if defined FP_FAST_FMAF || defined __FMA__ || defined __ARM_FEATURE_FMA
#define FUSED(a, b, c) fmaf(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

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
void every_op(const float *restrict x0, const float *restrict x1, const float *restrict x2, float *restrict add, float *restrict sub, float *restrict mul, float *restrict div_, float *restrict neg, float *restrict sqrt_, float *restrict pow_, float *restrict exp_, float *restrict log_, float *restrict sin_, float *restrict cos_, float *restrict tan_, float *restrict asin_, float *restrict acos_, float *restrict atan2_, float *restrict abs_, float *restrict sign, float *restrict floor_, float *restrict min_, float *restrict max_, float *restrict lt, float *restrict le, float *restrict eq, float *restrict where)
{
    const float n0 = x0[0] + x1[0];
    add[0] = n0;
    const float n1 = x0[0] - x1[0];
    sub[0] = n1;
    const float n2 = x0[0] * x1[0];
    mul[0] = n2;
    const float n3 = x0[0] / x1[0];
    div_[0] = n3;
    const float n4 = -(x0[0]);
    neg[0] = n4;
    const float n5 = sqrtf(x0[0]);
    sqrt_[0] = n5;
    const float n6 = powf(x0[0], x1[0]);
    pow_[0] = n6;
    const float n7 = expf(x0[0]);
    exp_[0] = n7;
    const float n8 = logf(x0[0]);
    log_[0] = n8;
    const float n9 = sinf(x0[0]);
    sin_[0] = n9;
    const float n10 = cosf(x0[0]);
    cos_[0] = n10;
    const float n11 = tanf(x0[0]);
    tan_[0] = n11;
    const float n12 = asinf(x0[0]);
    asin_[0] = n12;
    const float n13 = acosf(x0[0]);
    acos_[0] = n13;
    const float n14 = atan2f(x0[0], x1[0]);
    atan2_[0] = n14;
    const float n15 = fabsf(x0[0]);
    abs_[0] = n15;
    const float n16 = x0[0] > 0.0f ? 1.0f : (x0[0] < 0.0f ? -1.0f : x0[0]);
    sign[0] = n16;
    const float n17 = floorf(x0[0]);
    floor_[0] = n17;
    const float n18 = x0[0] < x1[0] || x0[0] != x0[0] ? x0[0] : x1[0];
    min_[0] = n18;
    const float n19 = x0[0] > x1[0] || x0[0] != x0[0] ? x0[0] : x1[0];
    max_[0] = n19;
    const float n20 = x0[0] < x1[0] ? 1.0f : 0.0f;
    lt[0] = n20;
    const float n21 = x0[0] <= x1[0] ? 1.0f : 0.0f;
    le[0] = n21;
    const float n22 = x0[0] == x1[0] ? 1.0f : 0.0f;
    eq[0] = n22;
    const float n23 = x0[0] != 0.0f ? x1[0] : x2[0];
    where[0] = n23;
}

/*
 * newton: 11 operations (mul 4, lt 2, add 2, sub 1, abs 1, div 1)
 *   in   x       1 number
 *   out  root    1 number
 *   out  passes  1 number
 */
void newton(const float *restrict x, float *restrict root, float *restrict passes)
{
    float going[1] = {0.0f};
    root[0] = x[0];
    passes[0] = 0.0f;
    going[0] = 1.0f;
    while (going[0] > 0.0f) {
        {
            const float n0 = FUSED(root[0], -root[0], x[0]);
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

static int picked(float k, int stride, int offset, int last)
{
    const float start = (float)offset + (float)stride * (k == k ? k : 0.0f);
    return start > 0.0f ? (start < (float)last ? (int)start : last) : 0;
}

/*
 * picked twice: 1 operations (min 1)
 *   in   x  1 number
 *   out  y  1 number
 */
void picked_twice(const float *restrict x, float *restrict y)
{
    static const float order[] = {2.0f, 0.0f, 1.0f};
    static const float values[] = {10.0f, 20.0f, INFINITY};
    const int k0 = picked(order[picked(x[0], 1, 0, 2)], 1, 0, 2);
    y[0] = values[k0] < 30.0f || values[k0] != values[k0] ? values[k0] : 30.0f;
}

/*
 * long: 59 operations (add 24, mul 23, div 12)
 *   in   v    3 numbers
 *   out  out  3 numbers
 */
static void long_(const float *restrict v, float *restrict out)
{
    out[1] = v[0];
    out[2] = v[1];
    const float n0 = v[0] * v[0];
    const float n1 = n0 + 0.5f;
    const float n2 = n0 + 1.0f;
    const float n3 = n1 / n2;
    const float n4 = FUSED(v[1], n3, 0.5f);
    const float n5 = FUSED(n3, n3, 1.0f);
    const float n6 = n4 / n5;
    const float n7 = FUSED(v[2], n6, 0.5f);
    const float n8 = FUSED(n6, n6, 1.0f);
    const float n9 = n7 / n8;
    const float n10 = FUSED(v[0], n9, 0.5f);
    const float n11 = FUSED(n9, n9, 1.0f);
    const float n12 = n10 / n11;
    const float n13 = FUSED(v[1], n12, 0.5f);
    const float n14 = FUSED(n12, n12, 1.0f);
    const float n15 = n13 / n14;
    const float n16 = FUSED(v[2], n15, 0.5f);
    const float n17 = FUSED(n15, n15, 1.0f);
    const float n18 = n16 / n17;
    const float n19 = FUSED(v[0], n18, 0.5f);
    const float n20 = FUSED(n18, n18, 1.0f);
    const float n21 = n19 / n20;
    const float n22 = FUSED(v[1], n21, 0.5f);
    const float n23 = FUSED(n21, n21, 1.0f);
    const float n24 = n22 / n23;
    const float n25 = FUSED(v[2], n24, 0.5f);
    const float n26 = FUSED(n24, n24, 1.0f);
    const float n27 = n25 / n26;
    const float n28 = FUSED(v[0], n27, 0.5f);
    const float n29 = FUSED(n27, n27, 1.0f);
    const float n30 = n28 / n29;
    const float n31 = FUSED(v[1], n30, 0.5f);
    const float n32 = FUSED(n30, n30, 1.0f);
    const float n33 = n31 / n32;
    const float n34 = FUSED(v[2], n33, 0.5f);
    const float n35 = FUSED(n33, n33, 1.0f);
    const float n36 = n34 / n35;
    out[0] = n36;
}

/*
 * in place: 59 operations (add 24, mul 23, div 12)
 *   in   x  3 numbers
 *   out  y  3 numbers
 */
void in_place(const float *restrict x, float *restrict y)
{
    y[0] = x[0];
    y[1] = x[1];
    y[2] = x[2];
    {
        const float n0 = y[1];
        const float n1 = y[2];
        const float n2 = y[0];
        y[0] = n0;
        y[1] = n1;
        y[2] = n2;
    }
    {
        float t0[3];
        long_(y, t0);
        for (int i1 = 0; i1 < 3; ++i1) y[i1] = t0[i1];
    }
}
