"""The laws of elements, over any scalar: one file per family, named like the file of their data in model.elements."""
