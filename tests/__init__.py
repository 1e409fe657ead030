"""The test suite: a package, so that judges and generators can be imported by name."""
