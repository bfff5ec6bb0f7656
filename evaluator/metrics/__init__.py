"""Arrays in, arrays out: the numbers themselves."""
