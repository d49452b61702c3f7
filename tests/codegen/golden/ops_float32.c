/*
 * ops_float32: every op, newton, picked twice, in place
 *
 * Emitted by Kinemorph. Numbers are of type float, in SI units and radians.
 * Each function evaluates one state; outputs must not overlap inputs.
 * C99; link with the math library (-lm).
 */

#include "ops_float32.h"

#include <math.h>

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
            const float n0 = root[0] * root[0];
            const float n1 = x[0] - n0;
            const float n2 = fabsf(n1);
            const float n3 = 1e-09f * x[0];
            const float n4 = n3 < n2 ? 1.0f : 0.0f;
            const float n5 = passes[0] < 40.0f ? 1.0f : 0.0f;
            const float n6 = n4 * n5;
            going[0] = n6;
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
    const float n4 = v[1] * n3;
    const float n5 = 0.5f + n4;
    const float n6 = n3 * n3;
    const float n7 = 1.0f + n6;
    const float n8 = n5 / n7;
    const float n9 = v[2] * n8;
    const float n10 = 0.5f + n9;
    const float n11 = n8 * n8;
    const float n12 = 1.0f + n11;
    const float n13 = n10 / n12;
    const float n14 = v[0] * n13;
    const float n15 = 0.5f + n14;
    const float n16 = n13 * n13;
    const float n17 = 1.0f + n16;
    const float n18 = n15 / n17;
    const float n19 = v[1] * n18;
    const float n20 = 0.5f + n19;
    const float n21 = n18 * n18;
    const float n22 = 1.0f + n21;
    const float n23 = n20 / n22;
    const float n24 = v[2] * n23;
    const float n25 = 0.5f + n24;
    const float n26 = n23 * n23;
    const float n27 = 1.0f + n26;
    const float n28 = n25 / n27;
    const float n29 = v[0] * n28;
    const float n30 = 0.5f + n29;
    const float n31 = n28 * n28;
    const float n32 = 1.0f + n31;
    const float n33 = n30 / n32;
    const float n34 = v[1] * n33;
    const float n35 = 0.5f + n34;
    const float n36 = n33 * n33;
    const float n37 = 1.0f + n36;
    const float n38 = n35 / n37;
    const float n39 = v[2] * n38;
    const float n40 = 0.5f + n39;
    const float n41 = n38 * n38;
    const float n42 = 1.0f + n41;
    const float n43 = n40 / n42;
    const float n44 = v[0] * n43;
    const float n45 = 0.5f + n44;
    const float n46 = n43 * n43;
    const float n47 = 1.0f + n46;
    const float n48 = n45 / n47;
    const float n49 = v[1] * n48;
    const float n50 = 0.5f + n49;
    const float n51 = n48 * n48;
    const float n52 = 1.0f + n51;
    const float n53 = n50 / n52;
    const float n54 = v[2] * n53;
    const float n55 = 0.5f + n54;
    const float n56 = n53 * n53;
    const float n57 = 1.0f + n56;
    const float n58 = n55 / n57;
    out[0] = n58;
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
