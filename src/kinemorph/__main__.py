"""`python -m kinemorph` is the command `kinemorph`."""

from kinemorph.cli import main

if __name__ == "__main__":
    main()
