"""The parts of the record: line bodies, chain, files, and what an audit derives again."""
