"""A report in other forms: one file each, pure functions over a `Report`, no I/O.

Nothing is imported here, so that `str(report)` pays only for the form it asks for. What must not live here: any decision about what is
reported, and anything that opens a file.
"""
