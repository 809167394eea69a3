"""What the phases of a debate are told."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
