"""The march: one loop program that carries a plant from sample to sample, for every method.

march       the loop program
layout      what it remembers between two calls of machine code
guards      events: functions whose change of sign interrupts a run
crossings   finding where along a step a guard changes its sign
"""
