"""Everything a truth or submission file is read with."""
