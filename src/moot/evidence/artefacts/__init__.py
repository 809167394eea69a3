"""Planning artefacts: types, structural checks, and the documents of a review."""
