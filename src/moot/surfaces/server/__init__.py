"""Moot over HTTP: sessions are begun, followed, decided and read through one API."""
