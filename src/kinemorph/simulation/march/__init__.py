"""The march: one loop program that carries a plant from sample to sample, for every method.

march         the loop program
compiled      the loop program as machine code
layout        the array that the march keeps between two calls of machine code
constraints   keeping constraints along the march
memory        memory of elements, and the ticks of clocks
guards        events: functions whose change of sign interrupts a run
crossings     finding where along a step a guard changes its sign
"""
