"""The experiments of the five works that Mercer builds on, each run by `python -m papers`, with the public API only.

There is one folder per work. Every module in it whose name does not start with an underscore defines one `EXPERIMENT`;
to add an experiment, add such a module. The folder's `PAPER` lists the figures, tables and claims of the work.
"""
