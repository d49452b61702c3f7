"""TOML, the native format of model files. `fields` lists all keys; `reader`, `writer` and `schema` use this list."""
