"""What the adversary and the defender are told."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
