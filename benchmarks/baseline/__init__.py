"""The baseline: every public verb on many mechanisms, recorded, and two recordings compared.

    make baseline                 record this checkout
    make baseline BASE=path       record both checkouts, each by its own recorder, and compare

`calls` is the one table of calls, `record` writes a recording, `compare` compares two. `drawn`
holds 100 mechanisms that `draw` drew once; `states.json` holds a state of motion for each of them
and for each mechanism of the library. `expected.toml` lists the differences that an issue asks for.
"""
