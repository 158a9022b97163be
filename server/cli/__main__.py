"""`python -m server.cli` is the `toolfold` command, for where the command itself is not on the PATH."""

from server.cli import main

if __name__ == "__main__":
    main()
