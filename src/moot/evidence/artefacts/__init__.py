"""Planning artefacts: what they are, what is wrong with their form, what a review says of them."""
