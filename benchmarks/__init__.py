"""What Moot costs beside doing it by hand and beside the frameworks of its field."""
