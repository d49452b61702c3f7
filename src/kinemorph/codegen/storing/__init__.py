"""Compiled code kept on disk.

cache     the folder of compiled code: checksums, ownership, size
recipes   programs that need not be traced again
"""
