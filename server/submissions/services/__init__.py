"""Everything that changes a submission: taking it in, scoring it, choosing it, sweeping up."""
