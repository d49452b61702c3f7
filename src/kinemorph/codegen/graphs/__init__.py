"""Expression graphs, and programs: graphs with named inputs and outputs.

graph        the graph: hash-consed, simplified while it is built
program      a graph with named, shaped inputs and outputs
keys         what a program computes, as a short text
tracing      from a Python function to a program
evaluation   a program run over any scalar; a program placed inside another one
ports        inputs and outputs by name
schedule     the order of operations, and where long programs are cut
"""
