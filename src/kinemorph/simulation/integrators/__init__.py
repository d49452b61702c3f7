"""Methods as data: each family is a file that says how its members take one step.

A member is a frozen value with a name, an order and numbers (a tableau, a Newmark pair). A family implements the
protocol `Method` of `kinemorph.simulation.integrators.method`; `kinemorph.simulation.integrators.methods` is the table
of all members, `kinemorph.simulation.integrators.tableau` holds the numbers of explicit Runge-Kutta methods.
"""
