"""What is stored of compiled code; the folder itself is `kinemorph.disk_cache`.

recipes   outlines of programs on disk, with which a program is not traced again
shared_numbers   numbers that compiled code refers to and does not contain
"""
