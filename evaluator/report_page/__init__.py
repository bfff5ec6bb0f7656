"""The report on a score as HTML. The server's page and the file of ``podium score --report`` use the same templates.

The modules compute what the templates show, such as the coordinates of curves. They require neither numpy nor Django.
"""
