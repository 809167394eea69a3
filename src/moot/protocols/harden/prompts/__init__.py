"""Prompts of the red and the blue team."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
