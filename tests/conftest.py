"""One BLAS thread for everything that the tests compute: set before numpy is loaded."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
