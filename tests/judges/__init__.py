"""Independent judges of what `sendable` sends: our reading of the rules documents, and the SDK models. None imports `sendable`."""
