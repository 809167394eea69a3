"""What the advocate, the critic and the judge are told."""

from moot.text.prompts import Prompts

prompt = Prompts(__name__).fill
