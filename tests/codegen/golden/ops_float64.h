/*
 * ops_float64: every op, newton, picked twice, in place
 *
 * Emitted by Kinemorph. Numbers are of type double, in SI units and radians.
 * Each function evaluates one state; outputs must not overlap inputs.
 * C99 (gcc: -std=c99, or -ffp-contract=off for the same bits); link with the math library (-lm).
 */

#ifndef OPS_FLOAT64_H
#define OPS_FLOAT64_H

#ifdef __cplusplus
extern "C" {
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
#define EVERY_OP_X0_SIZE 1
#define EVERY_OP_X1_SIZE 1
#define EVERY_OP_X2_SIZE 1
#define EVERY_OP_ADD_SIZE 1
#define EVERY_OP_SUB_SIZE 1
#define EVERY_OP_MUL_SIZE 1
#define EVERY_OP_DIV_SIZE 1
#define EVERY_OP_NEG_SIZE 1
#define EVERY_OP_SQRT_SIZE 1
#define EVERY_OP_POW_SIZE 1
#define EVERY_OP_EXP_SIZE 1
#define EVERY_OP_LOG_SIZE 1
#define EVERY_OP_SIN_SIZE 1
#define EVERY_OP_COS_SIZE 1
#define EVERY_OP_TAN_SIZE 1
#define EVERY_OP_ASIN_SIZE 1
#define EVERY_OP_ACOS_SIZE 1
#define EVERY_OP_ATAN2_SIZE 1
#define EVERY_OP_ABS_SIZE 1
#define EVERY_OP_SIGN_SIZE 1
#define EVERY_OP_FLOOR_SIZE 1
#define EVERY_OP_MIN_SIZE 1
#define EVERY_OP_MAX_SIZE 1
#define EVERY_OP_LT_SIZE 1
#define EVERY_OP_LE_SIZE 1
#define EVERY_OP_EQ_SIZE 1
#define EVERY_OP_WHERE_SIZE 1
void every_op(const double *x0, const double *x1, const double *x2, double *add, double *sub, double *mul, double *div_, double *neg, double *sqrt_, double *pow_, double *exp_, double *log_, double *sin_, double *cos_, double *tan_, double *asin_, double *acos_, double *atan2_, double *abs_, double *sign, double *floor_, double *min_, double *max_, double *lt, double *le, double *eq, double *where);

/*
 * newton: 11 operations (mul 4, lt 2, add 2, sub 1, abs 1, div 1)
 *   in   x       1 number
 *   out  root    1 number
 *   out  passes  1 number
 */
#define NEWTON_X_SIZE 1
#define NEWTON_ROOT_SIZE 1
#define NEWTON_PASSES_SIZE 1
void newton(const double *x, double *root, double *passes);

/*
 * picked twice: 1 operations (min 1)
 *   in   x  1 number
 *   out  y  1 number
 */
#define PICKED_TWICE_X_SIZE 1
#define PICKED_TWICE_Y_SIZE 1
void picked_twice(const double *x, double *y);

/*
 * in place: 59 operations (add 24, mul 23, div 12)
 *   in   x  3 numbers
 *   out  y  3 numbers
 */
#define IN_PLACE_X_SIZE 3
#define IN_PLACE_Y_SIZE 3
void in_place(const double *x, double *y);

#ifdef __cplusplus
}
#endif

#endif
