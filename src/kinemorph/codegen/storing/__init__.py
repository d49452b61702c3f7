"""Compiled code kept on disk.

keys      what a program computes, as a short text
cache     the folder of compiled code: checksums, ownership, size
recipes   programs that need not be traced again
"""
