"""Prompts of the coder, the reflector and the tester."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
