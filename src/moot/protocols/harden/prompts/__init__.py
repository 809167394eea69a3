"""What the red and the blue team are told."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
