"""Prompts of the debate phases."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
