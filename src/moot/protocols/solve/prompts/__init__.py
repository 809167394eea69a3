"""What the coder, the reflector and the tester are told."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
