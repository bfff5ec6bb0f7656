"""The demo's two challenges: bundles on disk, made-up teams, and their files on the way everybody's take."""
