"""Expression graphs, and programs: graphs with named inputs and outputs.

graph        the graph: hash-consed, simplified while it is built
program      a graph with named, shaped inputs and outputs
keys         a hash of what a program computes
tracing      from a Python function to a program
evaluation   a program evaluated on any scalar type, or inlined into another program
row_sums     sums of a formula over the rows of a table, as one block
ports        selecting and adding inputs and outputs by name
schedule     the order of operations, and where long programs are cut
"""
