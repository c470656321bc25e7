"""One module a page, with `show(reader)` that draws it; shell.py lists them. A folder called pages would be searched by Streamlit itself."""
