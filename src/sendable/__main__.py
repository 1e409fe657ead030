"""`python -m sendable` is the command `sendable`. Nothing else lives here."""

from sendable.cli import main

if __name__ == "__main__":
    main()
