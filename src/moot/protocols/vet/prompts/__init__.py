"""Prompts of the advocate, the critic and the judge."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
