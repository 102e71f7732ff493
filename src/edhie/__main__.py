"""`python -m edhie`: the command line."""

from edhie.cli import main

if __name__ == "__main__":
    main()
