"""`python -m alphaagent`."""

from alphaagent.cli import main

if __name__ == "__main__":
    main()
