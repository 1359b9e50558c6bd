"""A deployment asked labelled questions, and what it is worth shown (SRV-19, S1-14). The figures
are ``models.evaluation``'s."""
