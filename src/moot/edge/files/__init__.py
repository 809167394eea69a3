"""Files of the user and of the project: find, read, write safely."""
