"""`kinemorph bench studio`: the studio in a browser, beside MuJoCo's web studio and viser."""
