"""The experiments of the five works that Mercer builds on, each run by `python -m papers`, with the public API only.

One folder a work. Every module in it whose name does not start with an underscore holds one `EXPERIMENT`; that is all
there is to adding one. The folder's `PAPER` lists the work's figures, tables and claims; what is covered, follows.
"""
