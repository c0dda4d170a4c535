"""The tests; they mirror the packages. ``reference`` is the second referee, ``helpers`` what several files share."""
