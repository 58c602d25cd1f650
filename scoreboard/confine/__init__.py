"""The parts of confinement: namespaces, control groups, filters, canaries, builds."""
