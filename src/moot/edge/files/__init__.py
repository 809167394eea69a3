"""Files of the user and of the project: found, read, written safely."""
