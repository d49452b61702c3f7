"""`kinemorph bench studies`: sweeps beside joblib, Dask and Ray Tune, and the work of several workers."""
