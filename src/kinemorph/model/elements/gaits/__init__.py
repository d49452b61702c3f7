"""The data of gaits: periodic or chaotic references for many joints."""
