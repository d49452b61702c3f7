"""Experiments: what is done with each item of a study, from its values to the measures of its run.

experiment         `experiment_of`: a model, its measures and the options of its runs; computes chunks of items
cases              what items have in common that are computed by one program
setups             a model made ready for the items of one case
simulated          items that are simulated: runs in batches, and their measures
function_models    models that are functions of the values of an item
measures           the numbers of each run, by name
body_masses        masses of bodies as numbers that a study varies
frictions          friction of contacts as numbers that a study varies
collected          the results of a chunk while it is computed
aspects            everything that determines results, as readable texts
flat_texts         any data as text with one line for each fact
code_parts         code of the user: functions, classes, objects, modules and C, each with its parts
reached            what code reaches, and what of it cannot be followed
origins            where code is from: the user's own, or an installed package
"""
