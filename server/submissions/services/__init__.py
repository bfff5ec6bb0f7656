"""All functions that change submissions: they accept files, record scores, save the teams' choices, and clean up."""
