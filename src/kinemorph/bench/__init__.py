"""The side-by-side tables of `kinemorph bench`: this library and Pinocchio, the same robots and states, in one run.

    bench_models      the robots of the tables
    pinocchio_twin    one robot here and in Pinocchio, and the maps between both conventions
    pinocchio_cpp     Pinocchio's C++ built for this CPU, called without Python in between
    contest           the algorithms: what is called here and there, and that both answers agree
    timing            alternating rounds and medians; many states in one foreign call
    targets           what the figures are held against
    speed, building   the tables themselves: time per evaluation; compile times and growth with the number of links
    simulating        runs in time, of several simulators; `simulators` are the contestants
    loop_speed        forward dynamics with closed loops; `loop_models` are the robots, `pinocchio_loops` their twins
    loop_runs         a four-bar by everybody: `loop_simulators`, `loop_peers`; `four_bar_motion` is what is right
    replaying         replays: making, opening and playing pages; `chromium` is the browser
    module_contest    assemblies of modules: `module_scale`, `module_speed` and `redocking`, with its _peers
    standing          hexapods on the ground: the problem; with both sides, _ours and _mujoco, and their _contest

Nothing in the library needs this room; it needs the `bench` extra.
"""
