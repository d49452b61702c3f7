"""Functional mock-up units: a job as a file for other simulation tools, by the standard FMI (fmi-standard.org).

variables      the variables of an FMU: names, units, causality, initial values
observed       further outputs of a plant, and their exact derivatives
description    modelDescription.xml of FMI 2.0 and 3.0, and buildDescription.xml, with the units of the model
binaries       shared libraries for this and other systems, by a C compiler or by zig
package        the archive, whose bytes depend on its contents alone
"""
