/*
 * ops_float32: every op, newton
 *
 * Emitted by Kinemorph. Numbers are of type float, in SI units and radians.
 * Entry e of state s stands at array[e * n + s]; one thread evaluates one state.
 * A launcher takes pointers to device memory and a cudaStream_t, and answers with the cudaError_t of the launch.
 * For the same bits, nvcc: --fmad=false. Products that are rounded together with a sum are written as fma().
 */

#ifndef OPS_FLOAT32_CUH
#define OPS_FLOAT32_CUH

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
int every_op_launch(int n, const float *x0, const float *x1, const float *x2, float *add, float *sub, float *mul, float *div_, float *neg, float *sqrt_, float *pow_, float *exp_, float *log_, float *sin_, float *cos_, float *tan_, float *asin_, float *acos_, float *atan2_, float *abs_, float *sign, float *floor_, float *min_, float *max_, float *lt, float *le, float *eq, float *where, void *stream);

/*
 * newton: 11 operations (mul 4, lt 2, add 2, sub 1, abs 1, div 1)
 *   in   x       1 number
 *   out  root    1 number
 *   out  passes  1 number
 */
#define NEWTON_X_SIZE 1
#define NEWTON_ROOT_SIZE 1
#define NEWTON_PASSES_SIZE 1
int newton_launch(int n, const float *x, float *root, float *passes, void *stream);

#ifdef __cplusplus
}
#endif

#endif
