"""Prompts of the judges and the adviser."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
