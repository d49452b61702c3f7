"""TOML, the native model file. One table of rows (`fields`) serves `reader`, `writer` and `schema`."""
