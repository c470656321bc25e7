"""Figures: rows in, an Altair chart out; nothing here reads or draws on a page.

Colours are Okabe and Ito's (2008, "Color Universal Design"), which people with any kind of colour vision tell apart, and which are seen on white
and on black; nothing is told by colour alone. Every axis has a title with its unit. `alternative` texts are made from the same rows.
"""

BULL = "#0072B2"
BEAR = "#D55E00"
BOOK = "#009E73"
BENCHMARK = "#999999"
WARNING = "#E69F00"
OTHER = "#CC79A7"
