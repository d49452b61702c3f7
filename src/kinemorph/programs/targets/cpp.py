"""A job as a program in C++11: a class on the functions of the C library, and a main function that uses it.

The model, its tables and the library are the files of the target `c`, and a C compiler compiles them.
"""

from __future__ import annotations

from kinemorph.programs.drivers import compiled_files, driver_texts, named
from kinemorph.programs.job import Job
from kinemorph.programs.targets.c import c_name, library_texts

MAKEFILE = """CC = cc
CXX = c++
CFLAGS = -std=c99 -O2
CXXFLAGS = -std=c++11 -O2
OBJECTS = {objects}

simulator: main.cpp $(OBJECTS) {headers}
\t$(CXX) $(CXXFLAGS) -o $@ main.cpp $(OBJECTS) -lm

%.o: %.c {headers}
\t$(CC) $(CFLAGS) -c $<

clean:
\trm -f simulator $(OBJECTS)

.PHONY: clean
"""


def write_cpp(job: Job) -> dict[str, str]:
    """{file name: text} of the program of a job in C++."""
    name = c_name(job)
    texts = library_texts(job, name) | driver_texts("cpp", name)
    objects = " ".join(f"{file[:-2]}.o" for file in compiled_files(texts))
    headers = " ".join(file for file in sorted(texts) if file.endswith((".h", ".hpp")) or "/" in file)
    return texts | {"Makefile": named(MAKEFILE.format(objects=objects, headers=headers), name)}
