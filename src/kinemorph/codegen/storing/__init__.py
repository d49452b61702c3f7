"""The cache of compiled code on disk.

cache     the folder of compiled code: checksums, ownership, size
recipes   outlines of programs on disk, with which a program is not traced again
shared_numbers   numbers that compiled code refers to and does not contain
"""
