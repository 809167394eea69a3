"""What the judges and the adviser are told."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
