"""Dataflow from where outside values enter to where they do harm."""
