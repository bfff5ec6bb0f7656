"""Everything that changes submissions: accepting files, scoring them, team choices, and cleaning up."""
