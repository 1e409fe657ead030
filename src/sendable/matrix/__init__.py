"""The matrix of losses: what becomes of each block or property between any two dialects, found by running.

Nothing is imported here, so that a part pays only for itself. What must not live here: what may be lost (rules/).
"""
