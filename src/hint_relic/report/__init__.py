"""The report: files in; one HTML page out, and its tables as CSV and LaTeX.

files.py cells.py    what run folders hold, and what is odd about them
layout.py            the paper's tables and figures (paper.toml)
compare.py           ours against the paper's
settings.py          what a run was told, against what its variant sets
gather.py            all of it, once
markup.py charts.py  HTML and SVG
tables.py details.py page.py   the page; export.py: CSV and LaTeX
"""
