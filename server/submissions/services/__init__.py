"""All functions that change submissions: they accept files, record scores, save the choices of teams, and clean up."""
