"""Robots that walk, run and hop: Systems with the phases and edges of a hybrid automaton, and a walker on contacts.

jansen_walker     a machine of Jansen legs on one crankshaft that walks on contacts, without an automaton
rimless_wheel     spokes without a rim that roll down a slope
straight_legs     simplest_walker, compass_walker: two straight legs that walk down a slope
kneed_walker      legs with knees that lock
slip_runner       a mass on a massless spring leg
raibert_hopper    a body on a springy leg, which is thrust and placed by controllers
monopods          bolt_like, raptor_like: hoppers on a leg of Klann or Jansen
rocking_block     a block that rocks from corner to corner
rabbit            a biped of five links, with actuated hips and knees
"""
