"""`kinemorph demo`: nine modules that crawl, or any robot of the library, derived, verified and shown."""
