"""What correctness is asked about: captured suites, held-out prompts, probes over the cache, changed kernels."""
