"""What a person sees of challenges, boards and submissions: one file per page or pair of pages."""
