"""Prompts of the adversary and the defender."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
