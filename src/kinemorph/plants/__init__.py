"""Plants: what a run advances and a linearization looks at, as programs of a state.

plant                the Plant, and what its programs are
robot_plant          `plant`: the plant of a robot with its elements; `robot_laws` holds its laws
forces               what acts at one instant
constrained_motion   motion that satisfies constraints; `constraints` collects their rows
loop_methods         how a run keeps closed chains closed: methods as data
implicit_step        a whole step with stiff forces at its end
limb_folding         robots with alike limbs: laws on one limb of each kind
variational          the balance of a whole step, for variational integrators
own_equations        `first_order`, `second_order`: plants of equations of your own
user_laws            how laws are written: functions whose arguments name what they read
instants             regular instants that coincide wherever they should
"""
