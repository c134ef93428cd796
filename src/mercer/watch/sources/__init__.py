"""Where rows come from, one file per kind; to add one, write a class with the methods of `base.Source`."""
