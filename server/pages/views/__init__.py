"""The views of the HTML pages, with one module for each page or pair of pages."""
