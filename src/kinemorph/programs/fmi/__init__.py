"""Functional mock-up units: a job as a file for other simulation tools, by the standard FMI (fmi-standard.org).

variables      the variables of an FMU: names, units, causality, initial values
unit_definitions  units by the exponents of the base units of SI
observed       further outputs of a plant, and their exact derivatives
description    modelDescription.xml of FMI 2.0 and 3.0, and buildDescription.xml
binaries       shared libraries for this and other systems, by a C compiler or by zig
package        the archive, whose bytes depend on its contents alone
"""
