"""Vet: an advocate and a critic on a risky action or a failing task; rules decide."""
